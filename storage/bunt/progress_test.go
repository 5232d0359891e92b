package bunt

import (
	"testing"

	"github.com/duskdb/duskdb/storage/storagetest"
)

// TestProgress: the reading of a log is reported from its beginning to its end.
func TestProgress(t *testing.T) {
	dir := closedDir(t, 3)
	size := int64(len(readLog(t, dir)))
	var reports [][2]int64
	e, err := Open(Options{Path: dir, Indexer: storagetest.Indexer{}, Progress: func(read, size int64) { reports = append(reports, [2]int64{read, size}) }})
	must(t, err)
	must(t, e.Close())
	if len(reports) != 2 || reports[0] != [2]int64{0, size} || reports[1] != [2]int64{size, size} {
		t.Errorf("reported %v, of %d bytes", reports, size)
	}
}
