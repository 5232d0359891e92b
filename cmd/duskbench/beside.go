package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// besideCommand measures what one workload does to the latencies of another.
type besideCommand struct {
	URI         string        `name:"uri" help:"Server: mongodb://host:port, null, or \"exec:PATH ARGUMENTS\" to start a binary." default:"mongodb://127.0.0.1:27017"`
	Workload    string        `help:"Workload to measure, see duskbench workloads." default:"findOne"`
	Connections int           `help:"Connections of the measured workload." default:"1"`
	Load        string        `help:"What runs at the same time: a workload, or compact." default:"insertMany"`
	LoadConns   int           `name:"load-connections" help:"Connections of the other workload." default:"1"`
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
	Idle   []result `json:"idle"`
	Busy   []result `json:"busy"`
	Ratio  float64  `json:"medianRatioP99"` // busy to idle
	Repeat int64    `json:"loadOps"`        // requests of the load
}

// compactLoad is the name of the load that is not a workload.
const compactLoad = "compact"

// Validate is called by the command line parser.
func (c besideCommand) Validate() error {
	if _, err := findWorkload(c.Workload); err != nil {
		return err
	}
	if _, err := findWorkload(c.Load); err != nil && c.Load != compactLoad {
		return err
	}
	if c.Connections < 1 || c.LoadConns < 1 || c.Rounds < 1 || c.Docs < 1 || c.Batch < 1 || c.Duration <= 0 {
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
	tab := newTable(out, []column{{"", 22, true}, {"ops/s", 9, false}, {"p50 µs", 8, false}, {"p99 µs", 8, false}, {"max µs", 9, false}})
	for _, x := range []struct {
		title string
		of    []result
	}{{c.Workload + " alone", r.Idle}, {c.Workload + " beside " + c.Load, r.Busy}} {
		tab.row(x.title, figure(medianOf(x.of, opsPerSec)), figure(medianOf(x.of, p50)), figure(medianOf(x.of, p99)), figure(medianOf(x.of, func(r result) float64 { return r.Max })))
	}
	fmt.Fprintf(out, "\np99 beside to p99 alone, median of %d rounds: %.2f; %d requests of %s\n", c.Rounds, r.Ratio, r.Repeat, c.Load)
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
	w.loads = w.loads || c.Load == compactLoad // which takes longer with more data
	if err := prepare(t, w, o); err != nil {
		return r, err
	}
	var ratios []float64
	for range c.Rounds {
		idle, err := measure(t, w, c.Connections, o)
		if err != nil {
			return r, err
		}
		o.Seed++ // so that what is inserted is new
		stop, err := c.startLoad(t, o)
		if err != nil {
			return r, err
		}
		busy, err := measure(t, w, c.Connections, o)
		n, loadErr := stop()
		if err = errors.Join(err, loadErr); err != nil {
			return r, err
		}
		r.Idle, r.Busy, r.Repeat = append(r.Idle, idle), append(r.Busy, busy), r.Repeat+n
		ratios = append(ratios, busy.P99/max(idle.P99, 1))
		o.Seed++
	}
	r.Ratio = median(ratios...)
	return r, nil
}

// startLoad runs the other workload until stop, which returns the number of
// its answered requests.
func (c *besideCommand) startLoad(t *target, o loadOptions) (stop func() (int64, error), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	w := workload{build: buildCompact}
	if c.Load != compactLoad {
		if w, err = findWorkload(c.Load); err != nil {
			cancel()
			return nil, err
		}
	}
	o.Client = "wire"
	workers, end, err := startWorkers(t, w, c.LoadConns, o)
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
			}
		})
	}
	return func() (n int64, err error) {
		cancel()
		wg.Wait()
		end()
		for _, k := range ops {
			n += k
		}
		return n, firstError(errs)
	}, nil
}

func buildCompact(r *request) { r.begin().String("compact", collection).Bool("force", true) }
