package bunt

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// TestBackup copies an engine while it is written to. Each commit inserts two
// documents, so a consistent copy has an even number, without gaps.
func TestBackup(t *testing.T) {
	e := openAt(t, t.TempDir())
	create(t, e, storagetest.UniqueSpec("_id"))
	pair := func(i int32) {
		must(t, inColl(e, ns, func(c storage.Collection) error {
			for k := range int32(2) {
				if _, err := c.Insert(value.NewDoc("_id", value.Int32(2*i+k)), 1); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	for i := range int32(2000) {
		pair(i)
	}
	stop, started := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := int32(2000); ; i++ {
			select {
			case <-stop:
				return
			default:
				pair(i)
			}
			if i == 2001 {
				close(started)
			}
		}
	})
	<-started
	dir := filepath.Join(t.TempDir(), "copy")
	info, err := e.Backup(ctx, dir)
	close(stop)
	wg.Wait()
	must(t, err)
	if info.Collections != 1 || info.Records < 4000 || info.Records%2 != 0 || info.Bytes == 0 {
		t.Errorf("%+v", info)
	}
	if _, err := e.Backup(ctx, dir); !errors.Is(err, storage.ErrPathExists) {
		t.Errorf("over an existing backup: %v", err)
	}
	r, err := Check(dir, storagetest.Indexer{})
	must(t, err)
	if !r.Sound() || r.Collections[0].Records != info.Records || r.Collections[0].Entries != info.Records {
		t.Errorf("check: %+v", r)
	}
	to := filepath.Join(t.TempDir(), "restored")
	_, err = Restore(dir, to, storagetest.Indexer{})
	must(t, err)
	must(t, inColl(openAt(t, to), ns, func(c storage.Collection) error {
		if storagetest.Got(c.Count()) != info.Records || int64(storagetest.Got(c.LastID())) != info.Records {
			t.Errorf("%d records, last %d", storagetest.Got(c.Count()), storagetest.Got(c.LastID()))
		}
		return nil
	}))
	if _, err := Restore(dir, to, storagetest.Indexer{}); err == nil {
		t.Error("restored over data in use")
	}
}

func TestBackupMemory(t *testing.T) {
	e := openAt(t, Memory)
	create(t, e, storagetest.UniqueSpec("_id"))
	fill(t, e, 10)
	dir := filepath.Join(t.TempDir(), "copy")
	_, err := e.Backup(ctx, dir)
	must(t, err)
	if got := storagetest.Dump(openAt(t, dir)); got != storagetest.Dump(e) {
		t.Errorf("state is\n%s", got)
	}
}

// TestBackupFails leaves nothing behind.
func TestBackupFails(t *testing.T) {
	e := openAt(t, Memory)
	create(t, e)
	fill(t, e, 5000)
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	dir := filepath.Join(t.TempDir(), "copy")
	if _, err := e.Backup(canceled, dir); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the target was not removed: %v", err)
	}
	if _, err := e.Backup(ctx, filepath.Join(dir, "below", "missing")); err == nil {
		t.Error("made directories above the backup")
	}
}

func TestCheck(t *testing.T) {
	h := makeExample(t)
	check := func(log []byte) *Report {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, logName), log, 0o600))
		r, err := Check(dir, storagetest.Indexer{})
		must(t, err)
		if now := readLog(t, dir); string(now) != string(log) {
			t.Error("check changed the log")
		}
		return r
	}
	if r := check(h.log); !r.Sound() || r.TornBytes != 0 || len(r.Collections) != 1 || r.Collections[0].Records != 8 {
		t.Errorf("sound log: %+v", r)
	}
	last := h.states[len(h.states)-1]
	if r := check(h.log[:last.size-3]); !r.Sound() || r.TornBytes == 0 || r.Collections[0].Records != 6 {
		t.Errorf("torn log: %+v", r)
	}
	damaged := append([]byte(nil), h.log...)
	damaged[h.states[2].size+20] ^= 4
	if r := check(damaged); r.Sound() || !strings.Contains(r.Problems[0], "damaged at byte") {
		t.Errorf("damaged log: %+v", r)
	}
	if _, err := Check(t.TempDir(), storagetest.Indexer{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("empty directory: %v", err)
	}
}
