package spill

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Records that are added in sorted runs are read sorted; the order of equal ones is kept.
func TestMergeSorts(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		s := Store{Dir: dir}
		defer s.Close()
		type record struct{ key, payload []byte }
		var all []record
		for range rapid.IntRange(0, 5).Draw(rt, "runs") {
			var run []record
			for range rapid.IntRange(0, 20).Draw(rt, "records") {
				key := rapid.SliceOfN(rapid.ByteRange(0, 2), 0, 2).Draw(rt, "key")
				run = append(run, record{key, binary.AppendUvarint(nil, uint64(len(all)+len(run)))})
			}
			slices.SortStableFunc(run, func(a, b record) int { return bytes.Compare(a.key, b.key) })
			if err := s.Write(len(run), func(i int) ([]byte, []byte) { return run[i].key, run[i].payload }); err != nil {
				rt.Fatal(err)
			}
			all = append(all, run...)
		}
		slices.SortStableFunc(all, func(a, b record) int { return bytes.Compare(a.key, b.key) })
		m, err := s.Merge()
		if err != nil {
			rt.Fatal(err)
		}
		for _, want := range all {
			key, payload, ok, err := m.Next()
			if err != nil || !ok || !bytes.Equal(key, want.key) || !bytes.Equal(payload, want.payload) {
				rt.Fatal(key, payload, ok, err, want)
			}
		}
		if _, _, ok, err := m.Next(); ok || err != nil {
			rt.Fatal("more records than written", err)
		}
	})
}

func TestNothingIsLeftBehind(t *testing.T) {
	dir := t.TempDir()
	s := Store{Dir: dir}
	if err := s.Write(1, func(int) ([]byte, []byte) { return []byte("k"), []byte("v") }); err != nil {
		t.Fatal(err)
	}
	if s.Runs() != 1 || s.Size() != 4 {
		t.Error(s.Runs(), s.Size())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Error(entries, err)
	}
}

func TestNoDirectory(t *testing.T) {
	s := Store{Dir: "/does/not/exist"}
	if err := s.Write(0, nil); err == nil {
		t.Error("no error")
	}
}
