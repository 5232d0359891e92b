package exec

import (
	"math"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
)

// sight decides which records of a chunk a command sees, and how it sees them.
type sight struct {
	x       *Execution
	meta    *catalog.Meta // the collection's catalog entry when the chunk was read
	due     int64         // before this instant all records of the chunk are visible
	stored  bool          // everything is visible, as it is stored
	covered bool          // documents are made from keys

	messages bool // the documents are messages
	buckets  bool // the documents are buckets, shown uncompressed
}

// look reads the present expiry policy of the collection, which may have changed since
// the iteration began.
func (s *sight) look(coll storage.Collection) {
	s.due = math.MaxInt64
	if s.stored {
		return
	}
	if s.meta = catalog.Of(coll.Info()); s.meta.MayHide() {
		s.due = s.meta.Rules.FirstHidden(coll)
	}
}

// mayHaveExpired reports whether the records of the chunk must be checked for expiry: at
// least one record in the collection has expired.
func (s *sight) mayHaveExpired(now int64) bool { return now >= s.due }

// sees reports whether a command at an instant sees a record.
func (s *sight) sees(rec *storage.Record, now int64) bool {
	return !s.mayHaveExpired(now) || s.meta.Visible(rec, now)
}

// asStored reports whether clients see the records as they are stored.
func (s *sight) asStored() bool {
	return !s.messages && !s.buckets && (s.stored || s.covered || !s.meta.MayHide())
}

// shown returns a record as clients see it.
func (s *sight) shown(rec storage.Record) storage.Record {
	if !s.stored && !s.covered {
		rec.Doc = s.meta.Shown(rec.Doc, rec.TS)
	}
	if s.messages {
		rec.Doc = queue.Present(rec.Doc, s.x.Running().Now)
	}
	if s.buckets {
		rec.Doc = ShownBucket(rec.Doc)
	}
	return rec
}
