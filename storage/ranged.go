package storage

import "github.com/duskdb/duskdb/value"

// Action is what a ranged delete does with a record.
type Action uint8

const (
	Keep   Action = iota // the record stays
	Remove               // the record is removed
	Stop                 // the record stays, and the delete ends before it
)

// Verdict is the decision about a record.
type Verdict struct {
	Do     Action
	Reason Reason // why the record is removed; nil: because a client asked for it
}

// Reason says why a record or a collection is removed. Engines ignore it: it is for a
// collection that logs its changes on top of theirs.
type Reason interface {
	// AppendReason writes the reason into the log entry of the removal.
	AppendReason(b *value.Builder)
}

// RangeDelete says what [Collection.DeleteRange] removes.
type RangeDelete struct {
	// Index names the index whose entries within Keys are visited, in the order
	// of a scan of it. If it is empty the records within Records are visited, in
	// the order of their ids.
	Index   string
	Keys    KeyRange
	Records Range
	// Limit bounds the records that are visited, removed or not. 0: no limit.
	Limit int
	// Busy makes the delete pass over records that another transaction has
	// written, which otherwise are an [ErrConflict].
	Busy bool
	// Pick decides about a record. It is called once for each, at the first of its
	// entries, before anything is removed, and not for those that cannot be removed
	// because of a conflict. It must not write to the collection. key is valid only
	// during the call, and nil without an index.
	Pick func(key []byte, r Record) (Verdict, error)
}

// RangeDeleted is what a ranged delete has done.
type RangeDeleted struct {
	Visited int // records, removed or not
	Removed int // records
	Keys    int // entries removed from the indexes that are not private
	Busy    int // records passed over because another transaction has written them
	// Done reports whether everything within the range was visited. Otherwise a
	// further delete goes on behind Key and ID: the last entry that was visited, and
	// zero if none was.
	Done bool
	Key  []byte
	ID   RecordID
}
