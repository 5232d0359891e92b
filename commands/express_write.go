package commands

import (
	"errors"
	"sync"

	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// expressWrite updates or removes the one document that a statement asks for
// by its _id: the commonest write of all. It exists because nothing has to be
// compiled or planned for it, and because it takes no memory of its own. What
// it does is what [Call.modify] does; what is not as plain as it seemed, it
// leaves to that, untouched.
type expressWrite struct {
	c       *Call
	ns      storage.Namespace
	key     []byte        // of the _id
	fields  update.Fields // unless remove
	remove  bool
	writer  writer
	old     storage.Record // the document
	buf     []byte         // its new version
	out     updated
	handled bool
	change  func(storage.Tx) error // run, made once
}

var expressWrites = sync.Pool{New: func() any {
	x := &expressWrite{}
	x.change = x.run
	return x
}}

// expressUpdate runs an update statement if it is plain: $set and $inc of
// fields of the document with one _id.
func (c *Call) expressUpdate(w *batchWrite, s *updateStatementArgs, let value.Doc) (out updated, handled bool, err error) {
	id, ok := pointID(s.Q)
	if !ok || !s.plain() || let != nil {
		return out, false, nil
	}
	x := expressWrites.Get().(*expressWrite)
	defer x.release()
	if !x.fields.Parse(s.U.Doc()) {
		return out, false, nil
	}
	return x.modify(w, id)
}

// plain reports whether the statement has no option that matters.
func (s *updateStatementArgs) plain() bool {
	return !s.Multi && !s.Upsert && s.U.Kind() == value.KindDocument && s.C == nil && s.Collation == nil &&
		s.ArrayFilters == nil && s.Hint.IsMissing() && s.Sort == nil
}

// expressDelete runs a delete statement if it is plain.
func (c *Call) expressDelete(w *batchWrite, s *deleteStatementArgs, let value.Doc) (out updated, handled bool, err error) {
	id, ok := pointID(s.Q)
	if !ok || s.Collation != nil || !s.Hint.IsMissing() || let != nil {
		return out, false, nil
	}
	x := expressWrites.Get().(*expressWrite)
	defer x.release()
	x.remove = true
	return x.modify(w, id)
}

func (x *expressWrite) release() {
	const keep = 64 << 10
	if cap(x.buf) > keep {
		x.buf = nil
	}
	changed := x.fields.Changed[:0]
	*x = expressWrite{key: x.key[:0], buf: x.buf[:0], change: x.change}
	x.fields.Changed = changed
	expressWrites.Put(x)
}

func (x *expressWrite) modify(w *batchWrite, id value.Value) (updated, bool, error) {
	x.c, x.ns, x.writer.bypass = w.c, w.ns, w.bypass
	x.key = value.AppendKey(x.key[:0], id)
	if err := x.c.update(x.change); err != nil {
		return updated{}, true, translate(x.ns, err)
	}
	return x.out, x.handled, nil
}

// run finds the document and changes it, as part of an engine transaction
// that may be tried again.
func (x *expressWrite) run(tx storage.Tx) error {
	x.out, x.handled = updated{}, true
	coll, err := tx.Collection(x.ns)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	m := metaOf(coll.Info())
	if x.handled = m.express(); !x.handled {
		return nil
	}
	x.c.counts.byID()
	var ok bool
	x.old, ok, err = sight{coll, m, x.c.now}.find(idIndex, x.key)
	if err != nil || !ok {
		return err
	}
	x.writer.open(x.c, tx, coll)
	if x.remove {
		x.out.matched = 1
		return x.writer.remove(x.old)
	}
	return x.replace(x.old)
}

func (x *expressWrite) replace(r storage.Record) error {
	d, outcome := x.fields.Apply(x.buf[:0], r.Doc)
	switch outcome {
	case update.Unclear:
		x.handled = false
		return nil
	case update.Unchanged:
		x.out.matched = 1
		return x.writer.touch(r)
	}
	x.buf = d
	x.out.matched, x.out.modified = 1, 1
	if log := x.c.recorder(); log != nil && x.writer.meta.docTTL == nil { // which takes fields out
		log.changed = x.fields.Changed
		defer func() { log.changed = nil }()
	}
	return x.writer.replace(r, d)
}
