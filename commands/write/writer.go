package write

import (
	"errors"
	"slices"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/timeseries"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// Writer makes the changes of one engine transaction to one collection. All writes of
// all commands use it: it checks documents, trims capped collections and logs changes.
type Writer struct {
	c      *kernel.Call
	tx     storage.Tx
	coll   storage.Collection
	Meta   *catalog.Meta
	ns     storage.Namespace
	bypass bool // bypassDocumentValidation
	// from is where a dead letter comes from, and what has been removed to make room for it,
	// the outermost first. What is inserted is removed there: it takes no more memory.
	from []storage.Namespace
}

// New opens a collection for writing.
func New(c *kernel.Call, tx storage.Tx, coll storage.Collection, bypass bool) *Writer {
	w := &Writer{bypass: bypass}
	w.open(c, tx, coll)
	return w
}

// open prepares w for a collection.
func (w *Writer) open(c *kernel.Call, tx storage.Tx, coll storage.Collection) {
	info := coll.Info()
	w.c, w.tx, w.coll, w.Meta, w.ns = c, tx, coll, catalog.Of(info), info.Namespace
}

// Insert stores a document whose first field is _id (see PrepareInsert).
func (w *Writer) Insert(d value.Doc) (storage.RecordID, error) {
	if w.Meta.IsQueue {
		return w.send(d)
	}
	foreign := w.Meta.Kind == catalog.Buckets && timeseries.IsForeign(d)
	if foreign {
		var err error
		if d, err = timeseries.Plain(d); err != nil {
			return 0, err
		}
	}
	d = w.Stripped(d)
	if err := w.validate(d, nil); err != nil {
		return 0, err
	}
	if foreign {
		d = timeseries.Compress(d)
	}
	if len(w.from) == 0 {
		if err := w.c.Svc.Memory.Admit(len(d)); err != nil {
			return 0, err
		}
	}
	if err := w.makeRoom(len(d)); err != nil {
		return 0, err
	}
	for {
		id, err := w.coll.Insert(d, w.c.Now)
		if err == nil {
			return id, nil
		}
		again, err := w.purgeExpired(err)
		if !again {
			return id, w.translate(err, d)
		}
	}
}

// Replace stores a new version of a record.
func (w *Writer) Replace(r storage.Record, d value.Doc) error {
	return w.change(r, d, &oplog.Change{})
}

// change is Replace with a description of the change for the log.
func (w *Writer) change(r storage.Record, d value.Doc, how *oplog.Change) error {
	d = w.Stripped(d)
	if len(d) > kernel.MaxDocumentBytes {
		return mongoerr.Newf(17419, "Resulting document after update is larger than %d", kernel.MaxDocumentBytes)
	}
	if err := w.validate(d, r.Doc); err != nil {
		return err
	}
	if err := w.c.Svc.Memory.Admit(len(d) - len(r.Doc)); err != nil {
		return err
	}
	for {
		_, err := oplog.Update(w.coll, r.ID, d, w.c.Now, how)
		if err == nil {
			return nil
		}
		again, err := w.purgeExpired(err)
		if !again {
			return w.translate(err, d)
		}
	}
}

// touch sets the time of the last write of a document that an update matched but did
// not change, also while document TTL is off, because the time is used once the policy
// is switched on (semantics.md §7.1, §7.3). Within the same second it does nothing.
func (w *Writer) touch(r storage.Record) error {
	if ttl.SameSecond(r.TS, w.c.Now) || !w.mayExpire() {
		return nil
	}
	_, err := w.coll.Update(r.ID, r.Doc, w.c.Now)
	return w.translate(err, r.Doc)
}

// mayExpire reports whether document TTL can be switched on for the collection.
func (w *Writer) mayExpire() bool {
	switch w.ns.DB {
	case "admin", "config", "local":
		return false
	}
	return w.Meta.Kind == catalog.Ordinary && !w.Meta.IsQueue && !w.Meta.Capped
}

// Stripped returns a document without the _ts that a client sent: with document TTL
// only the server sets _ts (semantics.md §7.7).
func (w *Writer) Stripped(d value.Doc) value.Doc {
	if w.Meta.DocTTL == nil {
		return d
	}
	return ttl.StripTS(d)
}

// Remove deletes a record.
func (w *Writer) Remove(r storage.Record) error {
	_, err := w.coll.Delete(r.ID)
	return kernel.Translate(w.ns, err)
}

// makeRoom deletes the oldest documents of a capped collection.
func (w *Writer) makeRoom(size int) error {
	if !w.Meta.Capped {
		return nil
	}
	count, err := w.coll.Count()
	if err != nil {
		return err
	}
	bytes, err := w.coll.Size()
	if err != nil {
		return err
	}
	bytes += int64(size)
	full := func() bool {
		return count > 0 && (bytes > w.Meta.CappedLen || w.Meta.CappedMax > 0 && count >= w.Meta.CappedMax)
	}
	if !full() {
		return nil
	}
	_, err = w.coll.DeleteRange(&storage.RangeDelete{Pick: func(_ []byte, r storage.Record) (storage.Verdict, error) {
		if !full() {
			return storage.Verdict{Do: storage.Stop}, nil
		}
		count, bytes = count-1, bytes-int64(len(r.Doc))
		return storage.Verdict{Do: storage.Remove}, nil
	}})
	return err
}

// validate applies the collection's validator to a new version of a
// document; old is nil for an insert.
func (w *Writer) validate(d, old value.Doc) error {
	if err := w.validateSchema(d, old); err != nil || w.Meta.DocTTL == nil {
		return err
	}
	return w.Meta.DocTTL.CheckWrite(d)
}

func (w *Writer) validateSchema(d, old value.Doc) error {
	m := w.Meta
	if m.Validator == nil || w.bypass {
		return nil
	}
	env := exec.NewEnv(w.c)
	ok, err := m.Validator.Match(env, d)
	if ok || err != nil && Fatal(err) {
		return err // a validator that cannot be evaluated has not accepted the document
	}
	if m.ValidationLevel == "moderate" && old != nil {
		if valid, err := m.Validator.Match(env, old); err == nil && !valid {
			return nil // it was invalid before
		}
	}
	if m.ValidationAction != "error" {
		w.c.Svc.Log.Warn().Str("ns", w.ns.String()).Str("_id", d.Lookup("_id").String()).Msg("Document would fail validation")
	}
	if m.ValidationAction == "warn" {
		return nil
	}
	info := value.NewDoc("failingDocumentId", d.Lookup("_id"), "details", value.Document(m.Validator.Explain(env, d)))
	return mongoerr.New(mongoerr.DocumentValidationFailure, "Document failed validation").WithExtra("errInfo", value.Document(info))
}

// translate adds the fields of MongoDB's error to a duplicate key error.
func (w *Writer) translate(err error, d value.Doc) error {
	if err == nil {
		return nil
	}
	var dup *storage.DuplicateKeyError
	if !errors.As(err, &dup) {
		return kernel.Translate(w.ns, err)
	}
	return DuplicateKey(w.coll.Info(), dup, d)
}

// DuplicateKey returns error 11000 with keyPattern and keyValue.
func DuplicateKey(info *storage.Info, dup *storage.DuplicateKeyError, d value.Doc) error {
	var spec *index.Spec
	if line := info.Index(dup.Index); line != nil {
		spec = index.Of(line)
	}
	if spec == nil {
		return mongoerr.Newf(mongoerr.DuplicateKey, "E11000 duplicate key error collection: %s index: %s", info.Namespace, dup.Index)
	}
	keyValue := spec.KeyValue(d, dup.Key)
	if keyValue == nil {
		keyValue = value.EmptyDoc
	}
	text := ""
	if spec.Collation != nil {
		text = " collation: " + spec.Collation.Doc().String()
	}
	return mongoerr.Newf(mongoerr.DuplicateKey, "E11000 duplicate key error collection: %s index: %s%s dup key: %s", info.Namespace, dup.Index, text, keyValue.Abridged()).
		WithExtra("keyPattern", value.Document(spec.Key)).WithExtra("keyValue", value.Document(keyValue))
}

// Sight returns the collection being written as the command sees it.
func (w *Writer) Sight() kernel.Visible {
	return kernel.Visible{Coll: w.coll, Meta: w.Meta, Now: w.c.Now}
}

// maxPurges is how many expired documents may make room for one another.
const maxPurges = 8

// mayPurge reports whether an expired document may be removed to make room. If its collection
// has onExpire, the document moves and may need room itself, and so on. The chain is bounded, and
// never moves a document out of or into a collection that an earlier one comes from, because
// records of that are being removed. If it must stay, the dead letter gets another _id.
func (w *Writer) mayPurge() bool {
	if len(w.from) > maxPurges || slices.Contains(w.from, w.ns) {
		return false
	}
	rules := w.Meta.Rules
	return rules == nil || rules.OnExpire == nil || !slices.Contains(w.from, storage.Namespace{DB: w.ns.DB, Coll: rules.OnExpire.DeadLetterTo})
}

// purgeExpired removes an expired document with the same unique key as a write,
// because for the client it does not exist. It reports whether to try the write again;
// otherwise err is the reason.
func (w *Writer) purgeExpired(err error) (again bool, _ error) {
	var dup *storage.DuplicateKeyError
	if !w.Meta.MayHide() || !errors.As(err, &dup) || !w.mayPurge() {
		return false, err
	}
	r, ok, failed := w.coll.Get(dup.Existing)
	if failed != nil {
		return false, failed
	}
	if !ok || w.Sight().Sees(&r) {
		return false, err
	}
	at, _ := w.Meta.DocTTL.ExpiresAt(&r)
	removed := ttl.Removed{Documents: 1}
	e := &ttl.Expired{Policy: ttl.Document, At: at, Removed: w.c.Now}
	if err := w.expire(r, e); err != nil {
		return false, RefusedWith(err)
	}
	if e.Cause == ttl.DeadLettered {
		removed.Moved = 1
	}
	var lags ttl.Lags
	lags.Observe(w.c.Now - at)
	w.countPurged(removed, &lags)
	return true, nil
}

// keptError is a [ttl.ErrKept] with the collection that refused the document and the reason.
type keptError struct {
	ns    storage.Namespace
	id    value.Value
	to    string
	cause error // nil: the target can take no documents
}

func (e *keptError) Error() string { return mongoerr.From(RefusedWith(e)).Message }

func (e *keptError) Is(target error) bool { return target == ttl.ErrKept }

// RefusedWith returns the error for a command that needs an expired document removed, if
// the document cannot be moved to the dead-letter collection.
func RefusedWith(err error) error {
	var kept *keptError
	if !errors.As(err, &kept) {
		return err
	}
	cause := kept.cause
	if cause == nil {
		cause = mongoerr.New(mongoerr.CommandNotSupportedOnView, "it is not a collection of documents")
	}
	return mongoerr.From(cause).WithPrefix("Cannot move the expired document with _id " + kept.id.String() + " of " + kept.ns.String() + " to '" + kept.to + "'")
}
