package main

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/value"
)

// The workloads that read the whole data set with one aggregation. An
// operation counts as one per document of the data set.

// groupAll matches about half of the documents, and groups them.
var groupAll = []value.Doc{
	value.MustJSON(`{"$match": {"tag": {"$gte": "tag15"}}}`),
	value.MustJSON(`{"$group": {"_id": "$tag", "n": {"$sum": 1}, "total": {"$sum": "$k"}, "mean": {"$avg": "$k"}}}`),
}

// lookupAll joins each document with the one that has the same k, by the
// index on it.
var lookupAll = []value.Doc{
	value.MustJSON(`{"$lookup": {"from": "` + collection + `", "localField": "k", "foreignField": "k", "as": "r"}}`),
	value.MustJSON(`{"$group": {"_id": {"$size": "$r"}, "n": {"$sum": 1}}}`),
}

func allDocs(o loadOptions) int { return o.Docs }

// buildPipeline makes an aggregate command of the stages.
func buildPipeline(stages []value.Doc) func(r *request) {
	return func(r *request) {
		b := r.begin().String("aggregate", collection).StartArray("pipeline")
		for _, s := range stages {
			b.Document("", s)
		}
		b.End().StartDocument("cursor").End()
	}
}

// callPipeline is the same with the driver.
func callPipeline(stages []value.Doc) func(ctx context.Context, r *request) error {
	pipeline := make([]bson.Raw, len(stages))
	for i, s := range stages {
		pipeline[i] = bson.Raw(s)
	}
	return func(ctx context.Context, r *request) error {
		c, err := r.db.Collection(collection).Aggregate(ctx, pipeline)
		if err != nil {
			return err
		}
		return drainCursor(ctx, c)
	}
}
