package session

import (
	"errors"

	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// A part has outcomes of statements that do not fit into the session's record: {session,
// txnNum, statements}. It is written once, and removed when the session begins another
// number or its record is removed. A part whose number differs from that of the record is
// ignored.

// maxPartBytes bounds the statements of a part, but for one that is larger by
// itself.
const maxPartBytes = 1 << 20

// bySession is the index that finds the parts of a session.
var bySession = storage.IndexSpec{Name: "session_1", Spec: value.NewDoc(
	"v", value.Int32(2), "key", value.Document(value.NewDoc("session", value.Int32(1))), "name", value.String("session_1"))}

// AddParts writes outcomes as parts of a number of the session.
func (s *Session) AddParts(tx storage.Tx, number int64, statements []RetriedStatement, now int64) error {
	coll, err := openStatements(tx)
	if err == nil && coll == nil {
		coll, err = tx.Create(oplog.Statements, value.EmptyDoc, []storage.IndexSpec{bySession})
	}
	for len(statements) > 0 && err == nil {
		b := value.NewBuilder()
		b.Document("session", s.RecordID).Int64("txnNum", number).StartArray("statements")
		n := 0
		for n < len(statements) && b.Len() < maxPartBytes {
			statements[n].Append(b)
			n++
		}
		statements = statements[n:]
		_, err = coll.Insert(b.End().Doc(), now)
	}
	return err
}

// ReadParts adds the outcomes in the parts of the session's number to its history.
func (s *Session) ReadParts(tx storage.Tx) error {
	if !s.Stored.Parts {
		return nil
	}
	ids, err := findParts(tx, s.RecordID)
	if err != nil || len(ids) == 0 {
		return err
	}
	coll, err := openStatements(tx)
	if err != nil || coll == nil {
		return err
	}
	return coll.GetMany(ids, func(r storage.Record) bool {
		if r.Doc.Lookup("txnNum").Int64() == s.Number {
			for v := range r.Doc.Lookup("statements").Doc().Values() {
				s.History.Add(ReadStatement(v.Doc()))
			}
		}
		return true
	})
}

// DropParts removes the parts of the session.
func (s *Session) DropParts(tx storage.Tx) error {
	if !s.Stored.Parts {
		return nil
	}
	return dropParts(tx, s.RecordID)
}

func dropParts(tx storage.Tx, session value.Doc) error {
	ids, err := findParts(tx, session)
	if err != nil || len(ids) == 0 {
		return err
	}
	coll, err := openStatements(tx)
	if err != nil || coll == nil {
		return err
	}
	for _, id := range ids {
		if _, err := coll.Delete(id); err != nil && !errors.Is(err, storage.ErrNoRecord) {
			return err
		}
	}
	return nil
}

// findParts looks for the parts of a session, in the order in which they were written.
func findParts(tx storage.Tx, session value.Doc) (ids []storage.RecordID, err error) {
	coll, err := openStatements(tx)
	if err != nil || coll == nil {
		return nil, err
	}
	key := value.AppendKey(nil, value.Document(session))
	err = coll.ScanIndex(bySession.Name, storage.KeyRange{Lo: key, Hi: append(key[:len(key):len(key)], 0xff)}, func(_ []byte, id storage.RecordID) bool {
		ids = append(ids, id)
		return true
	})
	return ids, err
}

// openStatements opens the collection of the parts. It returns nil if the collection
// does not exist yet.
func openStatements(tx storage.Tx) (storage.Collection, error) {
	coll, err := tx.Collection(oplog.Statements)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	return coll, err
}
