package bunt

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// TestNewerFormat: a log that a newer version wrote is named so, and is not
// touched by a repair, whatever else it holds.
func TestNewerFormat(t *testing.T) {
	log := readLog(t, closedDir(t, 3))
	newer := bytes.Replace(log, []byte(formatName), []byte("duskdb-bunt-5\n"), 1)
	for name, log := range map[string][]byte{
		"only the name": newer, "another frame": append([]byte("\x00\x01\x02duskdb-bunt-14\n"), log...),
	} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, logName), log, 0o600))
		for _, repair := range []bool{false, true} {
			_, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, Repair: repair})
			var format *storage.NewerFormatError
			if !errors.As(err, &format) || !strings.Contains(err.Error(), "formats up to 4") {
				t.Errorf("%s, repair %v: %v", name, repair, err)
			}
		}
		if _, err := Check(dir, storagetest.Indexer{}); err == nil || !strings.Contains(err.Error(), "It is not damaged") {
			t.Errorf("%s: check: %v", name, err)
		}
		if !bytes.Equal(readLog(t, dir), log) {
			t.Errorf("%s: the log was changed", name)
		}
	}
}

// TestOlderFormat: a log of a format that was never released is refused, and not touched.
func TestOlderFormat(t *testing.T) {
	older := bytes.Replace(readLog(t, closedDir(t, 3)), []byte(formatName), []byte("duskdb-bunt-3\n"), 1)
	for _, repair := range []bool{false, true} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, logName), older, 0o600))
		_, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, Repair: repair})
		if err == nil || !strings.Contains(err.Error(), "format 3, which only the development version that wrote it reads") {
			t.Errorf("repair %v: %v", repair, err)
		}
		if !bytes.Equal(readLog(t, dir), older) {
			t.Error("the log was changed")
		}
	}
}
