package index

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// An index may narrow, but must never hide a match: whatever documents,
// index and filter there are, each matching document has a key in the ranges
// of each plan.

var scalars = []string{`1`, `2`, `3`, `2.5`, `null`, `"a"`, `"ab"`, `"b"`, `true`, `{"$date":{"$numberLong":"5"}}`, `{"$numberDouble":"NaN"}`, `{"$minKey":1}`, `{"$maxKey":1}`}

func drawValue(t *rapid.T, depth int) string {
	n := rapid.IntRange(0, 9).Draw(t, "kind")
	switch {
	case n < 6 || depth == 0:
		return rapid.SampledFrom(scalars).Draw(t, "scalar")
	case n < 8:
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			items = append(items, drawValue(t, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return drawDoc(t, depth-1)
}

func drawDoc(t *rapid.T, depth int) string {
	var fields []string
	for _, name := range []string{"a", "b", "c", "0"} {
		if name != "0" && rapid.IntRange(0, 2).Draw(t, "has") > 0 {
			fields = append(fields, fmt.Sprintf("%q:%s", name, drawValue(t, depth)))
		}
	}
	return "{" + strings.Join(fields, ",") + "}"
}

var (
	usualPaths = []string{"a.b", "a.c", "a", "b"}
	rarePaths  = []string{"c", "a.b.c", "a.0", "b.a", "b.1", "a.0.b", "b.c"}
)

func drawPath(t *rapid.T) string {
	if rapid.IntRange(0, 4).Draw(t, "rare") == 4 {
		return rapid.SampledFrom(rarePaths).Draw(t, "path")
	}
	return rapid.SampledFrom(usualPaths).Draw(t, "path")
}

func drawOperator(t *rapid.T, depth int) string {
	op := rapid.SampledFrom([]string{"$eq", "$gt", "$gte", "$lt", "$lte", "$ne", "$in", "$nin", "$exists", "$type", "$regex", "$not", "$elemMatch", "$size", "$mod", "$all"}).Draw(t, "op")
	switch op {
	case "$in", "$nin", "$all":
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			items = append(items, drawValue(t, 1))
		}
		return fmt.Sprintf("%q:[%s]", op, strings.Join(items, ","))
	case "$exists":
		return fmt.Sprintf("%q:%v", op, rapid.Bool().Draw(t, "exists"))
	case "$type":
		return `"$type":` + rapid.SampledFrom([]string{`"number"`, `"string"`, `"null"`, `"array"`, `"object"`, `"int"`, `["bool","date"]`}).Draw(t, "type")
	case "$regex":
		return `"$regex":` + rapid.SampledFrom([]string{`"^a"`, `"b"`, `"^ab$"`, `"^a*"`}).Draw(t, "regex")
	case "$size":
		return fmt.Sprintf(`"$size":%d`, rapid.IntRange(0, 3).Draw(t, "size"))
	case "$mod":
		return `"$mod":[2,1]`
	case "$not", "$elemMatch":
		if depth == 0 {
			return `"$eq":` + drawValue(t, 1)
		}
		if op == "$elemMatch" && rapid.Bool().Draw(t, "object") {
			return `"$elemMatch":` + drawFilter(t, depth-1)
		}
		return fmt.Sprintf("%q:{%s}", op, drawOperators(t, depth-1))
	}
	return fmt.Sprintf("%q:%s", op, drawValue(t, 1))
}

func drawOperators(t *rapid.T, depth int) string {
	a := drawOperator(t, depth)
	if rapid.IntRange(0, 2).Draw(t, "more") == 0 {
		if b := drawOperator(t, depth); b[:4] != a[:4] {
			return a + "," + b
		}
	}
	return a
}

func drawFilter(t *rapid.T, depth int) string {
	var parts []string
	seen := map[string]bool{}
	for range rapid.IntRange(1, 3).Draw(t, "conditions") {
		path := drawPath(t)
		if seen[path] {
			continue
		}
		seen[path] = true
		if rapid.IntRange(0, 3).Draw(t, "implicit") == 0 {
			parts = append(parts, fmt.Sprintf("%q:%s", path, drawValue(t, 2)))
		} else {
			parts = append(parts, fmt.Sprintf("%q:{%s}", path, drawOperators(t, depth)))
		}
	}
	if depth > 0 && rapid.IntRange(0, 3).Draw(t, "logical") == 0 {
		op := rapid.SampledFrom([]string{"$or", "$nor", "$and"}).Draw(t, "logic")
		parts = append(parts, fmt.Sprintf("%q:[%s,%s]", op, drawFilter(t, depth-1), drawFilter(t, depth-1)))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func drawSpec(t *rapid.T) string {
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	switch kind {
	case 0:
		return `{"key":{"` + rapid.SampledFrom([]string{"$**", "a.$**"}).Draw(t, "wildcard") + `":1}}`
	case 1:
		return `{"key":{"` + drawPath(t) + `":"hashed","c":1}}`
	}
	var fields []string
	seen := map[string]bool{}
	for range rapid.IntRange(1, 3).Draw(t, "fields") {
		if path := drawPath(t); !seen[path] {
			seen[path] = true
			fields = append(fields, fmt.Sprintf("%q:%d", path, rapid.SampledFrom([]int{1, -1}).Draw(t, "direction")))
		}
	}
	spec := `{"key":{` + strings.Join(fields, ",") + `}`
	switch kind {
	case 2, 3:
		spec += `,"sparse":true`
	case 4, 5:
		spec += `,"partialFilterExpression":` + rapid.SampledFrom([]string{
			`{"a":{"$gt":1}}`, `{"b":{"$exists":true}}`, `{"a":{"$type":"number"},"c":{"$lte":3}}`, `{"$or":[{"a":2},{"b":{"$in":[1,"a"]}}]}`, `{"a":null}`,
		}).Draw(t, "partial")
	}
	return spec + "}"
}

// store is a collection of documents with one index.
type store struct {
	docs     []value.Doc
	keys     [][][]byte
	multikey bool
	entries  int64
}

// fill adds drawn documents.
func (st *store) fill(t *rapid.T, s *Spec) {
	for range rapid.IntRange(4, 12).Draw(t, "docs") {
		st.add(s, drawDoc(t, 3))
	}
}

// add adds a document unless it cannot be indexed.
func (st *store) add(s *Spec, json string) {
	doc := value.MustJSON(json)
	keys, multikey, err := s.Keys(nil, storage.Record{Doc: doc})
	if err != nil {
		return
	}
	st.docs = append(st.docs, doc)
	st.keys = append(st.keys, keys)
	st.multikey = st.multikey || multikey
	st.entries += int64(len(keys))
}

// collection describes the store to the planner.
func (st *store) collection(s *Spec) *plan.Collection {
	x := s.Plan()
	x.Entries, x.Multikey = st.entries, st.multikey
	return &plan.Collection{Indexes: []*plan.Index{x}, Count: int64(len(st.docs)), Estimate: st.estimate}
}

func within(r plan.Range, key []byte) bool {
	return bytes.Compare(r.Lo, key) <= 0 && (len(r.Hi) == 0 || bytes.Compare(key, r.Hi) < 0)
}

// finds tells whether a plan comes upon the i-th document.
func (st *store) finds(p *plan.Plan, i int) bool {
	switch p.Type {
	case plan.CollScan:
		return true
	case plan.Nothing:
		return false
	case plan.Union:
		return slices.ContainsFunc(p.Parts, func(part *plan.Plan) bool { return st.finds(part, i) })
	}
	return slices.ContainsFunc(p.Ranges, func(r plan.Range) bool {
		return slices.ContainsFunc(st.keys[i], func(key []byte) bool { return within(r, key) })
	})
}

func (st *store) estimate(_ *plan.Index, r plan.Range, limit int64) (n int64) {
	for _, keys := range st.keys {
		for _, key := range keys {
			if n < limit && within(r, key) {
				n++
			}
		}
	}
	return n
}

func TestIndexNeverHidesAMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSpec(t)
		s, err := Parse(withName(value.MustJSON(spec)), ParseOptions{})
		if err != nil {
			t.Skip(err)
		}
		st := &store{}
		st.fill(t, s)
		coll := st.collection(s)
		for range 6 {
			filter := drawFilter(t, 2)
			m, err := match.Compile(value.MustJSON(filter), match.Options{})
			if err != nil {
				continue
			}
			winner, err := plan.Make(&plan.Query{Filter: m}, coll)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range append(winner.Rejected, winner) {
				checkPlan(t, st, m, p, spec)
			}
		}
	})
}

func checkPlan(t *rapid.T, st *store, m *match.Matcher, p *plan.Plan, spec string) {
	env := expr.NewEnv(0)
	for i, doc := range st.docs {
		ok, err := m.Match(env, doc)
		if err != nil {
			return
		}
		found := st.finds(p, i)
		if ok && !found {
			t.Fatalf("%s (multikey %v) hides %s from %s\n%v", spec, st.multikey, doc, m.Filter(), p.Explain(&plan.Shape{}).Scan(0).Detail)
		}
		if !ok && found && p.Exact {
			t.Fatalf("%s claims that %s is exact, but %s does not match\n%v", spec, m.Filter(), doc, p.Explain(&plan.Shape{}).Scan(0).Detail)
		}
	}
}

func TestSortProvidedByIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := Parse(withName(value.MustJSON(drawSpec(t))), ParseOptions{})
		if err != nil {
			t.Skip(err)
		}
		st := &store{}
		st.fill(t, s)
		coll := st.collection(s)
		for range 6 {
			filter := "{}"
			if rapid.Bool().Draw(t, "filtered") {
				filter = drawFilter(t, 1)
			}
			m, err := match.Compile(value.MustJSON(filter), match.Options{})
			if err != nil {
				continue
			}
			sort := drawSort(t, s)
			winner, err := plan.Make(&plan.Query{Filter: m, Sort: sort}, coll)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range append(winner.Rejected, winner) {
				if p.Sorted && p.Index != nil && p.Type != plan.ByID {
					checkOrder(t, st, m, p, s, sort)
				}
			}
		}
	})
}

