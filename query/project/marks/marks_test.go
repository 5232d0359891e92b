package marks

import "testing"

func TestSet(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 200} {
		var s Set
		for i := range n {
			if s.Has(i) {
				t.Fatalf("%d of %d is there before it was added", i, n)
			}
			if i%3 == 0 {
				s.Add(i, n)
			}
		}
		for i := range n {
			if s.Has(i) != (i%3 == 0) {
				t.Errorf("%d of %d: Has is %v", i, n, s.Has(i))
			}
		}
	}
}

func TestSetTakesNoMemory(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		var s Set
		for i := range 64 {
			s.Add(i, 64)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
