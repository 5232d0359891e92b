package main

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// The calls of the workloads with the official driver, which is what clients
// are made of. Documents go through it as bytes: what the driver's codecs take
// is not a property of a server.

// connectDriver opens a client with as many connections as there are workers.
func connectDriver(t *target, w workload, connections int, compressor string) (*mongo.Client, error) {
	o := options.Client().ApplyURI("mongodb://" + t.addr + "/?directConnection=true").
		SetMaxPoolSize(uint64(connections)).SetMinPoolSize(uint64(connections)).
		SetServerSelectionTimeout(5 * time.Second).SetRetryReads(false).SetRetryWrites(w.retries)
	if compressor != "none" {
		o.SetCompressors([]string{compressor})
	}
	c, err := mongo.Connect(o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return c, c.Ping(ctx, nil)
}

// disconnect closes the connections of a client at once; there may be none.
func disconnect(c *mongo.Client) {
	if c == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = c.Disconnect(ctx)
}

// coll is the collection of the next request.
func (r *request) coll() *mongo.Collection { return r.db.Collection(r.collection()) }

func callPing(ctx context.Context, r *request) error {
	return r.db.RunCommand(ctx, bson.D{{Key: "ping", Value: 1}}).Err()
}

func callFindOne(ctx context.Context, r *request) error { return r.callFind(ctx, r.id()) }

func (r *request) callFind(ctx context.Context, id int32) error {
	return r.coll().FindOne(ctx, idFilter(id)).Err()
}

// drain reads all that a find returns.
func (r *request) drain(ctx context.Context, filter any, o *options.FindOptionsBuilder) error {
	c, err := r.coll().Find(ctx, filter, o)
	if err != nil {
		return err
	}
	return drainCursor(ctx, c)
}

func drainCursor(ctx context.Context, c *mongo.Cursor) error {
	n := 0
	for c.Next(ctx) {
		n++
	}
	if n == 0 && c.Err() == nil {
		return errors.Join(errEmpty, c.Close(ctx))
	}
	return errors.Join(c.Err(), c.Close(ctx))
}

func rangeFilter(start int32) bson.D {
	return bson.D{{Key: "k", Value: bson.D{{Key: "$gte", Value: start}, {Key: "$lt", Value: start + rangeSize}}}}
}

func callFindRange(ctx context.Context, r *request) error {
	return r.drain(ctx, rangeFilter(r.rangeStart()), options.Find().SetBatchSize(2*rangeSize))
}

// callCount is a command, because the driver's CountDocuments aggregates.
func callCount(ctx context.Context, r *request) error {
	reply, err := r.db.RunCommand(ctx, bson.D{{Key: "count", Value: collection}, {Key: "query", Value: rangeFilter(r.rangeStart())}}).Raw()
	if err == nil && reply.Lookup("n").AsInt64() == 0 {
		err = errNothing
	}
	return err
}

func callAggregate(ctx context.Context, r *request) error {
	c, err := r.coll().Aggregate(ctx, bson.A{
		bson.D{{Key: "$match", Value: rangeFilter(r.rangeStart())}},
		bson.D{{Key: "$group", Value: bson.D{
			{Key: "_id", Value: "$tag"},
			{Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}},
			{Key: "mean", Value: bson.D{{Key: "$avg", Value: "$k"}}},
		}}},
	})
	if err != nil {
		return err
	}
	return drainCursor(ctx, c)
}

func callInsertOne(ctx context.Context, r *request) error {
	_, err := r.coll().InsertOne(ctx, bson.Raw(r.docs.fresh(false)))
	return err
}

var journaled = options.Collection().SetWriteConcern(func() *writeconcern.WriteConcern {
	yes := true
	return &writeconcern.WriteConcern{W: 1, Journal: &yes}
}())

func callInsertOneJ(ctx context.Context, r *request) error {
	_, err := r.db.Collection(r.collection(), journaled).InsertOne(ctx, bson.Raw(r.docs.fresh(false)))
	return err
}

func callInsertMany(ctx context.Context, r *request) error {
	docs := make([]bson.Raw, r.opts.Batch)
	for i := range docs {
		docs[i] = bson.Raw(r.docs.fresh(false).Clone())
	}
	_, err := r.coll().InsertMany(ctx, docs)
	return err
}

func callInsertTTL(ctx context.Context, r *request) error {
	_, err := r.coll().InsertOne(ctx, bson.Raw(r.docs.fresh(true)))
	return err
}

func callUpdateOne(ctx context.Context, r *request) error { return r.callUpdate(ctx, r.id()) }

var increment = bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: int32(1)}}}}

func (r *request) callUpdate(ctx context.Context, id int32) error {
	res, err := r.coll().UpdateOne(ctx, idFilter(id), increment)
	if err == nil && res.MatchedCount == 0 {
		err = errNothing
	}
	return err
}

func callMixed(ctx context.Context, r *request) error {
	if r.rnd.IntN(5) == 0 {
		return callUpdateOne(ctx, r)
	}
	return callFindOne(ctx, r)
}
