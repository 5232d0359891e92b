package kv

import (
	"testing"

	"pgregory.net/rapid"
)

// TestGaps: whatever is noted, filled and vacated, a gap never has a key that is
// there, and the gaps are in order and do not touch.
func TestGaps(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		key := func(name string) byte { return byte(rapid.IntRange(1, 40).Draw(rt, name)) }
		present := map[byte]bool{}
		x := &Index{}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0:
				k := key("fill")
				present[k] = true
				x.fillGap([]byte{k})
			case 1:
				k := key("vacate")
				delete(present, k)
				x.widenGap([]byte{k})
			case 2: // a scan from lo notes what is before its first key
				lo := key("lo")
				hi := lo
				for hi < 41 && !present[hi] {
					hi++
				}
				x.note(gap{[]byte{lo}, []byte{hi}})
			case 3: // a ranged delete notes what it leaves behind
				lo, hi := key("first"), key("last")
				for k := lo; k <= hi; k++ {
					delete(present, k)
					x.widenGap([]byte{k})
				}
				x.note(gap{[]byte{lo}, following([]byte{hi})})
			}
			checkGaps(rt, x.knownGaps(), present)
		}
	})
}

func checkGaps(rt *rapid.T, known gaps, present map[byte]bool) {
	if len(known) > maxGaps {
		rt.Fatalf("%d gaps", len(known))
	}
	for i, g := range known {
		if string(g.lo) >= string(g.hi) || i > 0 && string(known[i-1].hi) >= string(g.lo) {
			rt.Fatalf("gaps %x", known)
		}
		for k := range present {
			if g.has([]byte{k}) {
				rt.Fatalf("%d is in %x", k, known)
			}
		}
	}
	for k := range byte(42) {
		to := known.skip([]byte{k})
		for p := range present {
			if k <= p && string([]byte{p}) < string(to) {
				rt.Fatalf("from %d on, %d is skipped", k, p)
			}
		}
		if hi := known.behind([]byte{k}); hi != nil && string(known.skip([]byte{k, 0})) != string(hi) {
			rt.Fatalf("behind %d: %x of %x", k, hi, known)
		}
	}
}

// TestGapDivided: a key that is written into a gap divides it, and when it is
// removed the parts are one again.
func TestGapDivided(t *testing.T) {
	x := &Index{}
	x.note(gap{[]byte{1}, []byte{9}})
	x.fillGap([]byte{5})
	if g := x.knownGaps(); len(g) != 2 || string(g.skip([]byte{1})) != "\x05" || string(g.behind([]byte{5})) != "\x09" {
		t.Fatalf("%x", g)
	}
	x.widenGap([]byte{5})
	if g := x.knownGaps(); len(g) != 1 || string(g.skip([]byte{1})) != "\x09" {
		t.Fatalf("%x", g)
	}
}
