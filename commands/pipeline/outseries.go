package pipeline

import (
	"errors"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/create"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/timeseries"
	"github.com/duskdb/duskdb/value"
)

// outTimeSeries opens a time series as the target of $out.
func (h *Environment) outTimeSeries(ns storage.Namespace, old *storage.Info, t agg.OutTarget) (agg.OutWriter, error) {
	var series *timeseries.Options
	var expire *int64
	switch {
	case t.TimeSeries != nil:
		var err error
		if series, err = timeseries.ParseOptions(value.Document(t.TimeSeries)); err != nil {
			return nil, err
		}
		if old != nil && catalog.Of(old).Kind != catalog.TimeSeries {
			return nil, mongoerr.New(7268700, "Cannot create a time-series collection from a non time-series collection or view.")
		}
		if old != nil && catalog.Of(old).Series.Doc().String() != series.Doc().String() {
			return nil, mongoerr.Newf(7406103, "Time-series options inputted must match the existing time-series collection. Received: %sFound: %s",
				t.TimeSeries, catalog.Of(old).Series.Doc())
		}
	default:
		series = catalog.Of(old).Series
	}
	if old != nil {
		expire = catalog.Of(old).ExpireAfter
	}
	c := h.Exec.Running()
	o := &outSeries{h: h, ns: ns, temp: storage.Namespace{DB: ns.DB, Coll: outName(c.Svc)}, series: series}
	plan, err := create.PlanSeries(o.temp, series, expire, catalog.Of(old).Collation)
	if err != nil {
		return nil, err
	}
	return o, c.Update(func(tx storage.Tx) error {
		for _, p := range plan.Parts {
			if _, err := tx.Create(p.NS, p.Options, p.Indexes); err != nil {
				return err
			}
		}
		return nil
	})
}

// outSeries writes measurements into a temporary time series.
type outSeries struct {
	h       *Environment
	ns      storage.Namespace
	temp    storage.Namespace
	series  *timeseries.Options
	pending []value.Doc
	done    bool
}

func (o *outSeries) Write(d value.Doc) error {
	if err := o.series.Check(d); err != nil {
		return err
	}
	o.pending = append(o.pending, d.Clone())
	if len(o.pending) < write.InsertChunk {
		return nil
	}
	return o.flush()
}

func (o *outSeries) flush() error {
	c := o.h.Exec.Running()
	err := c.Update(func(tx storage.Tx) error {
		coll, err := tx.Collection(o.temp)
		if err != nil {
			return err
		}
		return write.StoreMeasurements(c, tx, coll.Info(), o.pending)
	})
	o.pending = o.pending[:0]
	return err
}

func (o *outSeries) Commit() error {
	if err := o.flush(); err != nil {
		return err
	}
	err := o.h.Exec.Running().Update(func(tx storage.Tx) error {
		for _, pair := range [][2]storage.Namespace{{o.temp, o.ns}, {canonical.BucketsOf(o.temp), canonical.BucketsOf(o.ns)}} {
			if err := tx.Drop(pair[1]); err != nil && !errors.Is(err, storage.ErrNotFound) {
				return err
			}
			if err := tx.Rename(pair[0], pair[1]); err != nil {
				return err
			}
		}
		return nil
	})
	o.done = err == nil
	return err
}

func (o *outSeries) Abort() {
	if o.done {
		return
	}
	o.done = true
	svc := o.h.Exec.Running().Svc
	err := storage.Retry(svc.Background, svc.Engine, func(tx storage.Tx) error {
		return errors.Join(tx.Drop(o.temp), tx.Drop(canonical.BucketsOf(o.temp)))
	})
	noteLeftOver(svc, o.temp, err)
}
