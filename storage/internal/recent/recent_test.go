package recent

import (
	"maps"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// model is a version of a map and what must be in it.
type model struct {
	m    Map[int, int]
	want map[int]*int
}

// check compares all that can be read. No value may be kept that is not the present one.
func (m *model) check(t *rapid.T) {
	t.Helper()
	var got []int
	m.m.All(func(k int, v *int) {
		got = append(got, k)
		if m.want[k] != v {
			t.Fatalf("%d: another value", k)
		}
	})
	if !slices.Equal(got, slices.Sorted(maps.Keys(m.want))) || m.m.Len() != len(m.want) {
		t.Fatalf("keys %v, want %v", got, m.want)
	}
	m.m.tree.Scan(func(x item[int, int]) bool {
		if x.value != nil && x.value != m.want[x.key] {
			t.Fatalf("the tree keeps an old value of %d", x.key)
		}
		return true
	})
	for _, x := range m.m.latest {
		if x.value != nil && x.value != m.want[x.key] {
			t.Fatalf("an old value of %d among the latest", x.key)
		}
	}
}

// TestMap compares versions of a map with maps of Go while they are changed and forked. Only
// the newest version is changed, as by the one writer.
func TestMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		genKey := rapid.IntRange(0, 19)
		now := &model{New[int, int](func(a, b int) bool { return a < b }), map[int]*int{}}
		var old []*model
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				k, v := genKey.Draw(t, "key"), new(int)
				now.m.Set(k, v)
				now.want[k] = v
			},
			"delete": func(t *rapid.T) {
				k := genKey.Draw(t, "key")
				now.m.Delete(k)
				delete(now.want, k)
			},
			"get": func(t *rapid.T) {
				k := genKey.Draw(t, "key")
				if got := now.m.Get(k); got != now.want[k] {
					t.Fatalf("%d: %v, want %v", k, got, now.want[k])
				}
			},
			"each": func(t *rapid.T) {
				from, most := genKey.Draw(t, "from"), rapid.IntRange(1, 20).Draw(t, "most")
				var got, want []int
				for _, k := range slices.Sorted(maps.Keys(now.want)) {
					if k >= from && len(want) < most {
						want = append(want, k)
					}
				}
				now.m.Each(from, func(k int, v *int) bool {
					got = append(got, k)
					return now.want[k] == v && len(got) < most
				})
				if !slices.Equal(got, want) {
					t.Fatalf("from %d: %v, want %v", from, got, want)
				}
			},
			"fork": func(t *rapid.T) {
				old = append(old, now)
				now = &model{now.m.Fork(), maps.Clone(now.want)}
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

// TestForks: several may fork one version at the same time, and none sees what another has
// changed.
func TestForks(t *testing.T) {
	t.Parallel()
	base := New[int, int](func(a, b int) bool { return a < b })
	for k := range 100 {
		base.Set(k, new(int))
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			f := base.Fork()
			for k := range 100 {
				v := w
				f.Set(k, &v)
			}
			f.All(func(k int, v *int) {
				if *v != w {
					t.Errorf("fork %d has %d at %d", w, *v, k)
				}
			})
		})
	}
	wg.Wait()
	base.All(func(k int, v *int) {
		if *v != 0 {
			t.Errorf("%d at %d", *v, k)
		}
	})
}
