package bunt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/storage/storagetest"
)

// oldCommand is a command of a log of the first format.
type oldCommand struct {
	key, value string
	del        bool
}

// oldLog writes transactions as the first format had them.
func oldLog(nonce uint64, groups ...[]oldCommand) (log []byte) {
	set := func(key string, value []byte) {
		log = fmt.Appendf(log, "*3\r\n$3\r\nset\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(key), key, len(value), value)
	}
	for i, g := range groups {
		var sum uint64
		for _, c := range g {
			sum += oldSum(c.del, []byte(c.key), []byte(c.value))
			if c.del {
				log = fmt.Appendf(log, "*2\r\n$3\r\ndel\r\n$%d\r\n%s\r\n", len(c.key), c.key)
			} else {
				set(c.key, []byte(c.value))
			}
		}
		m := binary.LittleEndian.AppendUint64(nil, uint64(i+1))
		m = binary.LittleEndian.AppendUint32(m, uint32(len(g)))
		m = binary.LittleEndian.AppendUint64(m, sum)
		m = binary.LittleEndian.AppendUint64(m, 0)
		set(oldMarker, binary.LittleEndian.AppendUint32(m, nonceSum(m, nonce)))
	}
	return log
}

// TestOldSum: different commands have different checksums, also if they differ only in
// where the key ends and the value begins.
func TestOldSum(t *testing.T) {
	sums := []uint64{
		oldSum(false, []byte("a"), []byte("b")),
		oldSum(false, []byte("a"), []byte("c")),
		oldSum(false, []byte("b"), []byte("a")),
		oldSum(false, []byte("a"), nil),
		oldSum(true, []byte("a"), nil),
		oldSum(true, []byte("b"), nil),
	}
	slices.Sort(sums)
	if n := len(slices.Compact(sums)); n != len(sums) {
		t.Errorf("%d different sums, want %d", n, len(sums))
	}
}

// readOld reads a log that a version with the first format has written, and
// the state that it showed.
func readOld(t *testing.T) (log, dump []byte) {
	t.Helper()
	log, err := os.ReadFile("testdata/format1.bunt")
	must(t, err)
	dump, err = os.ReadFile("testdata/format1.txt")
	must(t, err)
	return log, dump
}

// TestOldFormat opens a log of the first format: its state is the same, and
// the log is written anew.
func TestOldFormat(t *testing.T) {
	log, want := readOld(t)
	e, dir, err := openLog(t, log)
	must(t, err)
	if got := storagetest.Dump(e); got != string(want) {
		t.Errorf("state is\n%s\nwant\n%s", got, want)
	}
	must(t, e.Close())
	if now := readLog(t, dir); !bytes.Contains(now, []byte(formatName)) || bytes.Contains(now, []byte(oldFormatName)) {
		t.Error("the log still has the first format")
	}
	again := openAt(t, dir)
	if got := storagetest.Dump(again); got != string(want) {
		t.Errorf("reopened, the state is\n%s\nwant\n%s", got, want)
	}
	if files, _ := os.ReadDir(dir); len(files) != 3 { // the log, its state and the lock
		t.Errorf("files that were not removed: %v", files)
	}
}

// TestOldFormatCut cuts a log of the first format at every byte: its torn end
// is cut off as it always was.
func TestOldFormatCut(t *testing.T) {
	log, want := readOld(t)
	whole := 0
	for n := range len(log) + 1 {
		e, dir, err := openLog(t, log[:n])
		if err != nil {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(log), err)
		}
		if storagetest.Dump(e) == string(want) {
			whole++
		}
		must(t, e.Close())
		must(t, os.RemoveAll(dir))
	}
	if whole == 0 {
		t.Error("no cut left the state whole")
	}
}

// TestOldFormatDamaged: a damaged log of the first format is refused, also by
// a repair, and left alone.
func TestOldFormatDamaged(t *testing.T) {
	log, _ := readOld(t)
	log = bytes.Clone(log)
	log[60] ^= 1 // within the header
	_, dir, err := openLog(t, log)
	var damage *DamageError
	if !errors.As(err, &damage) {
		t.Fatalf("error %v", err)
	}
	if _, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, Repair: true}); err == nil {
		t.Error("repaired")
	}
	if !bytes.Equal(readLog(t, dir), log) {
		t.Error("the log was changed")
	}
	if _, err := os.Stat(filepath.Join(dir, tempName)); err == nil {
		t.Error("a file was not removed")
	}
}
