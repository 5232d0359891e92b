package bunt

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
)

// rootModel is a version of a root and what must be in it.
type rootModel struct {
	root *root
	want map[storage.Namespace]*coll
}

// check compares all that can be read. No state of a collection may be kept that is not the
// present one.
func (m *rootModel) check(t *rapid.T) {
	t.Helper()
	names := slices.SortedFunc(maps.Keys(m.want), func(a, b storage.Namespace) int {
		return strings.Compare(a.DB+"\x00"+a.Coll, b.DB+"\x00"+b.Coll)
	})
	var got []storage.Namespace
	m.root.all(func(c *coll) {
		got = append(got, c.info.Namespace)
		if m.want[c.info.Namespace] != c {
			t.Fatalf("%s: another state", c.info.Namespace)
		}
	})
	if !slices.Equal(got, names) {
		t.Fatalf("collections %v, want %v", got, names)
	}
	m.root.tree.Scan(func(e catalogEntry) bool {
		if e.coll != nil && e.coll != m.want[e.ns] {
			t.Fatalf("the tree keeps an old state of %s", e.ns)
		}
		return true
	})
	for _, c := range m.root.latest {
		if c != nil && c != m.want[c.info.Namespace] {
			t.Fatalf("an old state of %s among the latest", c.info.Namespace)
		}
	}
}

func genName(t *rapid.T) storage.Namespace {
	return storage.Namespace{DB: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "db"), Coll: fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "coll"))}
}

// TestRoot compares versions of a root with maps while they are changed and forked. Only the
// newest version is changed, as by the one writer.
func TestRoot(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := &rootModel{newRoot(), map[storage.Namespace]*coll{}}
		var old []*rootModel
		num := uint32(0)
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				ns := genName(t)
				num++
				c := &coll{num: num, info: &storage.Info{Namespace: ns}}
				now.root.set(c)
				now.want[ns] = c
			},
			"remove": func(t *rapid.T) {
				ns := genName(t)
				now.root.remove(ns)
				delete(now.want, ns)
			},
			"get": func(t *rapid.T) {
				ns := genName(t)
				if got := now.root.get(ns); got != now.want[ns] {
					t.Fatalf("%s: %v, want %v", ns, got, now.want[ns])
				}
			},
			"each": func(t *rapid.T) {
				from := genName(t)
				now.root.each(from, func(c *coll) bool {
					if catalogLess(catalogEntry{ns: c.info.Namespace}, catalogEntry{ns: from}) {
						t.Fatalf("%s is before %s", c.info.Namespace, from)
					}
					return rapid.Bool().Draw(t, "more")
				})
			},
			"fork": func(t *rapid.T) {
				old = append(old, now)
				now = &rootModel{now.root.fork(), maps.Clone(now.want)}
			},
			"": func(t *rapid.T) {
				now.check(t)
				for _, m := range old {
					m.check(t)
				}
			},
		})
	})
}
