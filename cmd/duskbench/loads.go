package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/duskdb/duskdb/value"
)

// load is what runs beside a measured workload: a workload, or work of the server that a
// few requests begin.
type load struct {
	workload
	fill  func(l *loader) error // before each round, or nil: what the load works on
	start func(l *loader) error // when the round beside the load begins, or nil
	rest  time.Duration         // between two requests
}

// loads are the loads that are not workloads.
var loads = []load{
	{workload: workload{name: "compact", about: "compact the collection of the workload", build: buildCompact}},
	{workload: workload{name: "createIndexes", about: "build an index over --load-docs documents of another collection, and drop it", build: buildIndexOrNot},
		fill: (*loader).fillIfEmpty},
	{workload: workload{name: "expiry", about: "remove --load-docs documents with three indexes, which are all due at once", build: buildRemoved, note: noteRemoved},
		fill: fillForExpiry, start: makeDue, rest: 100 * time.Millisecond},
}

// besideCollection is what loads work on that need documents of their own.
const besideCollection = collection + "Beside"

func findLoad(name string) (load, error) {
	for _, l := range loads {
		if l.name == name {
			return l, nil
		}
	}
	w, err := findWorkload(name)
	return load{workload: w}, err
}

func buildCompact(r *request) { r.begin().String("compact", collection).Bool("force", true) }

// buildIndexOrNot creates an index, and drops it with the next request.
func buildIndexOrNot(r *request) {
	const name = "k_1_n_1"
	if r.own.take(); r.own.next%2 == 0 {
		r.begin().String("dropIndexes", besideCollection).String("index", name)
		return
	}
	r.begin().String("createIndexes", besideCollection).StartArray("indexes").StartDocument("").
		StartDocument("key").Int32("k", 1).Int32("n", 1).End().String("name", name).End().End()
}

// fillIfEmpty makes the documents of a load unless they are there.
func (l *loader) fillIfEmpty() error {
	reply, err := l.command(value.NewDoc("count", value.String(l.collection), "$db", value.String(database)))
	if err != nil || reply.Lookup("n").Int64() == int64(l.opts.Docs) {
		return err
	}
	return l.load(workload{loads: true})
}

// fillForExpiry makes documents with a TTL index by which none of them is due.
func fillForExpiry(l *loader) error {
	const years = 20 * 365 * 24 * 3600
	if err := l.load(workload{}); err != nil {
		return err
	}
	if err := errors.Join(l.index("at", years), l.index("k", -1)); err != nil {
		return err
	}
	return l.fill()
}

// makeDue makes all documents due, and asks for a pass each second.
func makeDue(l *loader) error {
	for _, body := range []value.Doc{
		value.NewDoc("setParameter", value.Int32(1), "ttlMonitorSleepSecs", value.Int32(1), "$db", value.String("admin")),
		value.NewDoc("collMod", value.String(l.collection), "index", value.Document(value.NewDoc(
			"keyPattern", value.Document(value.NewDoc("at", value.Int32(1))), "expireAfterSeconds", value.Int32(0))), "$db", value.String(database)),
	} {
		if _, err := l.command(body); err != nil {
			return fmt.Errorf("making the documents due: %w", err)
		}
	}
	return nil
}

// buildRemoved asks how many documents have expired.
func buildRemoved(r *request) {
	r.begin().Int32("serverStatus", 1)
	r.on = "admin"
}

// removedDocs is the number of documents that have expired, in a reply to serverStatus.
func removedDocs(reply value.Doc) int64 {
	return reply.Lookup("metrics").Doc().Lookup("ttl").Doc().Lookup("deletedDocuments").SafeInt64()
}

// noteRemoved notes the number of documents that the load has removed.
func noteRemoved(r *request, reply value.Doc) error {
	n := removedDocs(reply)
	if r.expired.first == nil {
		r.expired.first = &n
	}
	r.expired.n = n - *r.expired.first
	return nil
}

// expiredDocs is how many documents have expired since the first request of a worker.
type expiredDocs struct {
	first *int64 // counter of the server at the first request
	n     int64
}
