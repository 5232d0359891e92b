// Package aggtest runs pipelines over documents in memory, for the tests of package agg
// and of the packages below it.
package aggtest

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Host is a stage.Host that keeps collections in memory.
type Host struct {
	Colls    map[string][]value.Doc // the documents by "db.coll"
	Views    map[string]stage.Namespace
	Specials map[string][]value.Doc  // the documents by stage
	Asked    []stage.Special         // the special sources that were opened
	Opened   []stage.Request         // the collections that were opened
	Eager    bool                    // take every offer: order, limit, fields
	Unique   map[string]bool         // fields with a unique index, joined by commas
	Sparse   bool                    // these indexes are sparse
	Fail     func(what string) error // asked before each method's work; nil: nothing fails
	Outs     []stage.OutTarget       // the targets of $out
	Aborted  int                     // writers of $out that were given up
	Closed   int                     // writers of $merge that were closed
}

// NewHost returns a host without collections.
func NewHost() *Host {
	return &Host{Colls: map[string][]value.Doc{}, Views: map[string]stage.Namespace{}, Specials: map[string][]value.Doc{}, Unique: map[string]bool{}}
}

// fail is the failure that the test wants of a method.
func (m *Host) fail(what string) error {
	if m.Fail == nil {
		return nil
	}
	return m.Fail(what)
}

// Resolve returns a view, or else a collection.
func (m *Host) Resolve(db, coll string) (stage.Namespace, error) {
	if err := m.fail("resolve"); err != nil {
		return stage.Namespace{}, err
	}
	if v, ok := m.Views[db+"."+coll]; ok {
		return v, nil
	}
	return stage.Namespace{DB: db, Coll: coll}, nil
}

// Open reads the documents of a collection that match.
func (m *Host) Open(x *stage.Exec, r stage.Request) (stage.Source, error) {
	m.Opened = append(m.Opened, r)
	if err := m.fail("open"); err != nil {
		return stage.Source{}, err
	}
	var docs []value.Doc
	for _, d := range m.Colls[r.DB+"."+r.Coll] {
		if r.Matcher != nil {
			if ok, err := r.Matcher.Match(x.Env, d); err != nil {
				return stage.Source{}, err
			} else if !ok {
				continue
			}
		}
		docs = append(docs, d)
	}
	if r.Near != nil {
		return m.near(x, docs)
	}
	if m.Eager {
		return m.offers(x, r, docs)
	}
	return stage.Source{Iterator: stage.Docs(docs...)}, nil
}

// offers does all that a request allows.
func (m *Host) offers(x *stage.Exec, r stage.Request, docs []value.Doc) (src stage.Source, err error) {
	if r.Sort != nil {
		pattern, err := order.ParsePattern(r.Sort)
		if err != nil {
			return src, err
		}
		slices.SortStableFunc(docs, func(a, b value.Doc) int {
			ka, erra := pattern.AppendKey(nil, x.Env, a, nil)
			kb, errb := pattern.AppendKey(nil, x.Env, b, nil)
			err = errors.Join(err, erra, errb)
			return bytes.Compare(ka, kb)
		})
		if src.Sorted = true; err != nil {
			return src, err
		}
	}
	if r.Limit > 0 && int64(len(docs)) > r.Limit {
		docs = docs[:r.Limit]
	}
	if r.Fields != nil {
		for i, d := range docs {
			docs[i] = trimmed(d, r.Fields)
		}
	}
	src.Iterator = stage.Docs(docs...)
	return src, nil
}

// trimmed keeps the top-level fields that paths need.
func trimmed(d value.Doc, paths []string) value.Doc {
	b := value.NewBuilder()
	for it := d.Iter(); it.Next(); {
		if slices.ContainsFunc(paths, func(path string) bool { return stage.TopField(path) == it.Key() }) {
			b.Raw(it.Element())
		}
	}
	return b.Doc()
}

