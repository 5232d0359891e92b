package commands

import (
	"errors"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// A document that has expired under document TTL stays stored until a pass
// removes it, but from that instant no command may meet it (semantics.md §7.4).
// What a command may see of a collection is decided in this file and nowhere
// else: readers by sight and records, writers by sight and writer, and whoever
// builds something of all documents by settled. A test refuses every other call
// of the storage that reads records.

// sight is a collection as a command sees it at its instant.
type sight struct {
	coll storage.Collection
	meta *collectionMeta
	now  int64
}

// sight looks at a collection at the instant of the command.
func (c *Call) sight(coll storage.Collection) sight {
	return sight{coll: coll, meta: metaOf(coll.Info()), now: c.now}
}

// sight looks at the collection being written.
func (w *writer) sight() sight { return sight{coll: w.coll, meta: w.meta, now: w.c.now} }

// hides reports whether documents of the collection can be stored and unseen.
func (m *collectionMeta) hides() bool { return m.docTTL != nil }

// sees reports whether a record is there for a command at an instant.
func (m *collectionMeta) sees(r *storage.Record, now int64) bool { return m.docTTL.Visible(r, now) }

// sees reports whether a record is there for the command.
func (s sight) sees(r *storage.Record) bool { return s.meta.sees(r, s.now) }

// get reads a record by its id.
func (s sight) get(id storage.RecordID) (storage.Record, bool) {
	r, ok := s.coll.Get(id)
	if !ok || !s.sees(&r) {
		return storage.Record{}, false
	}
	return r, true
}

// find reads the first record with a key in an index. Of a unique index there is
// no second one; in any other, what has expired may stand in front.
func (s sight) find(name string, key []byte) (storage.Record, bool, error) {
	r, ok, err := s.coll.Find(name, key)
	if err != nil || !ok || s.sees(&r) {
		return r, ok && err == nil, err
	}
	return storage.Record{}, false, nil
}

// byID reads the record with an _id, as the collection compares strings.
func (s sight) byID(id value.Value) (storage.Record, bool, error) {
	return s.find(idIndex, value.AppendKeyWith(nil, id, s.meta.collator()))
}

// scan yields records in natural order until fn returns false.
func (s sight) scan(rg storage.Range, fn func(storage.Record) bool) error {
	return s.coll.Scan(rg, func(r storage.Record) bool { return !s.sees(&r) || fn(r) })
}

// entries yields the entries of an index, with the records they lead to, until
// fn returns false.
func (s sight) entries(name string, kr storage.KeyRange, fn func(key []byte, r storage.Record) bool) error {
	return s.coll.ScanIndex(name, kr, func(key []byte, id storage.RecordID) bool {
		r, ok := s.get(id)
		return !ok || fn(key, r)
	})
}

// count is the number of records.
func (s sight) count() (int64, error) {
	hidden, err := s.meta.rules.PendingPurge(s.coll, s.now)
	return s.coll.Count() - hidden, err
}

// allVisible reports whether nothing is stored that has expired, so that
// entries of indexes can be counted without a look at their records.
func (s sight) allVisible() bool { return s.meta.rules.NextDue(s.coll) > s.now }

// shown is a stored document as finds return it: with _ts if the policy exposes
// it. ts is the instant of its last write.
func (m *collectionMeta) shown(d value.Doc, ts int64) value.Doc {
	if d == nil || m.docTTL == nil || !m.docTTL.ExposeTS {
		return d
	}
	return ttl.WithTS(&storage.Record{TS: ts, Doc: d})
}

// purgeExpired makes room for a write that met an expired document with the
// same unique key: for the client that document does not exist. It reports
// whether the write is to be tried again; if it cannot be, err is why.
func (w *writer) purgeExpired(err error) (again bool, _ error) {
	var dup *storage.DuplicateKeyError
	if !w.meta.hides() || !errors.As(err, &dup) {
		return false, err
	}
	r, ok := w.coll.Get(dup.Existing)
	if !ok || w.sight().sees(&r) {
		return false, err
	}
	at, _ := w.meta.docTTL.ExpiresAt(&r)
	removed := ttl.Removed{Documents: 1}
	e := &ttl.Expired{Policy: ttl.Document, At: at, Removed: w.c.now}
	if _, err := w.expire(r, e); err != nil {
		return false, refusedWith(err)
	}
	if e.Cause == ttl.DeadLettered {
		removed.Moved = 1
	}
	w.c.svc.monitor.Metrics().Settled(removed)
	return true, nil
}

// keptError is a [ttl.ErrKept] that knows what refused the document.
type keptError struct {
	ns    storage.Namespace
	id    value.Value
	to    string
	cause error // nil: the target can take no documents
}

func (e *keptError) Error() string        { return mongoerr.From(refusedWith(e)).Message }
func (e *keptError) Is(target error) bool { return target == ttl.ErrKept }

// refusedWith is what a client is told whose command needs an expired document to
// be gone that cannot be moved to where dead letters go.
func refusedWith(err error) error {
	var kept *keptError
	if !errors.As(err, &kept) {
		return err
	}
	cause := kept.cause
	if cause == nil {
		cause = mongoerr.New(mongoerr.CommandNotSupportedOnView, "it is no collection of documents")
	}
	return mongoerr.From(cause).WithPrefix("Cannot move the expired document with _id " + kept.id.String() + " of " + kept.ns.String() + " to '" + kept.to + "'")
}
