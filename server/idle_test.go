package server

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// TestIdleRelease: memory is returned to the system once after much was allocated, when
// the server is idle again and not while it works.
func TestIdleRelease(t *testing.T) {
	const mb = 1 << 20
	var allocated, live uint64
	freed, busy := 0, false
	data := int64(0)
	repacked, unused := 0, uint64(0)
	r := &idleRelease{
		free:   func() { freed++ },
		read:   func() (uint64, uint64, uint64) { return allocated, live, unused },
		repack: func() { repacked++; allocated += 500 * mb },
		start:  func(f func()) { f() },
	}
	steps := func(n int, perSecond uint64) {
		for range n {
			allocated += perSecond
			r.step(busy, func() int64 { return data })
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
	live = 10 * mb
	for _, s := range []struct {
		what    string
		seconds int
		data    int64
		want    int
	}{
		{"data come", 30, 100 * mb, 4},
		{"a few go", 30, 80 * mb, 4},
		{"some more go", 4, 70 * mb, 5},
		{"no more", 30, 70 * mb, 5},
		{"they come and go", 30, 10 * mb, 6},
		{"little is left to go", 30, 0, 6},
	} {
		data = s.data
		if steps(s.seconds, 0); freed != s.want {
			t.Errorf("%s: given back %d times, want %d", s.what, freed, s.want)
		}
	}
	if repacked != 0 {
		t.Errorf("repacked %d times although nothing lay unused", repacked)
	}
	freed = 0
	for _, s := range []struct {
		what           string
		live, unused   uint64
		freed, repacks int
	}{
		{"little lies between", 10 * mb, 20 * mb, 1, 0},
		{"much does", 10 * mb, 30 * mb, 3, 1}, // and what moving it allocated is no reason to do it again
		{"not much of what is alive", 1000 * mb, 200 * mb, 4, 1},
		{"much of it", 1000 * mb, 300 * mb, 6, 2},
	} {
		live, unused = s.live, s.unused
		steps(1, 300*mb)
		steps(30, 0)
		if freed != s.freed || repacked != s.repacks {
			t.Errorf("%s: given back %d times, want %d, repacked %d times, want %d", s.what, freed, s.freed, repacked, s.repacks)
		}
	}
	held := func() {}
	r.start = func(f func()) { held = f }
	steps(1, 300*mb)
	steps(30, 0)
	busyNow := freed
	if steps(1, 300*mb); freed != busyNow {
		t.Errorf("given back %d times before the first was over", freed-busyNow)
	}
	held()
	if freed != busyNow+2 || r.releasing.Load() {
		t.Errorf("given back %d times, want twice; still at it: %t", freed-busyNow, r.releasing.Load())
	}
}

// TestResidentData: the size is that of the documents, and falls when a collection is
// dropped. Without a commit, it is not added up again.
func TestResidentData(t *testing.T) {
	const size = 1 << 20
	s := serveConfig(t, Config{DBPath: t.TempDir()})
	c := dial(t, s)
	d := residentData{engine: s.service.Engine}
	before := d.read(t.Context())
	c.ok(t, value.NewDoc("insert", value.String("c"), "documents", value.NewArray(value.Document(value.NewDoc("s", value.String(strings.Repeat("x", size))))), "$db", value.String("test")))
	full := d.read(t.Context())
	if full-before < size {
		t.Errorf("%d bytes more after an insert of %d", full-before, size)
	}
	d.bytes++ // seen if nothing is read
	if got := d.read(t.Context()); got != full+1 {
		t.Errorf("%d bytes without a commit, want %d", got, full+1)
	}
	c.ok(t, value.NewDoc("drop", value.String("c"), "$db", value.String("test")))
	if got := d.read(t.Context()); full-got < size/2 { // the drop has an entry in the change log
		t.Errorf("%d bytes less after a drop of %d", full-got, size)
	}
}
