package index

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// An index may narrow a query but must never hide a match: for all documents, indexes and
// filters, each matching document has a key in the ranges of each plan.

var scalars = []string{`1`, `2`, `3`, `2.5`, `null`, `"a"`, `"A"`, `"ab"`, `"b"`, `true`, `{"$date":{"$numberLong":"5"}}`, `{"$numberDouble":"NaN"}`, `{"$minKey":1}`, `{"$maxKey":1}`}

// seeds is how many random cases the tests of plans go through.
var seeds = flag.Uint64("index.seeds", 1200, "random cases for the tests of plans")

// gen draws random documents, filters and specifications. One seed always
// gives the same.
type gen struct{ *rand.Rand }

func newGen(seed uint64) gen { return gen{rand.New(rand.NewPCG(seed, 1))} }

// oneIn is true once in n times.
func (g gen) oneIn(n int) bool { return g.IntN(n) == 0 }

func (g gen) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g gen) value(depth int) string {
	n := g.IntN(10)
	switch {
	case n < 5 || depth == 0:
		return g.pick(scalars...)
	case n < 8:
		return "[" + strings.Join(g.many(0, 3, func() string { return g.value(depth - 1) }), ",") + "]"
	}
	return g.doc(depth - 1)
}

func (g gen) many(least, most int, draw func() string) (out []string) {
	for range least + g.IntN(most-least+1) {
		out = append(out, draw())
	}
	return out
}

func (g gen) doc(depth int) string {
	var fields []string
	for _, name := range []string{"a", "b", "c"} {
		if !g.oneIn(3) {
			fields = append(fields, fmt.Sprintf("%q:%s", name, g.value(depth)))
		}
	}
	return "{" + strings.Join(fields, ",") + "}"
}

var (
	usualPaths = []string{"a.b", "a.c", "a", "b"}
	rarePaths  = []string{"c", "a.b.c", "a.0", "b.a", "b.1", "a.0.b", "b.c"}
)

func (g gen) path() string {
	if g.oneIn(6) {
		return g.pick(rarePaths...)
	}
	return g.pick(usualPaths...)
}

var operators = []string{"$eq", "$gt", "$gte", "$lt", "$lte", "$gt", "$lt", "$ne", "$in", "$nin", "$exists", "$type", "$regex", "$not", "$elemMatch", "$elemMatch", "$size", "$mod", "$all"}

func (g gen) operator(depth int) string {
	op := g.pick(operators...)
	switch op {
	case "$in", "$nin", "$all":
		return fmt.Sprintf("%q:[%s]", op, strings.Join(g.many(0, 3, func() string { return g.value(1) }), ","))
	case "$exists":
		return `"$exists":` + g.pick("true", "false")
	case "$type":
		return `"$type":` + g.pick(`"number"`, `"string"`, `"null"`, `"array"`, `"object"`, `"int"`, `["bool","date"]`)
	case "$regex":
		return `"$regex":` + g.pick(`"^a"`, `"b"`, `"^ab$"`, `"^a*"`)
	case "$size":
		return `"$size":` + g.pick("0", "1", "2")
	case "$mod":
		return `"$mod":[2,1]`
	case "$not", "$elemMatch":
		if depth == 0 {
			return `"$eq":` + g.value(1)
		}
		if op == "$elemMatch" && g.oneIn(2) {
			return `"$elemMatch":` + g.filter(depth-1)
		}
		return fmt.Sprintf("%q:{%s}", op, g.operators(depth-1))
	}
	return fmt.Sprintf("%q:%s", op, g.value(1))
}

func (g gen) operators(depth int) string {
	a := g.operator(depth)
	if g.oneIn(3) {
		if b := g.operator(depth); b[:4] != a[:4] {
			return a + "," + b
		}
	}
	return a
}

