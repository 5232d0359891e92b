package bunt

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/buntdb"
)

// recordGroup is a commit of one record whose value has n bytes.
func recordGroup(n int) []op {
	return []op{{kind: opRecord, num: 1, id: 1, value: strings.Repeat("x", n)}}
}

// TestDirectFormat: what is appended directly is what BuntDB writes in a transaction, and
// both continue each other.
func TestDirectFormat(t *testing.T) {
	t.Parallel()
	sizes := []int{0, 1, 60, 70, 900, 1000, 9_950, 10_000, 60_000, 99_950, 100_000, 1 << 20}
	write := func(path string, directly func(i int) bool) []byte {
		db, err := openBunt(path)
		must(t, err)
		j := &journal{db: db, path: path, nonce: 7, synced: func() uint64 { return 0 }}
		for i, n := range sizes {
			if j.file = nil; directly(i) {
				j.file = fileOf(db)
			}
			must(t, j.commit(recordGroup(n)))
		}
		must(t, j.close())
		b, err := os.ReadFile(path)
		must(t, err)
		return b
	}
	dir := t.TempDir()
	want := write(filepath.Join(dir, "transactions"), func(int) bool { return false })
	for name, directly := range map[string]func(i int) bool{
		"directly": func(int) bool { return true },
		"mixed":    func(i int) bool { return i%2 == 0 },
	} {
		if got := write(filepath.Join(dir, name), directly); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes differ from the %d of transactions", name, len(got), len(want))
		}
	}
	db, err := buntdb.Open(filepath.Join(dir, "mixed"))
	must(t, err)
	defer db.Close()
	must(t, db.View(func(tx *buntdb.Tx) error {
		group, err := tx.Get(groupKey)
		if h, ok := parseHead([]byte(group), 7); !ok || h.seq != uint64(len(sizes)) {
			t.Errorf("BuntDB reads group %d as the last, want %d", h.seq, len(sizes))
		}
		return err
	}))
}

// TestDirectOnly: a version of BuntDB without the descriptor would make all writes slower,
// and a large group, or one after a write that the system has held back, is not written
// directly.
func TestDirectOnly(t *testing.T) {
	t.Parallel()
	db, err := openBunt(filepath.Join(t.TempDir(), "log"))
	must(t, err)
	j := &journal{db: db, path: "log", synced: func() uint64 { return 0 }, file: fileOf(db)}
	defer j.close()
	if j.file == nil {
		t.Fatal("BuntDB has no descriptor where it is expected")
	}
	direct := func(n int) bool {
		must(t, j.encode(recordGroup(n)))
		return j.direct()
	}
	if !direct(1000) || direct(directMost) {
		t.Error("not the small groups are written directly")
	}
	if j.took(slowWrite); !direct(1) {
		t.Error("a write that was not held back changes the way")
	}
	j.took(slowWrite + time.Microsecond)
	for i := range slowFor {
		if direct(1) {
			t.Fatalf("group %d after a write that was held back is written directly", i+1)
		}
	}
	if !direct(1) {
		t.Error("groups are not written directly again")
	}
}
