package exec

import (
	"errors"
	"sync"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/project"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// FastFind answers a find by _id without compiling a filter or planning:
// the commonest of all queries. handled is false if the query is anything
// else.
func FastFind(c *kernel.Call, ns storage.Namespace, a *FindArgs) (handled bool, err error) {
	id, ok := canonical.PointID(a.Filter)
	if !ok || !a.plain() || c.Held != nil || a.projects() && (hasPosition(a.Projection) || hasMeta(a.Projection)) {
		return false, nil
	}
	r := pointReads.Get().(*pointRead)
	defer r.release()
	r.c, r.ns, r.key = c, ns, value.AppendKey(r.key[:0], id)
	if err = c.View(r.find); err != nil || !r.handled {
		return r.handled, err
	}
	d := r.rec.Doc
	if d != nil && a.projects() {
		p, err := project.Compile(a.Projection, project.Options{})
		if err != nil {
			return true, err
		}
		if d, err = p.Apply(NewExecution(c).Env, nil, d); err != nil {
			return true, err
		}
	}
	c.LeavesNothing()
	b := c.Reply
	b.StartDocument("cursor").StartArray("firstBatch")
	if d != nil {
		b.Document("", d)
		c.Svc.Metrics.Document.Returned.Add(1)
		c.Counts.Returned = 1
	}
	b.End().Int64("id", 0).String("ns", ns.String()).End()
	return true, nil
}

// pointRead looks up the record with an _id. It is reused, so that a look-up does not
// allocate.
type pointRead struct {
	c       *kernel.Call
	ns      storage.Namespace
	key     []byte
	handled bool           // the collection is one for expressFind
	rec     storage.Record // zero if nothing was found
	find    func(storage.Tx) error
}

var pointReads = sync.Pool{New: func() any {
	r := &pointRead{}
	r.find = r.look
	return r
}}

func (r *pointRead) release() {
	*r = pointRead{key: r.key, find: r.find}
	pointReads.Put(r)
}

func (r *pointRead) look(tx storage.Tx) error {
	coll, err := tx.Collection(r.ns)
	if err != nil {
		r.handled = errors.Is(err, storage.ErrNotFound)
		return nil
	}
	m := catalog.Of(coll.Info())
	if !m.FastPath() {
		return nil
	}
	r.handled = true
	CountByID(&r.c.Counts)
	rec, found, err := kernel.Visible{Coll: coll, Meta: m, Now: r.c.Now}.Find(reserved.IDIndex, r.key)
	if found {
		r.rec = rec
	}
	return err
}

func (a *FindArgs) projects() bool { return a.Projection != nil && !a.Projection.IsEmpty() }

// plain reports whether a find has no option that changes the result of a look-up by _id.
func (a *FindArgs) plain() bool {
	return a.Sort == nil && a.Hint.IsMissing() && a.Collation == nil && a.Skip == 0 && a.Min == nil && a.Max == nil &&
		!bool(a.ReturnKey) && !bool(a.ShowRecordID) && !bool(a.Tailable) && !bool(a.AwaitData) && a.Let == nil &&
		(a.BatchSize == nil || *a.BatchSize > 0) && a.NTok == nil && !a.UUID.Given()
}

// hasPosition looks for a positional projection, which needs the filter.
func hasPosition(d value.Doc) bool {
	for name := range d.All() {
		if len(name) > 1 && name[len(name)-1] == '$' {
			return true
		}
	}
	return false
}

// hasMeta looks for $meta, which needs what is known of a record besides its document.
func hasMeta(d value.Doc) bool {
	for it := d.Iter(); it.Next(); {
		if k := it.Kind(); string(it.KeyBytes()) == "$meta" || (k == value.KindDocument || k == value.KindArray) && hasMeta(it.Value().Doc()) {
			return true
		}
	}
	return false
}
