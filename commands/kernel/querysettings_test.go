package kernel_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/value"
)

// $querySettings shows the stored query settings; the query is missing if only its hash
// was given.
func TestQuerySettings(t *testing.T) {
	t.Parallel()
	s := kernel.ReadQuerySettings(harness.Relaxed(`{_id: "querySettings", settingsArray: [
		{queryShapeHash: "AA", settings: {reject: true}, representativeQuery: {find: "c", $db: "test"}},
		{queryShapeHash: "BB", settings: {queryFramework: "classic"}}]}`))
	for hash, want := range map[string]string{
		"AA": `{ queryShapeHash: "AA", settings: { reject: true }, representativeQuery: { find: "c", $db: "test" } }`,
		"BB": `{ queryShapeHash: "BB", settings: { queryFramework: "classic" } }`,
	} {
		b := value.NewBuilder()
		s.Find(hash).AppendTo(b)
		if got := b.Doc().String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if s.Find("CC") != nil || len(s) != 2 || kernel.ReadQuerySettings(nil) != nil {
		t.Errorf("%v", s)
	}
	if kernel.OrEmpty(nil).String() != "{}" || kernel.OrEmpty(value.MustJSON(`{"a": 1}`)).String() != "{ a: 1 }" {
		t.Error("nil is the empty document, and nothing else")
	}
}

// An index filter restricts the planner to the indexes that it lists, by name or by key,
// and overrides a hint (the manual: planCacheSetFilter).
func TestIndexFilter(t *testing.T) {
	t.Parallel()
	key := func(s string) value.Doc { return value.MustJSON(s) }
	pq := &plan.Query{Hint: plan.Hint{Name: "b_1"}}
	pc := &plan.Collection{Indexes: []*plan.Index{
		{Name: "_id_", Key: key(`{"_id": 1}`)}, {Name: "a_1", Key: key(`{"a": 1}`)}, {Name: "b_1", Key: key(`{"b": 1}`)}, {Name: "c_d", Key: key(`{"c": 1, "d": -1}`)}, {Name: "d_c", Key: key(`{"d": -1, "c": 1}`)},
	}}
	f := kernel.IndexFilter{Indexes: harness.Relaxed(`{i: ["a_1", {c: 1, d: -1}, {e: 1}, "none", 7]}`).Lookup("i").Doc()}
	f.Apply(pq, pc)
	var names []string
	for _, x := range pc.Indexes {
		names = append(names, x.Name)
	}
	if got := strings.Join(names, " "); got != "a_1 c_d" || pq.Hint.Name != "" {
		t.Errorf("indexes %s, hint %v", got, pq.Hint)
	}
}
