package write

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/value"
)

// maxStoredDepth is the maximum nesting depth of a stored document.
const maxStoredDepth = 180

// shallow is the least length of a document that is nested deeper than
// maxStoredDepth: each level takes at least seven bytes.
const shallow = 7 * maxStoredDepth

// PrepareInsert checks a document before it is stored. It returns the document with
// its _id as first field, adds a missing _id, and fills in zero timestamps, as mongod
// does. A document that needs no change is returned itself.
func PrepareInsert(c *kernel.Call, d value.Doc) (value.Doc, error) { return prepare(c, d, true) }

// PrepareUpsert is PrepareInsert for the result of an update, in which zero timestamps
// stay or have already been filled in.
func PrepareUpsert(c *kernel.Call, d value.Doc) (value.Doc, error) { return prepare(c, d, false) }

// KeepsEmptyTimestamps reports whether the command requests that zero timestamps are
// stored unchanged.
func KeepsEmptyTimestamps(c *kernel.Call) bool {
	return c.Body.Lookup("bypassEmptyTsReplacement").Truthy()
}

func prepare(c *kernel.Call, d value.Doc, fill bool) (value.Doc, error) {
	if len(d) > kernel.MaxDocumentBytes {
		return nil, tooLarge(c.Svc.Dialect(), len(d))
	}
	if len(d) > shallow && depth(d, 0) > maxStoredDepth {
		return nil, mongoerr.Newf(mongoerr.Overflow, "cannot insert document because it exceeds %d levels of nesting", maxStoredDepth)
	}
	position, ids, stamps := 0, 0, false
	for i, it := 0, d.Iter(); it.Next(); i++ {
		switch k := it.Kind(); {
		case k == value.KindTimestamp:
			t, n := it.Value().Timestamp()
			stamps = stamps || fill && t == 0 && n == 0
		case len(it.KeyBytes()) == 3 && it.Key() == "_id":
		default:
			continue
		}
		if len(it.KeyBytes()) == 3 && it.Key() == "_id" {
			position = i
			ids++
			if fill { // the _id of an upsert was checked with the rest of the update
				if err := update.ValidateID(it.Value()); err != nil {
					return nil, err
				}
			}
		}
	}
	stamps = stamps && !KeepsEmptyTimestamps(c)
	switch {
	case ids > 1:
		return nil, mongoerr.New(mongoerr.BadValue, "can't have multiple _id fields in one document")
	case ids == 1 && position == 0 && !stamps:
		return d, nil
	}
	return rewriteInsert(c, d, stamps), nil
}

// tooLarge is the error of a document of n bytes. What exceeds even the slack that mongod
// leaves for commands is no BSON document to it; only a pipeline can make one.
func tooLarge(d dialect.Dialect, n int) error {
	if most := kernel.MaxDocumentBytes + 16<<10; n > most {
		return mongoerr.Newf(mongoerr.BSONObjectTooLarge, "BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(16MB)", n, n, most)
	}
	return d.Error(dialect.InsertTooLarge, n, kernel.MaxDocumentBytes)
}

// rewriteInsert puts _id first and, if fill is set, fills in zero timestamps.
func rewriteInsert(c *kernel.Call, d value.Doc, fill bool) value.Doc {
	var b value.Builder
	b.Reset(make([]byte, 0, len(d)+32))
	id := d.Lookup("_id")
	if id.IsMissing() {
		id = value.ObjectID(value.NewOID(c.Now))
	}
	b.Append("_id", id)
	it := d.Iter()
	for it.Next() {
		v := it.Value()
		if it.Key() == "_id" {
			continue
		}
		if t, n := v.Timestamp(); fill && v.Kind() == value.KindTimestamp && t == 0 && n == 0 {
			b.Append(it.Key(), transaction.NextTimestamp(c.Svc, c.Now))
			continue
		}
		b.Raw(it.Element())
	}
	return b.Doc()
}

// depth returns the number of levels of a document. Empty documents and arrays do not
// count as levels.
func depth(d value.Doc, above int) int {
	deepest := above + 1
	if deepest > value.MaxDepth {
		return deepest
	}
	it := d.Iter()
	for it.Next() {
		if k := it.Kind(); k != value.KindDocument && k != value.KindArray {
			continue
		}
		if inner := it.Value().Doc(); !inner.IsEmpty() {
			deepest = max(deepest, depth(inner, above+1))
		}
	}
	return deepest
}
