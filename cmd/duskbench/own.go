package main

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/duskdb/duskdb/value"
)

// ownIDs are the _ids that a worker inserts itself, beyond those of the data
// set: a range of its own, so that workers do not meet.
type ownIDs struct {
	collection string
	first      int32 // the start of the range
	next       int32 // how many were inserted
	left       int32 // how many of them are there
}

// ownRange is how many documents a worker can insert in a measurement, and
// ownRanges how many ranges there are: measurements with different seeds on
// the same data take different ones.
const (
	ownRange  = 1_000_000
	ownRanges = 2000
)

func newOwnIDs(worker int, o loadOptions) ownIDs {
	return ownIDs{collection: collectionName(worker % max(o.collections, 1)), first: int32(o.Docs) + int32((uint64(worker)+128*o.Seed)%ownRanges)*ownRange}
}

// take is the _id of the next document to insert.
func (o *ownIDs) take() int32 {
	id := o.first + o.next%ownRange
	o.next++
	o.left++
	return id
}

// drop is the _id of the next document to delete, the oldest.
func (o *ownIDs) drop() int32 {
	id := o.first + (o.next-o.left)%ownRange
	o.left--
	return id
}

// refillOwn inserts documents of a worker's own.
var refillOwn = workload{
	name: "refill", check: wantWritten, docs: func(loadOptions) int { return refillSize },
	build: func(r *request) {
		r.beginInsert(r.own.collection)
		for range refillSize {
			r.seq.Append(r.docs.stored(int(r.own.take())))
		}
		r.seqs = append(r.seqs, r.seq)
	},
	call: func(ctx context.Context, r *request) error {
		docs := make([]bson.Raw, refillSize)
		for i := range docs {
			docs[i] = bson.Raw(r.docs.stored(int(r.own.take())).Clone())
		}
		_, err := r.ownColl().InsertMany(ctx, docs)
		return err
	},
}

const refillSize = 1000

func buildDeleteOne(r *request) {
	r.begin().String("delete", r.own.collection).StartArray("deletes").
		StartDocument("").
		StartDocument("q").Int32("_id", r.own.drop()).End().Int32("limit", 1).
		End().End()
}

func callDeleteOne(ctx context.Context, r *request) error {
	res, err := r.ownColl().DeleteOne(ctx, idFilter(r.own.drop()))
	if err == nil && res.DeletedCount == 0 {
		err = errNothing
	}
	return err
}

// insertOwn makes the request that inserts the worker's next document.
func (r *request) insertOwn() {
	r.beginInsert(r.own.collection)
	r.seq.Append(r.docs.stored(int(r.own.take())))
	r.seqs = append(r.seqs, r.seq)
}

// ownColl is the collection of the worker's own documents, for the driver.
func (r *request) ownColl() *mongo.Collection { return r.db.Collection(r.own.collection) }

func idFilter(id int32) bson.Raw { return bson.Raw(value.NewDoc("_id", value.Int32(id))) }
