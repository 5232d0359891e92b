package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// The phases of a measurement.
const (
	warming int32 = iota
	measuring
	stopping
)

// grace is the time limit for unmeasured requests.
const grace = 2 * time.Minute

// limit is the time limit of a measurement.
func (o loadOptions) limit() time.Duration { return o.Warmup + o.Duration + grace }

// worker sends requests over one connection, each after the reply to the one
// before.
type worker struct {
	sender
	workload workload
	request  request
	hist     *hdr.Histogram
}

// sender sends the requests of one worker.
type sender interface {
	// send sends the next request of w and waits for its reply.
	send(w *workload, r *request) error
	close() error
}

// wireSender sends bytes over a connection of its own.
type wireSender struct {
	*session
	checked int
}

// driverSender sends with the official driver. Its context has no deadline,
// which would become a maxTimeMS in every request.
type driverSender struct{}

func (driverSender) send(w *workload, r *request) error { return w.call(context.Background(), r) }
func (driverSender) close() error                       { return nil }

// validated is the number of replies of a worker that are validated
// completely; the others are trusted, so that the load generator uses less
// processor time.
const validated = 50

// measure runs one workload on one target with a number of connections.
func measure(t *target, w workload, connections int, o loadOptions) (r result, err error) {
	workers, stop, err := startWorkers(t, w, connections, o)
	if err != nil {
		return r, fmt.Errorf("%s: %w", t.name, err)
	}
	defer stop()
	used := newUsage(t)
	elapsed, err := drive(workers, o.Warmup, o.Duration, used)
	if err != nil {
		return r, fmt.Errorf("%s, %s: %w", t.name, w.name, err)
	}
	total := newHistogram()
	for _, w := range workers {
		total.Merge(w.hist)
	}
	r = result{Target: t.name, Workload: w.name, Connections: connections}
	ops := total.TotalCount()
	r.ServerCPU, r.OwnCPU, r.DatabaseCPU = used.server.perOp(ops), used.own.perOp(ops), used.database.perOp(ops)
	return r.summarize(total, elapsed, w.docsPerOp(o)), nil
}

// startWorkers connects workers, with one driver for all of them or each by
// itself.
func startWorkers(t *target, w workload, connections int, o loadOptions) (workers []*worker, stop func(), err error) {
	var client *mongo.Client
	if o.Client == "driver" {
		if client, err = connectDriver(t, w, connections, o.Compressor); err != nil {
			return nil, nil, err
		}
	}
	hangs := time.AfterFunc(o.limit(), func() { disconnect(client) })
	stop = func() {
		hangs.Stop()
		for _, w := range workers {
			_ = w.close()
		}
		disconnect(client)
	}
	for i := range connections {
		wk, err := newWorker(t, client, w, i, connections, o)
		if err != nil {
			stop()
			return nil, nil, fmt.Errorf("connection %d: %w", i+1, err)
		}
		workers = append(workers, wk)
	}
	return workers, stop, nil
}

// newWorker returns the i-th of several workers with its connection or the shared driver
// client.
func newWorker(t *target, client *mongo.Client, w workload, i, of int, o loadOptions) (*worker, error) {
	wk := &worker{
		workload: w,
		request: request{
			opts: o,
			rnd:  rand.New(rand.NewPCG(o.Seed, uint64(i))),
			docs: newDocuments(o.Seed, i+1, o.DocSize),
			own:  newOwnIDs(i, o),

			worker: i, workers: of,
		},
		hist: newHistogram(),
	}
	if client != nil {
		wk.sender, wk.request.db = driverSender{}, client.Database(database)
		return wk, nil
	}
	s, err := dial(t.addr, o.compressor(), time.Now().Add(o.limit()))
	if err != nil {
		return nil, err
	}
	wk.sender = &wireSender{session: s}
	return wk, nil
}

// drive lets the workers run through the phases and returns how long they were
// measured, and measures the processor time meanwhile. A failed request ends the measurement, because a benchmark with
// errors is meaningless.
func drive(workers []*worker, warmup, duration time.Duration, used *usage) (time.Duration, error) {
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
	used.start()
	start := time.Now()
	phase.CompareAndSwap(warming, measuring)
	pause(duration, fail)
	phase.Store(stopping)
	used.stop()
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

// loop sends requests until the phase says stop, and an open transaction is committed. Only requests that were sent
// and answered during the measurement count.
func (w *worker) loop(phase *atomic.Int32) error {
	last := time.Now()
	for {
		before := phase.Load()
		if before == stopping && !w.request.session.open() {
			return nil
		}
		if refill := w.workload.refill; refill != nil && w.request.own.left == 0 {
			if err := w.send(refill, &w.request); err != nil {
				return err
			}
			last = time.Now()
		}
		if err := w.send(&w.workload, &w.request); err != nil {
			return err
		}
		now := time.Now()
		if before == measuring && phase.Load() == measuring {
			record(w.hist, now.Sub(last))
		}
		last = now
	}
}

func (s *wireSender) close() error { return s.conn.Close() }

// send encodes and sends one request, and validates the first replies
// completely.
func (s *wireSender) send(w *workload, r *request) error {
	w.build(r)
	m, err := s.RoundTrip(r.body(), r.seqs...)
	if err != nil {
		return err
	}
	if s.checked < validated {
		s.checked++
		if err := value.Validate(m.Body); err != nil {
			return err
		}
	}
	if err := replyError(m.Body); err != nil {
		return err
	}
	if w.check != nil {
		if err := w.check(m.Body); err != nil {
			return err
		}
	}
	if w.note == nil {
		return nil
	}
	return w.note(r, m.Body)
}

// prepare loads what a workload needs into a target, over a connection of its
// own.
func prepare(t *target, w workload, o loadOptions) (err error) {
	s, err := dial(t.addr, wire.Uncompressed, time.Now().Add(grace))
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	defer func() { err = errors.Join(err, s.conn.Close()) }()
	if err := (&loader{session: s, opts: o, collection: collection}).load(w); err != nil {
		return fmt.Errorf("%s, preparing %s: %w", t.name, w.name, err)
	}
	return nil
}
