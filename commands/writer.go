package commands

import (
	"errors"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// writer makes the changes of one engine transaction to one collection. All
// writes of all commands go through it: it is where documents are checked,
// capped collections trimmed and changes logged.
type writer struct {
	c      *Call
	tx     storage.Tx
	coll   storage.Collection
	meta   *collectionMeta
	ns     storage.Namespace
	bypass bool // bypassDocumentValidation
	moves  bool // what is inserted is removed elsewhere: it takes no more memory
	// expired is why the record being removed is removed, nil for a delete.
	expired *ttl.Expired
}

// newWriter opens a collection for writing.
func (c *Call) newWriter(tx storage.Tx, coll storage.Collection, bypass bool) *writer {
	w := &writer{bypass: bypass}
	w.open(c, tx, coll)
	return w
}

// open makes w the writer of a collection.
func (w *writer) open(c *Call, tx storage.Tx, coll storage.Collection) {
	info := coll.Info()
	c.authChanged = c.authChanged || auth.IsAuthData(info.Namespace)
	w.c, w.tx, w.coll, w.meta, w.ns = c, tx, coll, metaOf(info), info.Namespace
}

// insert stores a document that has its _id first (see prepareInsert).
func (w *writer) insert(d value.Doc) (storage.RecordID, error) {
	if w.meta.isQueue {
		return w.send(d)
	}
	d = w.stripped(d)
	if err := w.validate(d, nil); err != nil {
		return 0, err
	}
	if !w.moves {
		if err := w.c.svc.memory.admit(len(d)); err != nil {
			return 0, err
		}
	}
	if err := w.makeRoom(len(d)); err != nil {
		return 0, err
	}
	for {
		id, err := w.coll.Insert(d, w.c.now)
		if err == nil {
			return id, nil
		}
		again, err := w.purgeExpired(err)
		if !again {
			return id, w.translate(err, d)
		}
	}
}

// replace stores a new version of a record.
func (w *writer) replace(r storage.Record, d value.Doc) error {
	d = w.stripped(d)
	if len(d) > MaxDocumentBytes {
		return mongoerr.Newf(17419, "Resulting document after update is larger than %d", MaxDocumentBytes)
	}
	if err := w.validate(d, r.Doc); err != nil {
		return err
	}
	if err := w.c.svc.memory.admit(len(d) - len(r.Doc)); err != nil {
		return err
	}
	for {
		err := w.coll.Update(r.ID, d, w.c.now)
		if err == nil {
			return nil
		}
		again, err := w.purgeExpired(err)
		if !again {
			return w.translate(err, d)
		}
	}
}

// touch refreshes the instant of the last write of a document that an update
// matched without changing it, also while document TTL is off: it counts when
// the policy is switched on (semantics.md §7.1, §7.3). Within one second
// there is nothing to refresh.
func (w *writer) touch(r storage.Record) error {
	if ttl.SameSecond(r.TS, w.c.now) || !w.mayExpire() {
		return nil
	}
	return w.translate(w.coll.Update(r.ID, r.Doc, w.c.now), r.Doc)
}

// mayExpire tells whether document TTL can be switched on for the collection.
func (w *writer) mayExpire() bool {
	switch w.ns.DB {
	case "admin", "config", "local":
		return false
	}
	return w.meta.kind == ordinary && !w.meta.isQueue && !w.meta.capped
}

// stripped drops a _ts that a client sent back: with document TTL it is the
// server's (semantics.md §7.7).
func (w *writer) stripped(d value.Doc) value.Doc {
	if w.meta.docTTL == nil {
		return d
	}
	return ttl.StripTS(d)
}

// remove deletes a record.
func (w *writer) remove(r storage.Record) error {
	if log := w.c.recorder(); log != nil {
		log.expired = w.expired
		defer func() { log.expired = nil }()
	}
	return translate(w.ns, w.coll.Delete(r.ID))
}

// makeRoom deletes the oldest documents of a capped collection.
func (w *writer) makeRoom(size int) error {
	if !w.meta.capped {
		return nil
	}
	for w.coll.Count() > 0 && (w.coll.Size()+int64(size) > w.meta.cappedLen || w.meta.cappedMax > 0 && w.coll.Count() >= w.meta.cappedMax) {
		var oldest storage.Record
		if err := w.coll.Scan(storage.Range{}, func(r storage.Record) bool { oldest = r; return false }); err != nil {
			return err
		}
		if oldest.ID == 0 {
			return nil
		}
		if err := w.coll.Delete(oldest.ID); err != nil {
			return err
		}
	}
	return nil
}

// validate applies the collection's validator to a new version of a
// document; old is nil for an insert.
func (w *writer) validate(d, old value.Doc) error {
	if err := w.validateSchema(d, old); err != nil || w.meta.docTTL == nil {
		return err
	}
	return w.meta.docTTL.CheckWrite(d)
}

func (w *writer) validateSchema(d, old value.Doc) error {
	m := w.meta
	if m.validator == nil || w.bypass {
		return nil
	}
	env := w.c.newEnv()
	ok, err := m.validator.Match(env, d)
	if err != nil || ok {
		return err
	}
	if m.validationLevel == "moderate" && old != nil {
		if valid, err := m.validator.Match(env, old); err == nil && !valid {
			return nil // it was invalid before
		}
	}
	if m.validationAction == "warn" {
		w.c.svc.log.Warn().Str("ns", w.ns.String()).Str("_id", d.Lookup("_id").String()).Msg("Document would fail validation")
		return nil
	}
	info := value.NewDoc("failingDocumentId", d.Lookup("_id"), "details", value.Document(m.validator.Explain(env, d)))
	return mongoerr.New(mongoerr.DocumentValidationFailure, "Document failed validation").WithExtra("errInfo", value.Document(info))
}

// translate adds to a duplicate key error what MongoDB says about it.
func (w *writer) translate(err error, d value.Doc) error {
	if err == nil {
		return nil
	}
	var dup *storage.DuplicateKeyError
	if !errors.As(err, &dup) {
		return translate(w.ns, err)
	}
	return duplicateKey(w.coll.Info(), dup, d)
}

// duplicateKey makes error 11000 with keyPattern and keyValue.
func duplicateKey(info *storage.Info, dup *storage.DuplicateKeyError, d value.Doc) error {
	var spec *index.Spec
	if line := info.Index(dup.Index); line != nil {
		spec = index.Of(line)
	}
	if spec == nil {
		return mongoerr.Newf(mongoerr.DuplicateKey, "E11000 duplicate key error collection: %s index: %s", info.Namespace, dup.Index)
	}
	keyValue := spec.KeyValue(d, dup.Key)
	text := ""
	if spec.Collation != nil {
		text = " collation: " + spec.Collation.Doc().String()
	}
	return mongoerr.Newf(mongoerr.DuplicateKey, "E11000 duplicate key error collection: %s index: %s%s dup key: %s", info.Namespace, dup.Index, text, keyValue).
		WithExtra("keyPattern", value.Document(spec.Key)).WithExtra("keyValue", value.Document(keyValue))
}
