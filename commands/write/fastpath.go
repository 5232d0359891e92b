package write

import (
	"errors"
	"slices"
	"sync"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// expressWrite updates or removes one document by its _id, which is the most frequent
// write, and may return it. It compiles and plans nothing and allocates no memory. It has the same
// effect as modify; statements that it does not support it leaves to modify, without
// having changed anything.
type expressWrite struct {
	c       *kernel.Call
	ns      storage.Namespace
	key     []byte        // the key of the _id
	fields  update.Fields // the changes; empty with remove
	remove  bool
	returns bool // whether the document is returned: before or, with wantNew, after the change
	wantNew bool
	writer  Writer
	old     storage.Record // the document before
	found   bool
	buf     []byte    // memory for its new version
	new     value.Doc // its new version
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
	return x.modify(w.C, w.NS, w.Bypass, id)
}

// FastFindAndModify runs a findAndModify that has only a filter and an update, which is
// missing for a removal, if it is what FastUpdate or FastDelete runs. It returns the whole
// document as it was before or, with wantNew, after it.
func FastFindAndModify(c *kernel.Call, ns storage.Namespace, bypass bool, filter value.Doc, u value.Value, wantNew bool) (out Updated, handled bool, err error) {
	id, ok := canonical.PointID(filter)
	if !ok {
		return out, false, nil
	}
	x := expressWrites.Get().(*expressWrite)
	defer x.release()
	if x.remove = u.IsMissing(); !x.remove && (u.Kind() != value.KindDocument || !x.fields.Parse(u.Doc())) {
		return out, false, nil
	}
	x.returns, x.wantNew = true, wantNew
	return x.modify(c, ns, bypass, id)
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
	return x.modify(w.C, w.NS, w.Bypass, id)
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

func (x *expressWrite) modify(c *kernel.Call, ns storage.Namespace, bypass bool, id value.Value) (Updated, bool, error) {
	x.c, x.ns, x.writer.bypass = c, ns, bypass
	x.key = value.AppendKey(x.key[:0], id)
	if err := x.c.Update(x.change); err != nil {
		return Updated{}, true, kernel.Translate(x.ns, err)
	}
	if x.handled {
		exec.CountByID(&c.Counts, x.found)
	}
	if x.returns && x.out.Matched > 0 {
		x.out.Old = x.old.Doc
		if x.out.New = x.old.Doc; x.wantNew && x.out.Modified > 0 {
			x.out.New = x.new.Clone()
		}
	}
	return x.out, x.handled, nil
}

// run finds the document and changes it within an engine transaction, which may run
// again.
func (x *expressWrite) run(tx storage.Tx) error {
	x.out, x.handled, x.found = Updated{}, true, false
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
	x.old, x.found, err = kernel.Visible{Coll: coll, Meta: m, Now: x.c.Now}.Find(reserved.IDIndex, x.key)
	if err != nil || !x.found {
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
	const room = 64 // mostly enough for what is added
	x.buf = slices.Grow(x.buf[:0], len(r.Doc)+room)
	d, outcome := x.fields.Apply(x.buf, r.Doc)
	switch outcome {
	case update.Unclear:
		x.handled = false
		return nil
	case update.Unchanged:
		x.out.Matched = 1
		return x.writer.touch(r)
	}
	x.new = d
	x.out.Matched, x.out.Modified = 1, 1
	var how oplog.Change
	if x.writer.Meta.DocTTL == nil { // which takes fields out
		how.Changed, how.Added = x.fields.Changed, x.fields.Added
	}
	return x.writer.change(r, d, &how)
}
