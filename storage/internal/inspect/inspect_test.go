package inspect_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/inspect"
	"github.com/duskdb/duskdb/value"
)

// words is an index on the words of a document's text. It fails if "!" is among them.
type words struct{ storage.Index }

var errKeys = errors.New("cannot be indexed")

func (words) Keys(dst [][]byte, r storage.Record) ([][]byte, storage.Multikey, error) {
	for _, w := range strings.Fields(r.Doc.Lookup("text").Str()) {
		if w == "!" {
			return dst, 0, errKeys
		}
		dst = append(dst, []byte(w))
	}
	return dst, 0, nil
}

// data is an engine with the collections that a test has given it, sound or not.
type data struct {
	storage.Engine
	list          []*coll
	view, listing error
}

func (d *data) View(_ context.Context, fn func(storage.Tx) error) error {
	if d.view != nil {
		return d.view
	}
	return fn(tx{d: d})
}

// tx is a transaction on data.
type tx struct {
	storage.Tx
	d *data
}

func (t tx) Collections(string) (infos []*storage.Info, err error) {
	for _, c := range t.d.list {
		infos = append(infos, c.info)
	}
	return infos, t.d.listing
}

func (t tx) Collection(ns storage.Namespace) (storage.Collection, error) {
	i := slices.IndexFunc(t.d.list, func(c *coll) bool { return c.info.Namespace == ns })
	return t.d.list[i], t.d.list[i].open
}

// entry is an entry of an index.
type entry struct {
	key string
	id  storage.RecordID
}

// coll is a collection with an index on the words of text, and what it says of itself.
type coll struct {
	storage.Collection
	info                                 *storage.Info
	records                              []storage.Record
	entries                              []entry
	count, size                          int64
	open, scan, scanIndex, counts, sizes error
}

func (c *coll) Info() *storage.Info   { return c.info }
func (c *coll) Count() (int64, error) { return c.count, c.counts }
func (c *coll) Size() (int64, error)  { return c.size, c.sizes }

func (c *coll) Scan(_ storage.Range, fn func(storage.Record) bool) error {
	for _, r := range c.records {
		if !fn(r) {
			break
		}
	}
	return c.scan
}

func (c *coll) ScanIndex(_ string, _ storage.KeyRange, fn func([]byte, storage.RecordID) bool) error {
	for _, x := range c.entries {
		if !fn([]byte(x.key), x.id) {
			break
		}
	}
	return c.scanIndex
}

// sound returns a collection with a document for each text, in which everything agrees.
func sound(name string, texts ...string) *coll {
	c := &coll{info: &storage.Info{Namespace: storage.Namespace{DB: "d", Coll: name}}}
	c.info.Indexes = []storage.IndexInfo{{IndexSpec: storage.IndexSpec{Name: "text"}, Index: words{}}}
	for i, text := range texts {
		r := storage.Record{ID: storage.RecordID(i + 1), Doc: value.NewDoc("text", value.String(text))}
		c.records = append(c.records, r)
		list := strings.Fields(text)
		slices.Sort(list)
		for _, w := range slices.Compact(list) {
			c.entries = append(c.entries, entry{w, r.ID})
		}
		c.count++
		c.size += int64(len(r.Doc))
	}
	slices.SortFunc(c.entries, func(a, b entry) int { return bytes.Compare([]byte(a.key), []byte(b.key)) })
	return c
}

// A report counts what is there, and finds nothing where everything agrees: also a document
// without a key, one with equal keys, and two with the same one.
func TestSound(t *testing.T) {
	t.Parallel()
	first, second := sound("a", "x", "", "y x y", "x"), sound("b")
	var r storage.Report
	if err := inspect.Engine(t.Context(), &data{list: []*coll{first, second}}, &r); err != nil || !r.Sound() {
		t.Fatalf("%q, %v", r.Problems, err)
	}
	want := []storage.CollectionReport{
		{Namespace: first.info.Namespace, Records: 4, Bytes: first.size, Indexes: 1, Entries: 4},
		{Namespace: second.info.Namespace, Indexes: 1},
	}
	if !slices.Equal(r.Collections, want) {
		t.Errorf("%+v, want %+v", r.Collections, want)
	}
}

