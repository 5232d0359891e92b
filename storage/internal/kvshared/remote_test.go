package kvshared

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// rowsOf makes a database with records and an entry for each, all of collection 1.
func rowsOf(tb testing.TB, records int) (*server, [][]byte) {
	tb.Helper()
	d := newDatabase()
	s := d.server("s")
	w := &kv.WriteSet{}
	var entries [][]byte
	for i := range records {
		id := storage.RecordID(i + 1)
		entry := kv.OrderSpan(1, 2, fmt.Appendf(nil, "%05d", i)).Lo
		entry = append(entry, 0, 1, 0, 0, 0, 0, 0, 0, byte(id>>8), byte(id))
		entries = append(entries, entry)
		w.Set(kv.AppendRecordKey(nil, 1, id), fmt.Append(nil, "record ", id))
		w.Set(entry, []byte{})
	}
	d.now = d.now.with(w, Head{Version: 1})
	return s, entries
}

// TestPager: a range that is read in pages is the range, in both directions, whatever is
// known of it in advance.
func TestPager(t *testing.T) {
	t.Parallel()
	s, entries := rowsOf(t, 60)
	rapid.Check(t, func(rt *rapid.T) {
		lo := rapid.IntRange(0, len(entries)-1).Draw(rt, "lo")
		hi := rapid.IntRange(0, len(entries)-1).Draw(rt, "hi")
		reverse := rapid.Bool().Draw(rt, "reverse")
		joined := rapid.Bool().Draw(rt, "joined")
		hint := kv.ScanHint{Rows: rapid.IntRange(0, 20).Draw(rt, "wanted")}
		span := kv.Span{Lo: entries[lo], Hi: entries[hi]}
		state := remoteState{s.Snapshot(0, false)}
		var it kv.Iterator
		switch {
		case joined:
			it = state.ScanRecords(t.Context(), span, reverse, false, hint)
		case hint.Rows > 0:
			it = state.ScanSome(t.Context(), span, reverse, hint)
		default:
			it = state.Scan(t.Context(), span.Lo, span.Hi, reverse)
		}
		var got [][]byte
		for it.Next() {
			got = append(got, it.Key())
			v, err := it.Value()
			want := ""
			if joined {
				want = fmt.Sprint("record ", slices.IndexFunc(entries, func(e []byte) bool { return bytes.Equal(e, it.Key()) })+1)
			}
			if err != nil || string(v) != want {
				rt.Fatalf("the value of %x is %q, %v, want %q", it.Key(), v, err, want)
			}
		}
		var want [][]byte
		if lo < hi {
			want = slices.Clone(entries[lo:hi])
		}
		if reverse {
			slices.Reverse(want)
		}
		if err := it.Close(); err != nil || !slices.EqualFunc(got, want, bytes.Equal) {
			rt.Fatalf("%d rows, %v, want %d", len(got), err, len(want))
		}
	})
}

// TestPagerFails: an error ends a scan, and its Close returns it.
func TestPagerFails(t *testing.T) {
	t.Parallel()
	s, entries := rowsOf(t, 20)
	state := remoteState{s.Snapshot(0, false)}
	it := state.Scan(t.Context(), entries[0], entries[19], false)
	for range 5 { // the first page
		if !it.Next() {
			t.Fatal("a page is short")
		}
	}
	s.failing("read", 1, errLost)
	if it.Next() || !errors.Is(it.Close(), errLost) || it.Next() {
		t.Error("a scan goes on behind a failure")
	}
}

// TestGetMany: values that are read together, in several trips, come in the order of their
// keys, and those that do not exist are left out.
func TestGetMany(t *testing.T) {
	t.Parallel()
	s, _ := rowsOf(t, 3)
	var keys [][]byte
	for i := range 2*maxPoints + 5 {
		keys = append(keys, kv.AppendRecordKey(nil, 1, storage.RecordID(i%4+1))) // each fourth is missing
	}
	n, at := 0, -1
	state := remoteState{s.Snapshot(0, false)}
	trips := s.counted("read", func() {
		must(t, state.GetMany(t.Context(), keys, func(i int, v []byte) bool {
			if n++; i <= at || string(v) != fmt.Sprint("record ", i%4+1) {
				t.Fatalf("value %d is %q", i, v)
			}
			at = i
			return true
		}))
	})
	if want := 3 * (len(keys) + 1) / 4; n != want || trips != 3 {
		t.Errorf("%d values in %d trips, want %d", n, trips, want)
	}
	n = 0
	must(t, state.GetMany(t.Context(), keys, func(int, []byte) bool { n++; return n < 2 }))
	if n != 2 {
		t.Errorf("%d values after the caller had enough", n)
	}
}

