package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

func errTimeSeries() error {
	return mongoerr.New(mongoerr.CommandNotSupported, "time-series collections are not supported")
}

func (c *Call) insertMeasurements(storage.Tx, storage.Collection, *batchWrite, []numbered, *int64) error {
	return errTimeSeries()
}

func (c *Call) modifyMeasurements(*modification, *storage.Info) (updated, error) {
	return updated{}, errTimeSeries()
}

func (c *Call) openMeasurements(*execution, *storage.Info, *readQuery) (agg.Iterator, error) {
	return nil, errTimeSeries()
}

func (h *host) outTimeSeries(storage.Namespace, *storage.Info, agg.OutTarget) (agg.OutWriter, error) {
	return nil, errTimeSeries()
}

// documentsOf are the documents of a record: the measurements of a bucket,
// else the one.
func (w *writer) documentsOf(r storage.Record) ([]value.Doc, error) {
	return []value.Doc{r.Doc}, nil
}