// Each thing that is wrong is one problem of its collection, and the other one is checked
// all the same.
func TestProblems(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for name, tt := range map[string]struct {
		spoil func(c *coll)
		says  string
	}{
		"an entry is missing":   {func(c *coll) { c.entries = c.entries[1:] }, "index text has 2 entries, the documents give 3"},
		"an entry too many":     {func(c *coll) { c.entries = append(c.entries, entry{"z", 1}) }, "index text has 4 entries, the documents give 3"},
		"an entry twice":        {func(c *coll) { c.entries = append(c.entries, c.entries[0]) }, "index text has 4 entries, the documents give 3"},
		"an entry of another":   {func(c *coll) { c.entries[0].id = 2 }, "index text has 3 entries, the documents give 3"},
		"another key":           {func(c *coll) { c.entries[0].key = "w" }, "index text has 3 entries, the documents give 3"},
		"a document is missing": {func(c *coll) { c.records, c.count, c.size = c.records[1:], 1, int64(len(c.records[1].Doc)) }, "index text has 3 entries, the documents give 2"},
		"wrong count":           {func(c *coll) { c.count++ }, "it has 2 documents and counts 3"},
		"wrong size":            {func(c *coll) { c.size-- }, "and it counts"},
		"a broken document":     {func(c *coll) { c.records[0].Doc[0]++ }, "record 1: "},
		"no keys of a document": {func(c *coll) { c.records[0].Doc = value.NewDoc("text", value.String("x !")) }, "record 1: index text: cannot be indexed"},
		"the count fails":       {func(c *coll) { c.counts = failed }, "it has 2 documents and counts 2, failed"},
		"the size fails":        {func(c *coll) { c.sizes = failed }, "failed"},
		"the scan fails":        {func(c *coll) { c.scan = failed }, "d.a: failed"},
		"an index scan fails":   {func(c *coll) { c.scanIndex = failed }, "index text: failed"},
	} {
		bad := sound("a", "x", "y z")
		tt.spoil(bad)
		var r storage.Report
		if err := inspect.Engine(t.Context(), &data{list: []*coll{bad, sound("b", "x")}}, &r); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.ContainsFunc(r.Problems, func(p string) bool { return strings.Contains(p, tt.says) }) {
			t.Errorf("%s: %q, want %q", name, r.Problems, tt.says)
		}
		for _, p := range r.Problems {
			if !strings.HasPrefix(p, "d.a: ") {
				t.Errorf("%s: %q is not of d.a", name, p)
			}
		}
		if n := len(r.Collections); r.Collections[n-1].Namespace.Coll != "b" {
			t.Errorf("%s: d.b was not checked: %+v", name, r.Collections)
		}
	}
}

// A check that cannot be finished is an error, and no finding.
func TestErrors(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	unopened := sound("a")
	unopened.open = failed
	for name, d := range map[string]*data{"view": {view: failed}, "collections": {listing: failed}, "collection": {list: []*coll{unopened}}} {
		var r storage.Report
		if err := inspect.Engine(t.Context(), d, &r); !errors.Is(err, failed) || !r.Sound() {
			t.Errorf("%s: %v, %q", name, err, r.Problems)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := inspect.Engine(ctx, &data{}, &storage.Report{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A report lists the first hundred problems.
func TestManyProblems(t *testing.T) {
	t.Parallel()
	c := sound("a", slices.Repeat([]string{"!"}, 150)...)
	var r storage.Report
	if err := inspect.Engine(t.Context(), &data{list: []*coll{c}}, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Problems) != 100 {
		t.Errorf("%d problems are listed", len(r.Problems))
	}
	for i, p := range r.Problems {
		if !strings.Contains(p, fmt.Sprintf("record %d:", i+1)) {
			t.Errorf("problem %d: %s", i, p)
		}
	}
}
