package main

import (
	"context"
	"math/rand/v2"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The core workloads of the Yahoo! Cloud Serving Benchmark, on the documents
// of the data set instead of its records of ten fields.

// ycsbMix is a workload: shares of operations in percent; the rest reads.
type ycsbMix struct {
	update, insert, scan int
	modify               int  // read and then update the same document
	latest               bool // reads prefer what was inserted last
}

var (
	ycsbA = ycsbMix{update: 50}
	ycsbB = ycsbMix{update: 5}
	ycsbC = ycsbMix{}
	ycsbD = ycsbMix{insert: 5, latest: true}
	ycsbE = ycsbMix{insert: 5, scan: 95}
	ycsbF = ycsbMix{modify: 50}
)

// maxScan is the longest scan.
const maxScan = 100

// ycsbState is the state of a worker between operations.
type ycsbState struct {
	zipf *rand.Zipf
	read int32 // the document that was read to be updated next
	then bool  // there is one
}

// ycsbOp is an operation of a workload.
type ycsbOp int

const (
	opRead ycsbOp = iota
	opUpdate
	opInsert
	opScan
)

// next draws an operation and the document it is about.
func (m ycsbMix) next(r *request) (op ycsbOp, id int32) {
	if r.ycsb.then {
		r.ycsb.then = false
		return opUpdate, r.ycsb.read
	}
	n := r.rnd.IntN(100)
	id = m.pick(r)
	switch {
	case n < m.update:
		return opUpdate, id
	case n < m.update+m.insert:
		return opInsert, 0
	case n < m.update+m.insert+m.scan:
		return opScan, id
	case n < m.update+m.insert+m.scan+m.modify:
		r.ycsb.read, r.ycsb.then = id, true
	}
	return opRead, id
}

// pick draws a document: few are popular, and these lie anywhere or, if m
// prefers the latest, at the end of what the worker has inserted.
func (m ycsbMix) pick(r *request) int32 {
	if r.ycsb.zipf == nil {
		r.ycsb.zipf = rand.NewZipf(r.rnd, 1.01, 1, uint64(r.opts.Docs-1))
	}
	rank := int32(r.ycsb.zipf.Uint64())
	if !m.latest {
		const scatter = 2_654_435_761 // spreads ranks over the data set
		return int32(uint64(rank) * scatter % uint64(r.opts.Docs))
	}
	if rank < r.own.left {
		return r.own.first + r.own.next - 1 - rank
	}
	return int32(r.opts.Docs) - 1 - (rank-r.own.left)%int32(r.opts.Docs)
}

// buildYCSB returns the function that builds the next request of a mix.
func buildYCSB(m ycsbMix) func(*request) {
	return func(r *request) {
		op, id := m.next(r)
		switch op {
		case opUpdate:
			r.update(id)
		case opInsert:
			r.insertOwn()
		case opScan:
			r.begin().String("find", collection).
				StartDocument("filter").StartDocument("_id").Int32("$gte", id).End().End().
				StartDocument("sort").Int32("_id", 1).End().
				Int32("limit", int32(1+r.rnd.IntN(maxScan))).Bool("singleBatch", true)
		default:
			r.find(id)
		}
	}
}

// callYCSB returns the function that sends the next request of a mix with the
// driver.
func callYCSB(m ycsbMix) func(context.Context, *request) error {
	return func(ctx context.Context, r *request) error {
		op, id := m.next(r)
		switch op {
		case opUpdate:
			return r.callUpdate(ctx, id)
		case opInsert:
			_, err := r.ownColl().InsertOne(ctx, bson.Raw(r.docs.stored(int(r.own.take()))))
			return err
		case opScan:
			return r.drain(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: id}}}},
				options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(int64(1+r.rnd.IntN(maxScan))))
		}
		return r.callFind(ctx, id)
	}
}
