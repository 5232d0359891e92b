package write

import (
	"errors"
	"sync"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// expressWrite updates or removes one document by its _id, which is the most frequent
// write. It compiles and plans nothing and allocates no memory. It has the same
// effect as modify; statements that it does not support it leaves to modify, without
// having changed anything.
type expressWrite struct {
	c       *kernel.Call
	ns      storage.Namespace
	key     []byte        // of the _id
	fields  update.Fields // unless remove
	remove  bool
	writer  Writer
	old     storage.Record // the document
	buf     []byte         // its new version
	out     Updated
	handled bool
	change  func(storage.Tx) error // run, made once
}

var expressWrites = sync.Pool{New: func() any {
	x := &expressWrite{}
	x.change = x.run
	return x
}}

// FastUpdate runs an update statement if it consists only of $set and $inc on the
// document with one _id.
func FastUpdate(c *kernel.Call, w *BatchWrite, s *exec.UpdateStatementArgs, let value.Doc) (out Updated, handled bool, err error) {
	id, ok := canonical.PointID(s.Q)
	if !ok || !s.Plain() || let != nil {
		return out, false, nil
	}
	x := expressWrites.Get().(*expressWrite)
	defer x.release()
	if !x.fields.Parse(s.U.Doc()) {
		return out, false, nil
	}
	return x.modify(w, id)
}

// FastDelete runs a delete statement if its filter is only an _id.
func FastDelete(c *kernel.Call, w *BatchWrite, s *DeleteStatementArgs, let value.Doc) (out Updated, handled bool, err error) {
	id, ok := canonical.PointID(s.Q)
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
	changed, added := x.fields.Changed[:0], x.fields.Added[:0]
	*x = expressWrite{key: x.key[:0], buf: x.buf[:0], change: x.change}
	x.fields.Changed, x.fields.Added = changed, added
	expressWrites.Put(x)
}

func (x *expressWrite) modify(w *BatchWrite, id value.Value) (Updated, bool, error) {
	x.c, x.ns, x.writer.bypass = w.C, w.NS, w.Bypass
	x.key = value.AppendKey(x.key[:0], id)
	if err := x.c.Update(x.change); err != nil {
		return Updated{}, true, kernel.Translate(x.ns, err)
	}
	return x.out, x.handled, nil
}

// run finds the document and changes it within an engine transaction, which may run
// again.
func (x *expressWrite) run(tx storage.Tx) error {
	x.out, x.handled = Updated{}, true
	coll, err := tx.Collection(x.ns)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	m := catalog.Of(coll.Info())
	if x.handled = m.FastPath(); !x.handled {
		return nil
	}
	exec.CountByID(&x.c.Counts)
	var ok bool
	x.old, ok, err = kernel.Visible{Coll: coll, Meta: m, Now: x.c.Now}.Find(reserved.IDIndex, x.key)
	if err != nil || !ok {
		return err
	}
	x.writer.open(x.c, tx, coll)
	if x.remove {
		x.out.Matched = 1
		return x.writer.Remove(x.old)
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
		x.out.Matched = 1
		return x.writer.touch(r)
	}
	x.buf = d
	x.out.Matched, x.out.Modified = 1, 1
	if log := x.c.Recorder(); log != nil && x.writer.Meta.DocTTL == nil { // which takes fields out
		log.Changed, log.Added = x.fields.Changed, x.fields.Added
		defer func() { log.Changed, log.Added = nil, nil }()
	}
	return x.writer.Replace(r, d)
}
