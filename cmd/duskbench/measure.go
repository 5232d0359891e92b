package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// The phases of a measurement.
const (
	warming int32 = iota
	measuring
	stopping
)

// grace is how long a server may take for what is not measured.
const grace = 2 * time.Minute

// worker sends requests over one connection, each after the reply to the one
// before.
type worker struct {
	*session
	workload workload
	request  request
	hist     *hdr.Histogram
	checked  int
}

// validated is how many replies of a worker are looked at byte by byte; the
// others are trusted, so that the load generator leaves the processor to the
// server.
const validated = 50

// measure runs one workload on one target with a number of connections.
func measure(t *target, w workload, connections int, o loadOptions) (r result, err error) {
	workers := make([]*worker, 0, connections)
	defer func() {
		for _, w := range workers {
			_ = w.conn.Close()
		}
	}()
	for i := range connections {
		wk, err := newWorker(t, w, i, o)
		if err != nil {
			return r, fmt.Errorf("%s, connection %d: %w", t.name, i+1, err)
		}
		workers = append(workers, wk)
	}
	elapsed, err := drive(workers, o.Warmup, o.Duration)
	if err != nil {
		return r, fmt.Errorf("%s, %s: %w", t.name, w.name, err)
	}
	total := newHistogram()
	for _, w := range workers {
		total.Merge(w.hist)
	}
	r = result{Target: t.name, Workload: w.name, Connections: connections}
	return r.summarize(total, elapsed, w.docsPerOp(o)), nil
}

func newWorker(t *target, w workload, i int, o loadOptions) (*worker, error) {
	s, err := dial(t.addr, o.compressor(), time.Now().Add(o.Warmup+o.Duration+grace))
	if err != nil {
		return nil, err
	}
	return &worker{
		session:  s,
		workload: w,
		request: request{
			opts: o,
			rnd:  rand.New(rand.NewPCG(o.Seed, uint64(i))),
			docs: newDocuments(o.Seed, i+1, o.DocSize),
		},
		hist: newHistogram(),
	}, nil
}

// drive lets the workers run through the phases and returns how long they
// were measured. A request that fails ends it: a benchmark with errors in it
// says nothing.
func drive(workers []*worker, warmup, duration time.Duration) (time.Duration, error) {
	var (
		phase atomic.Int32
		wg    sync.WaitGroup
		errs  = make([]error, len(workers))
		fail  = make(chan struct{}, len(workers))
	)
	for i, w := range workers {
		wg.Go(func() {
			if errs[i] = w.loop(&phase); errs[i] != nil {
				fail <- struct{}{}
			}
		})
	}
	pause(warmup, fail)
	start := time.Now()
	phase.CompareAndSwap(warming, measuring)
	pause(duration, fail)
	phase.Store(stopping)
	elapsed := time.Since(start)
	wg.Wait()
	return elapsed, firstError(errs)
}

// pause waits, but not once there is a failure, which it leaves to the next
// pause to see.
func pause(d time.Duration, fail chan struct{}) {
	select {
	case <-time.After(d):
	case <-fail:
		fail <- struct{}{}
	}
}

func firstError(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// loop sends requests until the phase says stop. What was not both begun and
// answered while measuring does not count.
func (w *worker) loop(phase *atomic.Int32) error {
	last := time.Now()
	for {
		before := phase.Load()
		if before == stopping {
			return nil
		}
		if err := w.once(); err != nil {
			return err
		}
		now := time.Now()
		if before == measuring && phase.Load() == measuring {
			record(w.hist, now.Sub(last))
		}
		last = now
	}
}

// once sends one request and checks its reply.
func (w *worker) once() error {
	w.workload.build(&w.request)
	m, err := w.RoundTrip(w.request.body(), w.request.seqs...)
	if err != nil {
		return err
	}
	return w.checkReply(m)
}

func (w *worker) checkReply(m *wire.Msg) error {
	if w.checked < validated {
		w.checked++
		if err := value.Validate(m.Body); err != nil {
			return err
		}
	}
	if err := replyError(m.Body); err != nil {
		return err
	}
	if w.workload.check == nil {
		return nil
	}
	return w.workload.check(m.Body)
}

// prepare loads what a workload needs into a target, over a connection of its
// own.
func prepare(t *target, w workload, o loadOptions) (err error) {
	s, err := dial(t.addr, wire.Uncompressed, time.Now().Add(grace))
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	defer func() { err = errors.Join(err, s.conn.Close()) }()
	if err := (&loader{session: s, opts: o}).load(w); err != nil {
		return fmt.Errorf("%s, preparing %s: %w", t.name, w.name, err)
	}
	return nil
}
