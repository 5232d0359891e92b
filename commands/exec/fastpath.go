package exec

import (
	"errors"
	"sync"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/project"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// FastFind answers a find by _id, the commonest of all queries, without compiling a
// filter or planning. handled is false if the command is anything else, or has a field
// that FastFind does not read; its arguments are then still to be decoded.
func FastFind(c *kernel.Call) (handled bool, err error) {
	var f pointFind
	if c.Held != nil || !f.read(c.Body) {
		return false, nil
	}
	ns, err := c.NamespaceOf(f.coll)
	if err != nil || c.Svc.IsMadeOnRead(ns) {
		return false, nil // the decoded command reports the error, or reads what is not stored
	}
	r := pointReads.Get().(*pointRead)
	defer r.release()
	r.c, r.ns, r.key = c, ns, value.AppendKey(r.key[:0], f.id)
	err = c.ViewBriefly(r.find)
	if err == nil && !r.handled {
		return false, nil
	}
	c.Svc.Metrics.Opcounters.Query.Add(1)
	if err != nil {
		return true, kernel.Translate(ns, err)
	}
	d := r.rec.Doc
	CountByID(&c.Counts, d != nil)
	if d != nil && f.projection != nil && !f.projection.IsEmpty() {
		p, err := project.Compile(f.projection, project.Options{})
		if err != nil {
			return true, kernel.Translate(ns, err)
		}
		if d, err = p.Apply(NewExecution(c).Env, nil, d); err != nil {
			return true, kernel.Translate(ns, err)
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
	b.End().Int64("id", 0).String("ns", c.FullName(ns)).End()
	return true, nil
}

// pointFind is a find by _id as drivers send it.
type pointFind struct {
	coll       value.Value // its name
	id         value.Value
	projection value.Doc // empty: whole documents
}

// read reads the command. It reports false for a field that changes the result of a
// look-up by _id, for one that is repeated, and for a value that [FindSpec] may refuse.
func (f *pointFind) read(body value.Doc) bool {
	seen := 0
	it := body.Iter()
	for it.Next() {
		field, ok, v := 0, false, it.Value()
		switch it.Key() {
		case "find":
			field, f.coll, ok = 1, v, v.Kind() == value.KindString
		case "filter":
			field = 2
			if v.Kind() == value.KindDocument {
				f.id, ok = canonical.PointID(v.Doc())
			}
		case "projection":
			field = 4
			if v.Kind() == value.KindDocument {
				f.projection = v.Doc()
				ok = f.projection.IsEmpty() || !hasPosition(f.projection) && !hasMeta(f.projection)
			}
		case "limit":
			field, ok = 8, isInt(v) && v.SafeInt64() >= 0
		case "batchSize":
			field, ok = 16, isInt(v) && v.SafeInt64() > 0
		case "skip":
			field, ok = 32, isInt(v) && v.SafeInt64() == 0
		case "singleBatch":
			field, ok = 64, v.Kind() == value.KindBool
		default:
			ok = args.IsGeneric(it.Key())
		}
		if !ok || seen&field != 0 {
			return false
		}
		seen |= field
	}
	return seen&3 == 3
}

func isInt(v value.Value) bool { return v.Kind() == value.KindInt32 || v.Kind() == value.KindInt64 }

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
	r.handled, r.rec = false, storage.Record{}
	coll, err := tx.Collection(r.ns)
	if err != nil {
		r.handled = errors.Is(err, storage.ErrNotFound) && r.ns.Coll != catalog.SystemViews
		return nil
	}
	m := catalog.Of(coll.Info())
	if !m.FastPath() {
		return nil
	}
	r.handled = true
	rec, found, err := kernel.Visible{Coll: coll, Meta: m, Now: r.c.Now}.Find(reserved.IDIndex, r.key)
	if found {
		r.rec = rec
	}
	return err
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
	it := d.Iter()
	for it.Next() {
		if k := it.Kind(); string(it.KeyBytes()) == "$meta" || (k == value.KindDocument || k == value.KindArray) && hasMeta(it.Value().Doc()) {
			return true
		}
	}
	return false
}
