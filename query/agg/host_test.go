package agg

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// memory is a Host that keeps collections in memory.
type memory struct {
	colls   map[string][]value.Doc // by "db.coll"
	views   map[string]stage.Namespace
	special map[string][]value.Doc // by stage
	opened  []stage.Request
	eager   bool // take every offer: order, limit, fields
	unique  map[string]bool
}

func newMemory() *memory {
	return &memory{colls: map[string][]value.Doc{}, views: map[string]stage.Namespace{}, special: map[string][]value.Doc{}, unique: map[string]bool{}}
}

func (m *memory) Resolve(db, coll string) (stage.Namespace, error) {
	if v, ok := m.views[db+"."+coll]; ok {
		return v, nil
	}
	return stage.Namespace{DB: db, Coll: coll}, nil
}

func (m *memory) Open(x *stage.Exec, r stage.Request) (stage.Source, error) {
	m.opened = append(m.opened, r)
	var docs []value.Doc
	for _, d := range m.colls[r.DB+"."+r.Coll] {
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
	if m.eager {
		return m.offers(x, r, docs)
	}
	return stage.Source{Iterator: stage.Docs(docs...)}, nil
}

// offers does all that a request allows.
func (m *memory) offers(x *stage.Exec, r stage.Request, docs []value.Doc) (src stage.Source, err error) {
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
func (m *memory) near(x *stage.Exec, docs []value.Doc) (stage.Source, error) {
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

func (m *memory) Special(x *stage.Exec, s stage.Special) (stage.Iterator, error) {
	x.FragmentID = func(n int) value.Doc { return value.NewDoc("n", value.Int32(int32(n))) }
	return stage.Docs(m.special[s.Stage]...), nil
}

func (m *memory) Out(_ *stage.Exec, t stage.OutTarget) (stage.OutWriter, error) {
	return &memoryOut{m: m, ns: t.DB + "." + t.Coll}, nil
}

type memoryOut struct {
	m    *memory
	ns   string
	docs []value.Doc
}

func (w *memoryOut) Write(d value.Doc) error { w.docs = append(w.docs, d); return nil }

func (w *memoryOut) Commit() error { w.m.colls[w.ns] = w.docs; return nil }

func (w *memoryOut) Abort() {}

func (m *memory) Merge(_ *stage.Exec, t stage.MergeTarget) (stage.MergeWriter, error) {
	on := t.On
	if on == nil {
		on = []string{"_id"}
	}
	if !slices.Equal(on, []string{"_id"}) && !m.unique[strings.Join(on, ",")] {
		return nil, mongoerr.New(51183, "Cannot find index to verify that join fields will be unique")
	}
	return &memoryMerge{m: m, ns: t.DB + "." + t.Coll, on: on, insert: t.Insert}, nil
}

type memoryMerge struct {
	m      *memory
	ns     string
	on     []string
	insert bool
}

func (w *memoryMerge) On() []string { return w.on }

func (w *memoryMerge) Close() error { return nil }

func (w *memoryMerge) Apply(docs []value.Doc, change func(i int, old value.Doc) (value.Doc, error)) error {
	for i, d := range docs {
		if err := w.apply(d, func(old value.Doc) (value.Doc, error) { return change(i, old) }); err != nil {
			return err
		}
	}
	return nil
}

func (w *memoryMerge) apply(d value.Doc, change func(old value.Doc) (value.Doc, error)) error {
	docs := w.m.colls[w.ns]
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
		w.m.colls[w.ns] = append(docs, next)
	}
	return nil
}

// docs reads a JSON array of documents.
func docs(t testing.TB, json string) []value.Doc {
	t.Helper()
	d, err := value.ParseJSON(`{"v": ` + json + `}`)
	if err != nil {
		t.Fatalf("%v in %s", err, json)
	}
	var out []value.Doc
	for e := range d.Lookup("v").Doc().Values() {
		out = append(out, e.Doc())
	}
	return out
}

// array reads a JSON array as a document.
func array(t testing.TB, json string) value.Doc {
	t.Helper()
	d, err := value.ParseJSON(`{"v": ` + json + `}`)
	if err != nil {
		t.Fatalf("%v in %s", err, json)
	}
	return d.Lookup("v").Doc()
}

const testNow = 1_700_000_000_000

func newExec(h stage.Host) *stage.Exec {
	return &stage.Exec{Env: expr.NewEnv(testNow), Host: h, AllowDiskUse: true}
}

// run runs a pipeline on test.c of the host.
func run(t testing.TB, h stage.Host, pipeline string) ([]value.Doc, error) {
	t.Helper()
	p, err := Compile(array(t, pipeline), stage.Options{DB: "test", Coll: "c"})
	if err != nil {
		return nil, err
	}
	it, err := p.Open(newExec(h))
	if err != nil {
		return nil, err
	}
	return stage.Drain(it)
}

// canonical prints documents so that types show.
func canonical(ds []value.Doc) string {
	var b strings.Builder
	for _, d := range ds {
		b.WriteString(d.CanonicalJSON())
		b.WriteByte('\n')
	}
	return b.String()
}

// stageTest is a pipeline over documents and what comes out: documents, or
// an error "code: message".
type stageTest struct {
	name     string
	docs     string
	pipeline string
	want     string
	err      string
}

func runStageTests(t *testing.T, tests []stageTest, prepare func(*memory)) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newMemory()
			if tt.docs != "" {
				h.colls["test.c"] = docs(t, tt.docs)
			}
			if prepare != nil {
				prepare(h)
			}
			got, err := run(t, h, tt.pipeline)
			if tt.err != "" {
				checkError(t, err, tt.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if g, w := canonical(got), canonical(docs(t, tt.want)); g != w {
				t.Errorf("got\n%swant\n%s", g, w)
			}
		})
	}
}

// checkError compares an error with "code: message"; a message that ends in
// … need only begin so.
func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", want)
	}
	e := mongoerr.From(err)
	got := fmt.Sprintf("%d: %s", e.Code, e.Message)
	if prefix, ok := strings.CutSuffix(want, "…"); ok && strings.HasPrefix(got, prefix) {
		return
	}
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