// near takes the field "d" of documents for their distance.
func (m *Host) near(x *stage.Exec, docs []value.Doc) (stage.Source, error) {
	slices.SortFunc(docs, func(a, b value.Doc) int { return value.Compare(a.Lookup("d"), b.Lookup("d")) })
	src := stage.Docs(docs...)
	return stage.Source{Iterator: stage.Pull(src, func() (value.Doc, error) {
		d, err := src.Next()
		x.Env.Meta = expr.Meta{}
		if d != nil {
			x.Env.Meta.Set(expr.MetaGeoNearDistance, d.Lookup("d"))
			x.Env.Meta.Set(expr.MetaGeoNearPoint, d.Lookup("loc"))
		}
		return d, err
	})}, nil
}

// Special gives the documents of Specials.
func (m *Host) Special(x *stage.Exec, s stage.Special) (stage.Iterator, error) {
	if err := m.fail("special"); err != nil {
		return nil, err
	}
	m.Asked = append(m.Asked, s)
	x.FragmentID = func(n int) value.Doc { return value.NewDoc("n", value.Int32(int32(n))) }
	return stage.Docs(m.Specials[s.Stage]...), nil
}

// Out collects documents, which replace the collection.
func (m *Host) Out(_ *stage.Exec, t stage.OutTarget) (stage.OutWriter, error) {
	if err := m.fail("out"); err != nil {
		return nil, err
	}
	m.Outs = append(m.Outs, t)
	return &outWriter{m: m, ns: t.DB + "." + t.Coll}, nil
}

type outWriter struct {
	m    *Host
	ns   string
	docs []value.Doc
	done bool
}

func (w *outWriter) Write(d value.Doc) error {
	if err := w.m.fail("write"); err != nil {
		return err
	}
	w.docs = append(w.docs, d)
	return nil
}

func (w *outWriter) Commit() error {
	if err := w.m.fail("commit"); err != nil {
		return err
	}
	w.m.Colls[w.ns] = w.docs
	w.done = true
	return nil
}

func (w *outWriter) Abort() {
	if !w.done {
		w.m.Aborted++
	}
}

// Merge changes the documents of a collection.
func (m *Host) Merge(_ *stage.Exec, t stage.MergeTarget) (stage.MergeWriter, error) {
	if err := m.fail("merge"); err != nil {
		return nil, err
	}
	on := t.On
	if on == nil {
		on = []string{"_id"}
	}
	if !slices.Equal(on, []string{"_id"}) && !m.Unique[strings.Join(on, ",")] {
		return nil, mongoerr.New(51183, "Cannot find index to verify that join fields will be unique")
	}
	return &mergeWriter{m: m, ns: t.DB + "." + t.Coll, on: on, insert: t.Insert}, nil
}

type mergeWriter struct {
	m      *Host
	ns     string
	on     []string
	insert bool
}

func (w *mergeWriter) On() []string { return w.on }

func (w *mergeWriter) Nullish() bool { return !w.m.Sparse }

func (w *mergeWriter) Close() error { w.m.Closed++; return w.m.fail("close") }

func (w *mergeWriter) Apply(docs []value.Doc, change func(i int, old value.Doc) (value.Doc, error)) error {
	for i, d := range docs {
		if err := w.apply(d, func(old value.Doc) (value.Doc, error) { return change(i, old) }); err != nil {
			return err
		}
	}
	return nil
}

func (w *mergeWriter) apply(d value.Doc, change func(old value.Doc) (value.Doc, error)) error {
	docs := w.m.Colls[w.ns]
	at := slices.IndexFunc(docs, func(old value.Doc) bool {
		for _, path := range w.on {
			p := value.ParsePath(path)
			if !value.Equal(p.Get(old), p.Get(d)) {
				return false
			}
		}
		return true
	})
	var old value.Doc
	switch {
	case at >= 0 && w.insert:
		key := value.NewDoc("_id", d.Lookup("_id"))
		return mongoerr.Newf(mongoerr.DuplicateKey, "E11000 duplicate key error collection: %s index: _id_ dup key: %s", w.ns, key).
			WithExtra("keyPattern", value.Document(value.NewDoc("_id", value.Int32(1))))
	case at >= 0:
		old = docs[at]
	}
	next, err := change(old)
	switch {
	case err != nil || next == nil:
		return err
	case at >= 0:
		docs[at] = next
	default:
		w.m.Colls[w.ns] = append(docs, next)
	}
	return nil
}
