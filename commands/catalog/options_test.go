package catalog_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Options keep their order; new ones follow, and a removed one is gone.
func TestOptions(t *testing.T) {
	t.Parallel()
	o := catalog.NewOptions(harness.Relaxed(`{a: 1, b: 2, c: 3}`))
	if o.SetDefault("a", value.Int32(9)); o.Changed {
		t.Error("a default replaces what is there")
	}
	o.Set("b", value.Int32(5))
	o.Set("a", value.Value{})
	o.SetDefault("d", value.Int32(4))
	if got := o.Doc().JSON(); got != harness.Relaxed(`{b: 5, c: 3, d: 4}`).JSON() || !o.Changed {
		t.Errorf("%s, changed %v", got, o.Changed)
	}
}

// That document TTL is about to end is the server's own affair: clients see the options
// without it.
func TestOptionsOfEndingPolicy(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "c", documentTtl: {default: 60}}`)
	var before value.Doc
	on(h, "c", func(coll storage.Collection, m *catalog.Meta) {
		info := coll.Info()
		before = info.Options.Clone()
		if got := catalog.LastingOptions(info); string(got) != string(info.Options) {
			t.Errorf("%s, want %s", got, info.Options)
		}
		ending := *info
		ending.Options = catalog.PolicyEnding(info, m.DocTTL, 12345, "")
		if string(ending.Options) == string(info.Options) {
			t.Error("the end is not noted")
		}
		ending.Meta = catalog.NewIndexer().Attach(&ending)
		if p := catalog.Of(&ending).DocTTL; p == nil || p.Until != 12345 {
			t.Errorf("policy %+v", p)
		}
		if got := catalog.LastingOptions(&ending); got.JSON() != before.JSON() {
			t.Errorf("shown %s, want %s", got, before)
		}
	})
}
