package value

import (
	"fmt"
	"testing"
)

// TestNameIndex compares an index with a map.
func TestNameIndex(t *testing.T) {
	t.Parallel()
	var x NameIndex
	var list []string
	want := map[string]int{}
	name := func(place int) string { return list[place] }
	for i := range 5000 {
		list = append(list, fmt.Sprint(i*i%3001))
		want[list[i]] = i
		x.Add(list[i], i, name)
	}
	for i := range 4000 {
		place, ok := want[fmt.Sprint(i)]
		if !ok {
			place = -1
		}
		if got := x.Find(fmt.Sprint(i), name); got != place {
			t.Fatalf("%d is at %d, not at %d", i, got, place)
		}
	}
	if x.Reset(); x.Find("1", name) != -1 {
		t.Error("an empty index has a name")
	}
}
