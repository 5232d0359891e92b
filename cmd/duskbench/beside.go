package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/duskdb/duskdb/wire"
)

// besideCommand measures what one workload does to the latencies of another.
type besideCommand struct {
	URI         string        `name:"uri" help:"Server: mongodb://host:port, null, or \"exec:PATH ARGUMENTS\" to start a binary." default:"mongodb://127.0.0.1:27017"`
	Workload    string        `help:"Workload to measure, see duskbench workloads." default:"findOne"`
	Connections int           `help:"Connections of the measured workload." default:"1"`
	Load        string        `help:"What runs at the same time: a workload, compact, createIndexes or expiry." default:"insertMany"`
	LoadConns   int           `name:"load-connections" help:"Connections of the load; createIndexes and expiry have one." default:"1"`
	LoadDocs    int           `name:"load-docs" help:"Documents that createIndexes and expiry work on." default:"1000000"`
	Rounds      int           `help:"Number of rounds; each measures both in turn." default:"5"`
	Duration    time.Duration `help:"Time to measure." default:"2s"`
	Docs        int           `help:"Documents in the collection." default:"10000"`
	DocSize     int           `help:"Approximate size of a document in bytes." default:"1024"`
	Batch       int           `help:"Documents per insertMany." default:"1000"`
	Client      string        `help:"What sends the requests: ${enum}." enum:"driver,wire" default:"wire"`
	JSON        string        `name:"json" help:"Write the results to this file as JSON." type:"path" placeholder:"FILE"`
}

// besideResult is the result of all rounds.
type besideResult struct {
	Idle    []result `json:"idle"`
	Busy    []result `json:"busy"`
	Ratio   float64  `json:"medianRatioP99"`        // busy to idle
	Ratio3  float64  `json:"medianRatioP999"`       // the same of the 99.9th percentile
	Repeat  int64    `json:"loadOps"`               // requests of the load
	Removed int64    `json:"loadExpired,omitempty"` // documents that expired beside the workload
}

// Validate is called by the command line parser.
func (c besideCommand) Validate() error {
	if _, err := findWorkload(c.Workload); err != nil {
		return err
	}
	if _, err := findLoad(c.Load); err != nil {
		return err
	}
	if c.LoadDocs < 1 || c.Connections < 1 || c.LoadConns < 1 || c.Rounds < 1 || c.Docs < 1 || c.Batch < 1 || c.Duration <= 0 {
		return errors.New("numbers and durations must be positive")
	}
	return nil
}

// Run measures and prints both.
func (c *besideCommand) Run(out io.Writer) (err error) {
	t, err := openTarget(c.URI, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.stop()) }()
	r, err := c.measure(t)
	if err != nil {
		return err
	}
	tab := newTable(out, []column{{"", 22, true}, {"ops/s", 9, false}, {"p50 µs", 8, false}, {"p99 µs", 8, false}, {"p99.9 µs", 9, false}, {"max µs", 9, false}})
	for _, x := range []struct {
		title string
		of    []result
	}{{c.Workload + " alone", r.Idle}, {c.Workload + " beside " + c.Load, r.Busy}} {
		tab.row(x.title, figure(medianOf(x.of, opsPerSec)), figure(medianOf(x.of, p50)), figure(medianOf(x.of, p99)), figure(medianOf(x.of, p999)), figure(medianOf(x.of, func(r result) float64 { return r.Max })))
	}
	fmt.Fprintf(out, "\nbeside to alone, medians of %d rounds: p99 %.2f, p99.9 %.2f; %d requests of %s\n", c.Rounds, r.Ratio, r.Ratio3, r.Repeat, c.Load)
	if r.Removed > 0 {
		fmt.Fprintf(out, "%d documents expired meanwhile\n", r.Removed)
	}
	if c.JSON == "" {
		return nil
	}
	return writeJSON(c.JSON, r)
}

// measure runs the workload alone and beside the load, in turn, for all
// rounds.
func (c *besideCommand) measure(t *target) (r besideResult, err error) {
	w, err := findWorkload(c.Workload)
	if err != nil {
		return r, err
	}
	o := loadOptions{
		Duration: c.Duration, Warmup: c.Duration / 10, Docs: c.Docs, DocSize: c.DocSize, Batch: c.Batch, Seed: 1, Client: c.Client, Compressor: "none",
	}
	l, err := findLoad(c.Load)
	if err != nil {
		return r, err
	}
	w.loads = w.loads || l.name == "compact" // which takes longer with more data
	if err := prepare(t, w, o); err != nil {
		return r, err
	}
	var ratios, ratios3 []float64
	for range c.Rounds {
		if err := c.besideDocs(t, o, l.fill); err != nil {
			return r, err
		}
		idle, err := measure(t, w, c.Connections, o)
		if err != nil {
			return r, err
		}
		o.Seed++ // so that what is inserted is new
		if err := c.besideDocs(t, o, l.start); err != nil {
			return r, err
		}
		stop, err := c.startLoad(t, l, o)
		if err != nil {
			return r, err
		}
		busy, err := measure(t, w, c.Connections, o)
		n, expired, loadErr := stop()
		if err = errors.Join(err, loadErr); err != nil {
			return r, err
		}
		r.Idle, r.Busy, r.Repeat, r.Removed = append(r.Idle, idle), append(r.Busy, busy), r.Repeat+n, r.Removed+expired
		ratios, ratios3 = append(ratios, busy.P99/max(idle.P99, 1)), append(ratios3, busy.P999/max(idle.P999, 1))
		o.Seed++
	}
	r.Ratio, r.Ratio3 = median(ratios...), median(ratios3...)
	return r, nil
}

// besideDocs prepares the documents that a load works on, if it has any.
func (c *besideCommand) besideDocs(t *target, o loadOptions, prepare func(*loader) error) (err error) {
	if prepare == nil {
		return nil
	}
	s, err := dial(t.addr, wire.Uncompressed, time.Now().Add(grace))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.conn.Close()) }()
	o.Docs = c.LoadDocs
	if err := prepare(&loader{session: s, opts: o, collection: besideCollection}); err != nil {
		return fmt.Errorf("preparing the load: %w", err)
	}
	return nil
}

// startLoad runs the load until stop, which returns the number of its answered requests
// and of the documents that have expired.
func (c *besideCommand) startLoad(t *target, l load, o loadOptions) (stop func() (n, expired int64, err error), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	o.Client = "wire"
	conns := c.LoadConns
	if l.fill != nil {
		conns = 1
	}
	workers, end, err := startWorkers(t, l.workload, conns, o)
	if err != nil {
		cancel()
		return nil, err
	}
	var wg sync.WaitGroup
	ops, errs := make([]int64, len(workers)), make([]error, len(workers))
	for i, wk := range workers {
		wk.request.own = newOwnIDs(100+i, o)
		wk.request.docs = newDocuments(o.Seed, 1000+i, o.DocSize)
		wg.Go(func() {
			for ctx.Err() == nil && errs[i] == nil {
				errs[i] = wk.send(&wk.workload, &wk.request)
				ops[i]++
				if l.rest > 0 {
					time.Sleep(l.rest)
				}
			}
		})
	}
	return func() (n, expired int64, err error) {
		cancel()
		wg.Wait()
		end()
		for i, k := range ops {
			n, expired = n+k, expired+workers[i].request.expired.n
		}
		return n, expired, firstError(errs)
	}, nil
}
