package engines_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/engines"
	_ "github.com/duskdb/duskdb/server/pebble"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, engine, dir string) engines.Opened {
	t.Helper()
	e, err := engines.Open(engine, engines.Options{Path: dir, Indexer: storagetest.Indexer{}})
	must(t, err)
	return e
}

// TestForeignDirectory: the directory of another server is left as it is, but
// one in which DuskDB has its data may have such files as well.
func TestForeignDirectory(t *testing.T) {
	for _, files := range [][]string{
		{"WiredTiger", "WiredTiger.wt", "storage.bson", "mongod.lock"}, {"mongod.lock"}, {"storage.bson"}, {"PG_VERSION"}, {"ibdata1"}, {"CURRENT"}, {"marker.manifest.000001.MANIFEST-000001"},
	} {
		dir := t.TempDir()
		for _, name := range files {
			must(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
		}
		for _, name := range engines.Names() {
			for _, repair := range []bool{false, true} {
				_, err := engines.Open(name, engines.Options{Path: dir, Indexer: storagetest.Indexer{}, Repair: repair})
				var foreign *engines.ForeignError
				if !errors.As(err, &foreign) || !strings.Contains(err.Error(), strings.Join(files, ", ")) || !strings.Contains(err.Error(), "--dbpath") {
					t.Errorf("%v, %s, repair %v: %v", files, name, repair, err)
				}
			}
		}
		if left, _ := os.ReadDir(dir); len(left) != len(files) {
			t.Errorf("%v: files were made: %v", files, left)
		}
	}
	for _, name := range engines.Names() {
		dir := t.TempDir()
		must(t, open(t, name, dir).Close())
		must(t, os.WriteFile(filepath.Join(dir, "mongod.lock"), nil, 0o600))
		must(t, open(t, name, dir).Close())
	}
}

// TestOtherEngine: every engine refuses the directory of every other.
func TestOtherEngine(t *testing.T) {
	for _, has := range engines.Names() {
		dir := t.TempDir()
		must(t, open(t, has, dir).Close())
		for _, want := range engines.Names() {
			_, err := engines.Open(want, engines.Options{Path: dir, Indexer: storagetest.Indexer{}, Repair: true})
			var mismatch *engines.MismatchError
			if want != has && (!errors.As(err, &mismatch) || mismatch.Has != has || !strings.Contains(err.Error(), "--storageEngine "+has) || !strings.Contains(err.Error(), "duskdb copy "+has+":"+dir+" "+want+":NEW")) {
				t.Errorf("%s over %s: %v", want, has, err)
			} else if want == has {
				continue
			}
		}
	}
	if _, err := engines.Open("mmapv1", engines.Options{Path: t.TempDir(), Indexer: storagetest.Indexer{}}); err == nil || !strings.Contains(err.Error(), "bunt") {
		t.Errorf("mmapv1: %v", err)
	}
}

// fill makes a collection with gaps between its ids, and an empty one.
func fill(t *testing.T, e storage.Engine) {
	t.Helper()
	ns, empty := storage.Namespace{DB: "a", Coll: "c"}, storage.Namespace{DB: "b", Coll: "empty"}
	must(t, e.Update(t.Context(), func(tx storage.Tx) error {
		if _, err := tx.Create(empty, value.NewDoc("capped", value.Bool(true)), nil); err != nil {
			return err
		}
		c, err := tx.Create(ns, value.EmptyDoc, []storage.IndexSpec{storagetest.UniqueSpec("_id"), storagetest.Spec("v")})
		for i := int32(1); i <= 5000 && err == nil; i++ {
			var id storage.RecordID
			id, err = c.Insert(value.NewDoc("_id", value.Int32(i), "v", value.Int32(i%10)), int64(i)*1000)
			if err == nil && i%3 == 0 {
				_, err = c.Delete(id)
			}
		}
		return err
	}))
}

func locate(t *testing.T, engine, dir string) engines.Location {
	t.Helper()
	l, err := engines.ParseLocation(engine + ":" + dir)
	must(t, err)
	return l
}

// TestCopy: a copy shows what the original shows, ids, instants and indexes
// included, and the progress reaches its end.
func TestCopy(t *testing.T) {
	for _, from := range engines.Names() {
		source := t.TempDir()
		e := open(t, from, source)
		fill(t, e)
		want := storagetest.Dump(e)
		must(t, e.Close())
		for _, to := range engines.Names() {
			target := filepath.Join(t.TempDir(), "new")
			var total, read int64
			done, err := engines.Copy(t.Context(), locate(t, from, source), locate(t, to, target), engines.Options{Indexer: storagetest.Indexer{}},
				func(all, bytes int64) { total = all; read += bytes })
			must(t, err)
			if done.Collections != 2 || done.Records != 3334 || done.Indexes != 2 || read != total || total != 2*done.Bytes {
				t.Errorf("%s to %s: %+v, read %d of %d", from, to, done, read, total)
			}
			e := open(t, to, target)
			if got := storagetest.Dump(e); got != want {
				t.Errorf("%s to %s: the dumps differ", from, to)
			}
			must(t, e.Close())
			r, err := engines.Check(target, storagetest.Indexer{})
			if err != nil || !r.Sound() || r.Engine != to || len(r.Collections) != 2 || r.Collections[0].Records != 3334 || r.Collections[0].Entries != 2*3334 {
				t.Errorf("%s: check: %+v, %v", to, r, err)
			}
		}
	}
}

// TestCopyStopped: a copy that ends early is marked; the directory is refused,
// and the next copy starts over.
func TestCopyStopped(t *testing.T) {
	source, other := t.TempDir(), t.TempDir()
	for _, dir := range []string{source, other} {
		e := open(t, engines.Default, dir)
		fill(t, e)
		must(t, e.Close())
	}
	for _, to := range engines.Names() {
		target := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		_, err := engines.Copy(ctx, locate(t, engines.Default, source), locate(t, to, target), engines.Options{Indexer: storagetest.Indexer{}},
			func(all, bytes int64) {
				if bytes > 0 {
					cancel()
				}
			})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", to, err)
		}
		_, err = engines.Open(to, engines.Options{Path: target, Indexer: storagetest.Indexer{}})
		var unfinished *engines.UnfinishedError
		if !errors.As(err, &unfinished) || !strings.Contains(err.Error(), "duskdb copy") {
			t.Errorf("%s: %v", to, err)
		}
		// While a copy goes on, another one is refused.
		step := func(all, bytes int64) {
			if bytes == 0 {
				_, err := engines.Copy(t.Context(), locate(t, engines.Default, other), locate(t, to, target), engines.Options{Indexer: storagetest.Indexer{}}, nil)
				if err == nil || !strings.Contains(err.Error(), "another process copies") {
					t.Errorf("copied while another copy goes on: %v", err)
				}
			}
		}
		done, err := engines.Copy(t.Context(), locate(t, engines.Default, source), locate(t, to, target), engines.Options{Indexer: storagetest.Indexer{}}, step)
		if err != nil || done.Records != 3334 {
			t.Errorf("%s: %+v, %v", to, done, err)
		}
	}
}