// drawSort draws a sort on fields of the index, mostly.
func drawSort(t *rapid.T, s *Spec) value.Doc {
	b := value.NewBuilder()
	flip := rapid.SampledFrom([]int32{1, -1}).Draw(t, "flip")
	from := rapid.IntRange(0, len(s.Fields)-1).Draw(t, "from")
	for _, f := range s.Fields[from:] {
		direction := flip
		if f.Desc {
			direction = -flip
		}
		b.Int32(f.Path, direction)
		if rapid.Bool().Draw(t, "enough") {
			break
		}
	}
	return b.Doc()
}

// scanned runs a plan and returns the matching documents in the order in
// which they first come up.
func (st *store) scanned(p *plan.Plan, m *match.Matcher) (out []int) {
	type entry struct {
		key  []byte // what the scan is ordered by
		doc  int
		turn int
	}
	var entries []entry
	for turn, r := range p.Ranges {
		for i := range st.docs {
			for _, key := range st.keys[i] {
				if !within(r, key) {
					continue
				}
				if p.Type == plan.Merge {
					key, turn = key[r.Prefix:], 0
				}
				entries = append(entries, entry{key, i, turn})
			}
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		d := bytes.Compare(a.key, b.key)
		if p.Reverse {
			d = -d
		}
		return cmp.Or(cmp.Compare(a.turn, b.turn), d)
	})
	env := expr.NewEnv(0)
	for _, e := range entries {
		if ok, err := m.Match(env, st.docs[e.doc]); ok && err == nil && !slices.Contains(out, e.doc) {
			out = append(out, e.doc)
		}
	}
	return out
}

// checkOrder compares the order of a scan with the sort key of each
// document: the least (for a sort that begins downwards, in that order) of
// the keys that an index on the sort pattern would hold.
func checkOrder(t *rapid.T, st *store, m *match.Matcher, p *plan.Plan, s *Spec, sort value.Doc) {
	by, err := Parse(value.NewDoc("key", value.Document(sort), "name", value.String("sort")), ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var last []byte
	for _, i := range st.scanned(p, m) {
		keys, _, err := by.Keys(nil, storage.Record{Doc: st.docs[i]})
		if err != nil || len(keys) == 0 {
			return
		}
		if last != nil && bytes.Compare(last, keys[0]) > 0 {
			t.Fatalf("%s does not yield %s in the order %s: %s", s.Doc(), m.Filter(), sort, st.docs[i])
		}
		last = keys[0]
	}
}
