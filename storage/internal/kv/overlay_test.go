package kv

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestOverlay: reads through the writes of a transaction show the store with these writes
// over it, in both directions, from any bound.
func TestOverlay(t *testing.T) {
	t.Parallel()
	key := rapid.Map(rapid.IntRange(0, 15), func(n int) string { return fmt.Sprintf("%02d", n) })
	rapid.Check(t, func(rt *rapid.T) {
		s := newMemStore()
		var w WriteSet
		model := map[string]string{}
		for i, k := range rapid.SliceOf(key).Draw(rt, "stored") {
			model[k] = fmt.Sprint("old", i)
			w.Set([]byte(k), []byte(model[k]))
		}
		_, err := s.Apply(t.Context(), &w)
		must(t, err)
		snap, err := s.Snapshot()
		must(t, err)
		over := new(Overlay)
		r := reader{snap: snap, Overlay: over}
		for i, k := range rapid.SliceOf(key).Draw(rt, "written") {
			switch rapid.IntRange(0, 4).Draw(rt, "kind") {
			case 0:
				over.Delete([]byte(k))
				delete(model, k)
			case 1:
				hi := key.Draw(rt, "hi")
				over.clear(Span{Lo: []byte(k), Hi: []byte(hi)})
				for written := range model { // as the store has it
					if written >= k && written < hi {
						delete(model, written)
					}
				}
				for _, x := range w.Writes {
					if string(x.Key) >= k && string(x.Key) < hi {
						model[string(x.Key)] = string(x.Value)
					}
				}
			default:
				model[k] = fmt.Sprint("new", i)
				over.Set([]byte(k), []byte(model[k]))
			}
		}
		lo, hi, reverse := key.Draw(rt, "lo"), key.Draw(rt, "hi"), rapid.Bool().Draw(rt, "reverse")
		var want []string
		for _, k := range slices.Sorted(maps.Keys(model)) {
			if k >= lo && k < hi {
				want = append(want, k+"="+model[k])
			}
		}
		if reverse {
			slices.Reverse(want)
		}
		frozen := r.frozen(Span{Lo: []byte(lo), Hi: []byte(hi)})
		it := r.scan(t.Context(), Span{Lo: []byte(lo), Hi: []byte(hi)}, reverse)
		over.Set([]byte("05x"), []byte("later")) // a scan shows the state at its beginning
		for what, it := range map[string]Iterator{"scan": it, "frozen": frozen.scan(t.Context(), Span{Lo: []byte(lo), Hi: []byte(hi)}, reverse)} {
			var got []string
			for it.Next() {
				v, err := it.Value()
				must(t, err)
				got = append(got, string(it.Key())+"="+string(v))
			}
			if err := it.Close(); err != nil || !slices.Equal(got, want) {
				rt.Fatalf("%s: %v, %v, want %v", what, got, err, want)
			}
		}
		for k := range 16 {
			k := fmt.Sprintf("%02d", k)
			v, err := r.getCached(t.Context(), []byte(k), false)
			if string(v) != model[k] || err != nil {
				rt.Fatalf("%s is %q, %v, want %q", k, v, err, model[k])
			}
		}
	})
}
