package stage_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// What was set is found again, and nothing else has changed.
func TestSetPath(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := aggtest.GenDoc(rt, 1)
		path := aggtest.GenPath(rt)
		v := value.MustJSON(`{"v": ` + aggtest.GenValue(rt, 1) + `}`).Lookup("v")
		got := stage.SetPath(d, strings.Split(path, "."), v)
		if err := value.Validate(got); err != nil {
			rt.Fatal(err)
		}
		if w := value.ParsePath(path).Get(got); w.JSON() != v.JSON() {
			rt.Fatalf("%s at %s of %s", w.JSON(), path, got)
		}
		for k, old := range d.All() {
			if k != stage.TopField(path) && got.Lookup(k).JSON() != old.JSON() {
				rt.Fatalf("%s changed: %s", k, got)
			}
		}
		if removed := stage.SetPath(got, strings.Split(path, "."), value.Value{}); !value.ParsePath(path).Get(removed).IsMissing() {
			rt.Fatalf("%s is still in %s", path, removed)
		}
	})
}
