package engines

import (
	"context"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
)

// buntCode is the code of the engine that keeps the data in memory, and a log of
// them on disk.
var buntCode = Implementation{
	Open: func(_ context.Context, o Options) (Opened, error) {
		e, err := bunt.Open(bunt.Options{
			Path: o.Path, Clock: o.Clock, Indexer: o.Indexer, Repair: o.Repair, OrphanIndexes: o.OrphanIndexes,
			CompactMinBytes: o.CompactMinBytes, FileMode: o.FileMode, Progress: o.Progress, Indexing: o.Indexing, Fault: o.Fault, Logger: o.Logger,
		})
		if err != nil {
			return Opened{}, err
		}
		opened := Opened{Engine: e}
		if r := e.Repaired(); r != nil {
			opened.Repaired = append([]string{r.String()}, r.Details()...)
		}
		return opened, nil
	},
	Check: func(dir string, ix storage.Indexer) (*storage.Report, error) {
		return buntReport(bunt.Check(dir, ix))
	},
	Restore: func(from, to string, ix storage.Indexer) (*storage.Report, error) {
		return buntReport(bunt.Restore(from, to, ix))
	},
}

// buntReport is the part of a report that all engines have.
func buntReport(r *bunt.Report, err error) (*storage.Report, error) {
	if r == nil {
		return nil, err
	}
	return &r.Report, err
}
