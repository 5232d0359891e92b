package kv

import (
	"bytes"
	"cmp"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
)

// drawKey draws an index key in which the bytes of the encoding are frequent.
func drawKey(rt *rapid.T, name string) []byte {
	b := rapid.OneOf(rapid.SampledFrom([]byte{0, 1, 2, 0xfe, 0xff}), rapid.Byte())
	return rapid.SliceOfN(b, 0, 6).Draw(rt, name)
}

// TestEntryOrder: entries sort by their keys and then by their ids, and are read
// as they were written.
func TestEntryOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := drawKey(rt, "a"), drawKey(rt, "b")
		ids := rapid.Int64Range(1, 1<<62)
		i, j := storage.RecordID(ids.Draw(rt, "i")), storage.RecordID(ids.Draw(rt, "j"))
		want := bytes.Compare(a, b)
		if want == 0 {
			want = cmp.Compare(i, j)
		}
		first, second := appendEntry(nil, a, i), appendEntry(nil, b, j)
		if got := bytes.Compare(first, second); got != want {
			rt.Fatalf("entries of %x/%d and %x/%d compare as %d, want %d", a, i, b, j, got, want)
		}
		if key, id, err := parseEntry(nil, first); err != nil || !bytes.Equal(key, a) || id != i {
			rt.Fatalf("entry of %x/%d is read as %x/%d, %v", a, i, key, id, err)
		}
		// A bound without an id lies before all entries of its key, and after those of
		// smaller keys.
		if bound := appendEscaped(nil, a); bytes.Compare(bound, first) >= 0 || bytes.Compare(b, a) < 0 && bytes.Compare(second, bound) >= 0 {
			rt.Fatalf("the bound of %x is not between entries of %x and %x", a, b, a)
		}
		// The keys that begin with a are those between its bound and the end of it.
		bound := appendEscaped(nil, a)
		within := bytes.Compare(second, bound) >= 0 && bytes.Compare(second, cmpEnd(bound)) < 0
		if len(bound) > 0 && within != bytes.HasPrefix(b, a) {
			rt.Fatalf("%x within the span of %x: %v", b, a, within)
		}
	})
}

func cmpEnd(prefix []byte) []byte {
	if end := after(prefix); end != nil {
		return end
	}
	return bytes.Repeat([]byte{0xff}, 64)
}

// TestDamagedEntry: bytes that are no entry are an error.
func TestDamagedEntry(t *testing.T) {
	whole := appendEntry(nil, []byte{1, 0, 2}, 7)
	for n := range whole {
		if _, _, err := parseEntry(nil, whole[:n]); err == nil {
			t.Errorf("%x is read", whole[:n])
		}
	}
}

// TestRecordOrder: keys of records sort by collection and id.
func TestRecordOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		nums, ids := rapid.Uint32(), rapid.Int64Range(1, 1<<62)
		m, n := nums.Draw(rt, "m"), nums.Draw(rt, "n")
		i, j := storage.RecordID(ids.Draw(rt, "i")), storage.RecordID(ids.Draw(rt, "j"))
		want := cmp.Or(cmp.Compare(m, n), cmp.Compare(i, j))
		a, b := AppendRecordKey(nil, m, i), AppendRecordKey(nil, n, j)
		if got := bytes.Compare(a, b); got != want || recordID(a) != i {
			rt.Fatalf("records %d/%d and %d/%d compare as %d", m, i, n, j, got)
		}
	})
}
