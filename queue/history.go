package queue

import (
	"encoding/hex"
	"errors"

	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Beside a queue that has sessions or finds duplicates stand collections with their records.
// Their names have the UUID of the queue, which renaming does not change.

func besides(db, what string, uuid [16]byte) storage.Namespace {
	return storage.Namespace{DB: db, Coll: stateName + "." + what + "." + hex.EncodeToString(uuid[:])}
}

func historyNamespace(db string, uuid [16]byte) storage.Namespace {
	return besides(db, "history", uuid)
}

func sessionsNamespace(db string, uuid [16]byte) storage.Namespace {
	return besides(db, "sessions", uuid)
}

// The indexes of such collections.
const (
	byEnd   = "$mq.end"   // by the instant at which a record is due
	byToken = "$mq.token" // the sessions that are held, by the token
)

// beside is such a collection.
type beside struct {
	ns      storage.Namespace
	indexes []string // the fields of its indexes, beside that on _id
}

// besidesOf lists the collections that a queue needs beside it.
func besidesOf(db string, uuid [16]byte, c *Config) (list []beside) {
	if c.DetectDuplicates {
		list = append(list, beside{historyNamespace(db, uuid), []string{"end"}})
	}
	if c.RequiresSession {
		list = append(list, beside{sessionsNamespace(db, uuid), []string{"end", "token"}})
	}
	return list
}

// createBesides makes them.
func createBesides(tx storage.Tx, db string, uuid [16]byte, c *Config) error {
	for _, b := range besidesOf(db, uuid, c) {
		specs := []storage.IndexSpec{IDIndex()}
		for _, field := range b.indexes {
			name := "$mq." + field
			specs = append(specs, storage.IndexSpec{Name: name, Spec: value.NewDoc("v", value.Int32(2), "key", value.Document(value.NewDoc(field, value.Int32(1))), "name", value.String(name), "sparse", value.Bool(true))})
		}
		if _, err := tx.Create(b.ns, value.EmptyDoc, specs); err != nil {
			return err
		}
	}
	return nil
}

// dropBesides drops them.
func dropBesides(tx storage.Tx, db string, uuid [16]byte) error {
	for _, ns := range []storage.Namespace{historyNamespace(db, uuid), sessionsNamespace(db, uuid)} {
		if err := tx.Drop(ns); err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
	}
	return nil
}

// once stores a message, unless one with the same messageId came within the history window,
// and then remembers its id: that of a message that is refused is not remembered.
func (e *entity) once(m *message, store func() error) error {
	if !e.config.DetectDuplicates || m.name == "" {
		return store()
	}
	history, err := collection(e.tx, historyNamespace(e.ns.DB, e.uuid))
	if err != nil {
		return err
	}
	r, known, err := history.Find(reserved.IDIndex, idKey(m.name))
	if err != nil || known && r.Doc.Lookup("end").DateTime() > e.now {
		return err
	}
	if err := store(); err != nil {
		return err
	}
	d := value.NewDoc("_id", value.String(m.name), "end", value.DateTime(after(e.now, e.config.HistoryWindow)))
	if known {
		_, err = history.Update(r.ID, d, e.now)
	} else {
		_, err = history.Insert(d, e.now)
	}
	return err
}

// idKey is the key of a string in an index on _id.
func idKey(s string) []byte { return value.AppendKey(nil, value.String(s)) }

// isDueBeside reports whether a record beside the queue is due.
func (e *entity) isDueBeside() (bool, error) {
	for _, b := range besidesOf(e.ns.DB, e.uuid, e.config) {
		coll, err := collection(e.tx, b.ns)
		if err != nil {
			return false, err
		}
		if due, err := anyIn(coll, byEnd, until(e.now)); due || err != nil {
			return due, err
		}
	}
	return false, nil
}

// forgetHistory removes ids of messages whose window has passed.
func (e *entity) forgetHistory(limit int) (int, error) {
	if !e.config.DetectDuplicates {
		return 0, nil
	}
	history, err := collection(e.tx, historyNamespace(e.ns.DB, e.uuid))
	if err != nil {
		return 0, err
	}
	out, err := history.DeleteRange(&storage.RangeDelete{Index: byEnd, Keys: until(e.now), Limit: limit, Pick: func([]byte, storage.Record) (storage.Verdict, error) {
		return storage.Verdict{Do: storage.Remove}, nil
	}})
	return out.Visited, err
}