func (g gen) filter(depth int) string {
	var parts []string
	seen := map[string]bool{}
	for range 1 + g.IntN(3) {
		path := g.path()
		switch {
		case seen[path]:
		case g.oneIn(4):
			parts = append(parts, fmt.Sprintf("%q:%s", path, g.value(2)))
		default:
			parts = append(parts, fmt.Sprintf("%q:{%s}", path, g.operators(depth)))
		}
		seen[path] = true
	}
	if depth > 0 && g.oneIn(4) {
		parts = append(parts, fmt.Sprintf("%q:[%s,%s]", g.pick("$or", "$nor", "$and"), g.filter(depth-1), g.filter(depth-1)))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

var partials = []string{
	`{"a":{"$gt":1}}`, `{"b":{"$exists":true}}`, `{"a":{"$type":"number"},"c":{"$lte":3}}`, `{"$or":[{"a":2},{"b":{"$in":[1,"a"]}}]}`, `{"a":null}`,
}

// folding is a collation without regard to case.
const folding = `{"locale":"en","strength":2}`

func (g gen) spec() string {
	kind := g.IntN(10)
	switch kind {
	case 0:
		return `{"key":{"` + g.pick("$**", "a.$**") + `":1}}`
	case 1:
		return `{"key":{"` + g.path() + `":"hashed","c":1}}`
	}
	var fields []string
	seen := map[string]bool{}
	for range 1 + g.IntN(3) {
		if path := g.path(); !seen[path] {
			seen[path] = true
			fields = append(fields, fmt.Sprintf("%q:%s", path, g.pick("1", "-1")))
		}
	}
	spec := `{"key":{` + strings.Join(fields, ",") + `}`
	switch kind {
	case 2:
		spec += `,"sparse":true`
	case 4:
		spec += `,"collation":` + folding
	case 3:
		spec += `,"partialFilterExpression":` + g.pick(partials...)
	}
	return spec + "}"
}

// each runs a check on many random collections with a random index.
func each(t *testing.T, check func(g gen, s *Spec, st *store)) {
	for seed := range *seeds {
		g := newGen(seed)
		s, err := Parse(withName(value.MustJSON(g.spec())), ParseOptions{})
		if err != nil {
			continue
		}
		st := &store{}
		for range 2 + g.IntN(10) {
			st.add(s, g.doc(3))
		}
		check(g, s, st)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// store is a collection of documents with one index.
type store struct {
	docs     []value.Doc
	keys     [][][]byte
	multikey storage.Multikey
	entries  int64
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
	st.multikey |= multikey
	st.entries += int64(len(keys))
}

// collection describes the store to the planner.
func (st *store) collection(s *Spec) *plan.Collection {
	x := s.Plan()
	x.Entries, x.Multikey = st.entries, plan.Multikey(st.multikey)
	return &plan.Collection{Indexes: []*plan.Index{x}, Count: int64(len(st.docs)), Estimate: st.estimate}
}

func within(r plan.Range, key []byte) bool {
	return bytes.Compare(r.Lo, key) <= 0 && (len(r.Hi) == 0 || bytes.Compare(key, r.Hi) < 0)
}

// finds reports whether a plan finds the i-th document.
func (st *store) finds(p *plan.Plan, i int) bool {
	switch p.Type {
	case plan.CollScan:
		return true
	case plan.Nothing:
		return false
	case plan.Union:
		return slices.ContainsFunc(p.Parts, func(part *plan.Plan) bool { return st.finds(part, i) })
	}
	for at := range p.Ranges.Len() {
		if slices.ContainsFunc(st.keys[i], func(key []byte) bool { return within(p.Ranges.At(at), key) }) {
			return true
		}
	}
	return false
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
	fold, err := collation.Parse(value.MustJSON(folding))
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(g gen, s *Spec, st *store) {
		for range 6 {
			o, q := match.Options{}, plan.Query{}
			if g.oneIn(3) {
				o.Collation, q.Collation = fold, fold.Doc()
			}
			if q.Matcher, err = match.Compile(value.MustJSON(g.filter(2)), o); err != nil {
				continue
			}
			winner, err := plan.Make(&q, st.collection(s))
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range append(winner.Rejected, winner) {
				checkPlan(t, st, q.Matcher, p, s)
			}
		}
	})
}

func checkPlan(t testing.TB, st *store, m *match.Matcher, p *plan.Plan, s *Spec) {
	t.Helper()
	if problem := planProblem(st, m, p, s); problem != "" {
		t.Error(problem)
	}
}

// planProblem says what is wrong with a plan, "" for nothing.
func planProblem(st *store, m *match.Matcher, p *plan.Plan, s *Spec) string {
	env := newEnv()
	for i, doc := range st.docs {
		ok, err := m.Match(env, doc)
		if err != nil {
			return ""
		}
		found := st.finds(p, i)
		if ok == found || !ok && !p.Exact {
			continue
		}
		scan := p.Explain(&plan.Shape{}).Scan(0).Detail
		if ok {
			return fmt.Sprintf("%s (multikey %v) hides %s from %s\n%v", s.Doc(), st.multikey, doc, m.Filter(), scan)
		}
		return fmt.Sprintf("%s claims that %s is exact, but %s does not match\n%v", s.Doc(), m.Filter(), doc, scan)
	}
	return ""
}

func TestSortProvidedByIndex(t *testing.T) {
	each(t, func(g gen, s *Spec, st *store) {
		for range 6 {
			filter := "{}"
			if !g.oneIn(4) {
				filter = g.filter(1)
			}
			m, err := match.Compile(value.MustJSON(filter), match.Options{})
			if err != nil {
				continue
			}
			sort := g.sort(s)
			winner, err := plan.Make(&plan.Query{Matcher: m, Sort: sort}, st.collection(s))
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

// sort draws a sort on fields of the index.
func (g gen) sort(s *Spec) value.Doc {
	b := value.NewBuilder()
	flip := int32(1)
	if g.oneIn(2) {
		flip = -1
	}
	for _, f := range s.Fields[g.IntN(len(s.Fields)):] {
		direction := flip
		if f.Desc {
			direction = -flip
		}
		b.Int32(f.Path, direction)
		if g.oneIn(2) {
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
	for turn := range p.Ranges.Len() {
		r := p.Ranges.At(turn)
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
	env := newEnv()
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
func checkOrder(t testing.TB, st *store, m *match.Matcher, p *plan.Plan, s *Spec, sort value.Doc) {
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
		key := by.Order(keys[0])
		if last != nil && bytes.Compare(last, key) > 0 {
			t.Errorf("%s does not yield %s in the order %s: %s", s.Doc(), m.Filter(), sort, st.docs[i])
		}
		last = key
	}
}

func newEnv() *expr.Env { return expr.NewEnv(0) }
