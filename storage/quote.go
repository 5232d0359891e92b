package storage

import "github.com/duskdb/duskdb/value"

// Quote says that from a position on, a document contains the document of another record,
// which the same transaction has written.
type Quote struct {
	At int
	Namespace
	ID RecordID
}

// Quoter is a collection whose engine need not store a quoted document a second time.
type Quoter interface {
	// InsertQuoting is Insert for a document with quotes in the order of their positions.
	// Quotes that are not true have no effect.
	InsertQuoting(doc value.Doc, ts int64, quotes []Quote) (RecordID, error)
}

// InsertQuoting stores a new document, with its quotes if the engine can make use of them.
func InsertQuoting(c Collection, doc value.Doc, ts int64, quotes []Quote) (RecordID, error) {
	if q, ok := c.(Quoter); ok && len(quotes) > 0 {
		return q.InsertQuoting(doc, ts, quotes)
	}
	return c.Insert(doc, ts)
}