// TestReplay: what a dry run reads the run that counts reads again, in the state under the
// lock, from memory if nothing has changed.
func TestReplay(t *testing.T) {
	t.Parallel()
	s, entries := rowsOf(t, 30)
	rapid.Check(t, func(rt *rapid.T) {
		d := s.db
		set := &readSet{}
		from := recordingState{remoteState{s.Snapshot(0, false)}, set, nil, true}
		type read func(j kv.Joiner) string
		var reads []read
		kinds := map[string]bool{}
		for range rapid.IntRange(1, 4).Draw(rt, "reads") {
			at := rapid.IntRange(0, 20).Draw(rt, "at")
			max := rapid.IntRange(1, 9).Draw(rt, "rows")
			reverse := rapid.Bool().Draw(rt, "reverse")
			span := kv.Span{Lo: entries[at], Hi: entries[29]}
			id := storage.RecordID(rapid.Int64Range(1, 33).Draw(rt, "record"))
			take := func(it kv.Iterator) (out string) {
				for n := 0; n < max && it.Next(); n++ {
					v, _ := it.Value()
					out += fmt.Sprintf("%x=%s ", it.Key(), v)
				}
				return out + fmt.Sprint(it.Close())
			}
			kind := rapid.SampledFrom([]string{"get", "many", "first", "record", "scan", "joined"}).Draw(rt, "kind")
			kinds[kind] = true
			reads = append(reads, map[string]read{
				"get": func(j kv.Joiner) string {
					v, err := j.Get(t.Context(), kv.AppendRecordKey(nil, 1, id))
					return fmt.Sprintf("%s %v", v, err)
				},
				"many": func(j kv.Joiner) (out string) {
					keys := [][]byte{kv.AppendRecordKey(nil, 1, id), kv.AppendRecordKey(nil, 1, 99), kv.AppendRecordKey(nil, 1, id/2+1)}
					err := j.GetMany(t.Context(), keys, func(i int, v []byte) bool { out += fmt.Sprintf("%d=%s ", i, v); return true })
					return out + fmt.Sprint(err)
				},
				"first": func(j kv.Joiner) string {
					key, err := j.First(t.Context(), span)
					return fmt.Sprintf("%x %v", key, err)
				},
				"record": func(j kv.Joiner) string {
					key, rec, err := j.FirstRecord(t.Context(), span, false)
					return fmt.Sprintf("%x %s %v", key, rec, err)
				},
				"scan":   func(j kv.Joiner) string { return take(j.Scan(t.Context(), span.Lo, span.Hi, reverse)) },
				"joined": func(j kv.Joiner) string { return take(j.ScanRecords(t.Context(), span, reverse, false, kv.ScanHint{})) },
			}[kind])
		}
		for _, r := range reads {
			r(from)
		}
		before := d.now
		defer func() { d.now = before }()
		changed := rapid.Bool().Draw(rt, "changed")
		var h history
		h.add(before.head.Version, &kv.Overlay{}, &kv.WriteSet{})
		if changed {
			at := rapid.IntRange(0, 29).Draw(rt, "changed record")
			w := &kv.WriteSet{}
			w.Set(kv.AppendRecordKey(nil, 1, storage.RecordID(at+1)), []byte("new"))
			if rapid.Bool().Draw(rt, "entry removed") {
				w.Delete(entries[at])
			}
			d.now = d.now.with(w, Head{Version: before.head.Version + 1})
			over := &kv.Overlay{}
			for _, x := range w.Writes {
				if over.Set(x.Key, x.Value); x.Value == nil {
					over.Delete(x.Key)
				}
			}
			h.add(d.now.head.Version, over, w)
		}
		c := combine([]*readSet{set, set}, isStored)
		turn, reply, err := s.Lock(t.Context(), &c.request)
		must(t, err)
		defer turn.Close()
		check := func(state *cachedState, what string) {
			trips := s.counted("read", func() {
				for i, r := range reads {
					fresh := remoteState{s.Snapshot(0, false)}
					if got, want := r(state), r(fresh); got != want {
						rt.Fatalf("%s, read %d: %s, want %s", what, i, got, want)
					}
				}
			})
			own := s.counted("read", func() {
				for _, r := range reads {
					r(remoteState{s.Snapshot(0, false)})
				}
			})
			longer := kinds["scan"] && kinds["joined"] // the longer of the two counts, which may lack records
			if !changed && !longer && trips != own {
				rt.Fatalf("%s: %d trips for what was read before", what, trips-own)
			}
		}
		check(c.answered(turn, reply), "under the lock")
		if state := c.after(&h, turn); state != nil {
			check(state, "after the last commit")
		} else if !changed {
			rt.Fatal("what has not changed is not known")
		}
	})
}
