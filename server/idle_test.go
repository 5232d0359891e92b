package server

import "testing"

// TestIdleRelease: memory is returned to the system once after much was allocated, when
// the server is idle again and not while it works.
func TestIdleRelease(t *testing.T) {
	const mb = 1 << 20
	var allocated, live uint64
	freed, busy := 0, false
	r := &idleRelease{free: func() { freed++ }, read: func() (uint64, uint64) { return allocated, live }}
	steps := func(n int, perSecond uint64) {
		for range n {
			allocated += perSecond
			r.step(busy)
		}
	}
	for _, s := range []struct {
		what    string
		seconds int
		rate    uint64
		live    uint64
		want    int
		busy    bool
	}{
		{"little to do", 30, mb, 10 * mb, 0, false},
		{"busy", 10, 100 * mb, 10 * mb, 0, false},
		{"not quiet for long", 2, 0, 10 * mb, 0, false},
		{"busy again", 2, 10 * mb, 10 * mb, 0, false},
		{"quiet", 30, mb / 10, 10 * mb, 1, false},
		{"one more request", 1, 50 * mb, 10 * mb, 1, false},
		{"which was not much", 10, 0, 10 * mb, 1, false},
		{"one that was", 1, 100 * mb, 10 * mb, 1, false},
		{"quiet", 10, 0, 10 * mb, 2, false},
		{"much, but little of what is alive", 1, 300 * mb, 4000 * mb, 2, false},
		{"quiet", 10, 0, 4000 * mb, 2, false},
		{"enough", 10, 100 * mb, 4000 * mb, 2, false},
		{"quiet", 10, 0, 4000 * mb, 3, false},
		{"a large operation allocates", 1, 300 * mb, 10 * mb, 3, true},
		{"and computes", 30, 0, 300 * mb, 3, true},
		{"and is over", 10, 0, 300 * mb, 4, false},
	} {
		live, busy = s.live, s.busy
		if steps(s.seconds, s.rate); freed != s.want {
			t.Errorf("%s: given back %d times, want %d", s.what, freed, s.want)
		}
	}
}
