package bunt

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// compactedFiles are the files of a log that was compacted and goes on in three more, closed in
// order. There are nine documents.
func compactedFiles(t *testing.T) []logFile {
	t.Helper()
	dir := t.TempDir()
	e := openAt(t, dir)
	create(t, e, storagetest.UniqueSpec("_id"))
	for id := range int32(3) {
		must(t, put(e, id))
	}
	must(t, e.Compact(ctx))
	for i := range int32(3) {
		if i > 0 {
			_, err := e.rotate(ctx)
			must(t, err)
		}
		must(t, put(e, 10+i))
		must(t, put(e, 20+i))
	}
	must(t, e.Close())
	files := readFiles(t, dir)
	if len(files) != 4 {
		t.Fatalf("%d files", len(files))
	}
	return files
}

// with returns the files with another content of one of them.
func with(files []logFile, i int, data []byte) []logFile {
	files = slices.Clone(files)
	files[i].data = data
	return files
}

// mustRefuse checks that a log is refused for a reason that can be repaired, by a check too.
func mustRefuse(t *testing.T, files []logFile, what string) {
	t.Helper()
	_, dir, err := openFiles(t, files, Options{})
	if _, ok := damagedFrom(err); !ok {
		t.Fatalf("%s: %v", what, err)
	}
	if r, err := Check(dir, storagetest.Indexer{}); err != nil || r.Sound() {
		t.Fatalf("%s: check: %+v, %v", what, r, err)
	}
	for _, f := range files {
		if !bytes.Equal(readFile(t, dir, f.name), f.data) {
			t.Fatalf("%s: %s was changed", what, f.name)
		}
	}
	must(t, os.RemoveAll(dir))
}

// mustRepair repairs a log, and opens what that leaves.
func mustRepair(t *testing.T, files []logFile, what string) (*Repair, string) {
	t.Helper()
	e, dir, err := openFiles(t, files, Options{Repair: true})
	if err != nil || e.Repaired() == nil {
		t.Fatalf("%s: repair: %v", what, err)
	}
	want := storagetest.Dump(e)
	must(t, e.Close())
	for _, f := range files {
		if kept, err := os.ReadFile(filepath.Join(dir, f.name+".damaged-1")); err != nil || !bytes.Equal(kept, f.data) {
			t.Fatalf("%s: %s was not kept: %v", what, f.name, err)
		}
	}
	again := openAt(t, dir)
	if got := storagetest.Dump(again); got != want {
		t.Fatalf("%s: opened again\n%s\nwant\n%s", what, got, want)
	}
	must(t, again.Close())
	must(t, os.RemoveAll(dir))
	return e.Repaired(), want
}

// TestFilesDamage changes each byte of each file of a compacted log. It is refused, but for the
// group that closes the last file; a repair loses the commit that the byte belongs to.
func TestFilesDamage(t *testing.T) {
	files := compactedFiles(t)
	for i, f := range files {
		closing := bytes.LastIndex(f.data, groupCommand)
		for n := range f.data {
			data := bytes.Clone(f.data)
			data[n] ^= byte(1 + n%255)
			what, bad := fmt.Sprintf("byte %d of %s", n, f.name), with(files, i, data)
			if i == len(files)-1 && n >= closing {
				e, _, err := openFiles(t, bad, Options{})
				must(t, err)
				if got := count(t, e); got != 9 {
					t.Fatalf("%s: %d documents", what, got)
				}
				must(t, e.Close())
				continue
			}
			mustRefuse(t, bad, what)
			if n%8 == 0 {
				if r, _ := mustRepair(t, bad, what); r.LostCommits > 1 {
					t.Fatalf("%s: %+v", what, r)
				}
			}
		}
	}
}

// TestFilesTorn cuts each file of a compacted log at each byte, also where a group ends. Only the
// last one may end anywhere.
func TestFilesTorn(t *testing.T) {
	files := compactedFiles(t)
	for i, f := range files {
		for n := range f.data {
			what, cut := fmt.Sprintf("%s cut to %d bytes", f.name, n), with(files, i, f.data[:n])
			if i < len(files)-1 {
				mustRefuse(t, cut, what)
				continue
			}
			e, dir, err := openFiles(t, cut, Options{})
			must(t, err)
			if got := count(t, e); got < 7 || got > 9 {
				t.Fatalf("%s: %d documents", what, got)
			}
			must(t, put(e, 100))
			want := storagetest.Dump(e)
			must(t, e.Close())
			again := openAt(t, dir)
			if got := storagetest.Dump(again); got != want {
				t.Fatalf("%s: opened again\n%s\nwant\n%s", what, got, want)
			}
			must(t, again.Close())
			must(t, os.RemoveAll(dir))
		}
	}
}

// TestBaseTorn: a base that a compaction wrote has its end also if nothing is behind it but the
// header of a file.
func TestBaseTorn(t *testing.T) {
	dir := t.TempDir()
	e := openAt(t, dir)
	create(t, e, storagetest.UniqueSpec("_id"))
	fill(t, e, 2*compactStep)
	must(t, e.Compact(ctx))
	must(t, e.Sync(ctx))
	files := readFiles(t, dir) // as a crash leaves them
	must(t, e.Close())
	if len(files) != 2 || len(files[1].data) > int(headerBytes) {
		t.Fatalf("%d files", len(files))
	}
	for at := bytes.Index(files[0].data[1:], groupCommand) + 1; at > 0; {
		mustRefuse(t, with(files, 0, files[0].data[:at]), fmt.Sprintf("cut to %d bytes", at))
		next := bytes.Index(files[0].data[at+1:], groupCommand)
		if next < 0 {
			break
		}
		at += 1 + next
	}
}

// TestBaseMissing: without the base, whether or not a compaction wrote it, a repair keeps the
// documents of the files behind it.
func TestBaseMissing(t *testing.T) {
	files := compactedFiles(t)[1:]
	mustRefuse(t, files, "without the base")
	r, _ := mustRepair(t, files, "without the base")
	if len(r.Losses) != 1 || r.Losses[0].Adopted != 6 || r.Losses[0].Namespace != (storage.Namespace{DB: "local", Coll: "orphan.1"}) || r.LostCommits == 0 {
		t.Errorf("%+v", r)
	}
}
