package commands

import (
	"errors"

	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/storage"
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
}

// newWriter opens a collection for writing.
func (c *Call) newWriter(tx storage.Tx, coll storage.Collection, bypass bool) *writer {
	return &writer{c: c, tx: tx, coll: coll, meta: metaOf(coll.Info()), ns: coll.Info().Namespace, bypass: bypass}
}

// insert stores a document that has its _id first (see prepareInsert).
func (w *writer) insert(d value.Doc) (storage.RecordID, error) {
	if err := w.validate(d, nil); err != nil {
		return 0, err
	}
	if err := w.purgeExpired(d); err != nil {
		return 0, err
	}
	if err := w.makeRoom(len(d)); err != nil {
		return 0, err
	}
	id, err := w.coll.Insert(d, w.c.now)
	if err != nil {
		return 0, w.translate(err, d)
	}
	return id, nil
}

// replace stores a new version of a record.
func (w *writer) replace(r storage.Record, d value.Doc) error {
	if len(d) > MaxDocumentBytes {
		return mongoerr.Newf(17419, "Resulting document after update is larger than %d", MaxDocumentBytes)
	}
	if err := w.validate(d, r.Doc); err != nil {
		return err
	}
	if err := w.coll.Update(r.ID, d, w.c.now); err != nil {
		return w.translate(err, d)
	}
	return nil
}

// remove deletes a record.
func (w *writer) remove(r storage.Record) error {
	return translate(w.ns, w.coll.Delete(r.ID))
}

// purgeExpired removes a document with the same _id that has expired but was
// not swept yet: for the client it does not exist (semantics.md §7.3).
func (w *writer) purgeExpired(d value.Doc) error {
	if w.meta.visible == nil {
		return nil
	}
	key := value.AppendKey(nil, d.Lookup("_id"))
	r, ok, err := w.coll.Find(idIndex, key)
	if err != nil || !ok || w.meta.visible(&r, w.c.now) {
		return err
	}
	return w.coll.Delete(r.ID)
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
	m := w.meta
	if m.validator == nil || w.bypass {
		return nil
	}
	env := expr.NewEnv(w.c.now)
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
