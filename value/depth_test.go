package value

import "testing"

func TestDeeperThan(t *testing.T) {
	for name, wrap := range map[string]func(Doc) Doc{
		"documents": func(d Doc) Doc { return NewDoc("", Document(d)) },
		"arrays":    func(d Doc) Doc { return NewDoc("a", NewArray(Int32(1), Document(d))) },
		"wide":      func(d Doc) Doc { return NewDoc("x", String("some text"), "a", Document(EmptyDoc), "b", Document(d)) },
	} {
		d, levels := EmptyDoc, 1
		for levels < 300 {
			for _, limit := range []int{0, 1, levels - 1, levels, levels + 1, 200, 1000} {
				if got := d.DeeperThan(limit); got != (levels > limit) {
					t.Fatalf("%s: %d levels, more than %d: %v", name, levels, limit, got)
				}
			}
			before := levels
			d = wrap(d)
			if levels++; name == "arrays" {
				levels++
			}
			if levels == before {
				t.Fatal(name)
			}
		}
	}
}
