package catalog_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
)

// dropIndexes and hints find the index on _ts that stands for document TTL by its name
// and key, with and without a real index on _ts.
func TestTSIndexIsNamed(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "plain"}`)
	h.OK(`{create: "c", documentTtl: {default: 60}}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}]}`)
	var name string
	on(h, "c", func(_ storage.Collection, m *catalog.Meta) { name = m.TSIndex.Name })
	for _, tt := range []struct {
		argument        string
		may, is, drops  bool
		rest, restPlain string
	}{
		{`"` + name + `"`, true, true, true, "", `"` + name + `"`},
		{`{_ts: 1}`, true, true, true, "", `{_ts: 1}`},
		{`"*"`, true, false, true, `"*"`, `"*"`},
		{`"a"`, false, false, false, `"a"`, `"a"`},
		{`{a: 1}`, false, false, false, `{a: 1}`, `{a: 1}`},
		{`1`, false, false, false, `1`, `1`},
		{`["a", "` + name + `", "b"]`, true, false, true, `["a", "b"]`, `["a", "` + name + `", "b"]`},
		{`["a"]`, false, false, false, `["a"]`, `["a"]`},
	} {
		v := harness.Relaxed(`{v: ` + tt.argument + `}`).Lookup("v")
		if got := catalog.MayNameTSIndex(v); got != tt.may {
			t.Errorf("%s may mean it: %v", v, got)
		}
		for coll, want := range map[string]struct {
			is, drops bool
			rest      string
		}{"c": {tt.is, tt.drops, tt.rest}, "plain": {false, false, tt.restPlain}} {
			on(h, coll, func(_ storage.Collection, m *catalog.Meta) {
				if got := m.IsTSIndex(v); got != want.is {
					t.Errorf("%s: %s means it: %v", coll, v, got)
				}
				drops, rest := m.DropsTSIndex(v)
				wanted := harness.Relaxed(`{v: null}`).Lookup("w")
				if want.rest != "" {
					wanted = harness.Relaxed(`{v: ` + want.rest + `}`).Lookup("v")
				}
				if drops != want.drops || rest.String() != wanted.String() {
					t.Errorf("%s: %s drops it: %v, rest %s, want %s", coll, v, drops, rest, wanted)
				}
			})
		}
	}
}

func TestHintAtTSIndex(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "plain"}`)
	h.OK(`{create: "c", documentTtl: {default: 60}}`)
	for _, coll := range []string{"c", "plain"} {
		on(h, coll, func(_ storage.Collection, m *catalog.Meta) {
			name := "_ts_1"
			if m.TSIndex != nil {
				name = m.TSIndex.Name
			}
			for _, tt := range []struct {
				hint    plan.Hint
				natural bool
			}{
				{plan.Hint{Name: name}, coll == "c"}, {plan.Hint{Key: harness.Relaxed(`{_ts: 1}`)}, coll == "c"},
				{plan.Hint{Name: "a"}, false}, {plan.Hint{Key: harness.Relaxed(`{a: 1}`)}, false}, {plan.Hint{}, false}, {plan.Hint{Natural: -1}, false},
			} {
				got := tt.hint
				m.ResolveHint(&got)
				if (got.Natural == 1) != tt.natural || !tt.natural && (got.Name != tt.hint.Name || got.Natural != tt.hint.Natural) {
					t.Errorf("%s: %+v becomes %+v", coll, tt.hint, got)
				}
			}
		})
	}
}
