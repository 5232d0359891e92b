package compat

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Documents whose _id is a DBRef survive a crash, and are found and deleted by it.
func TestReferenceAsID(t *testing.T) {
	t.Parallel()
	ctx, p := t.Context(), start(t)
	reference := func(n int) bson.D {
		return bson.D{{Key: "_id", Value: bson.D{{Key: "$ref", Value: "c"}, {Key: "$id", Value: n}, {Key: "$db", Value: "d"}}}}
	}
	open := func() *mongo.Collection { return connect(t, p.URI).Database("test").Collection("c") }
	c := open()
	increment := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
	if _, err := c.InsertOne(ctx, append(reference(1), bson.E{Key: "n", Value: 1})); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2} {
		if _, err := c.UpdateOne(ctx, reference(n), increment, options.UpdateOne().SetUpsert(true)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.ReplaceOne(ctx, reference(3), append(reference(3), bson.E{Key: "n", Value: 3}), options.Replace().SetUpsert(true)); err != nil {
		t.Fatal(err)
	}
	p = p.restart(t, true)
	c = open()
	for n, want := range map[int]int{1: 2, 2: 1, 3: 3} {
		var found struct{ N int }
		if err := c.FindOne(ctx, reference(n)).Decode(&found); err != nil || found.N != want {
			t.Errorf("document %d has n %d, want %d: %v", n, found.N, want, err)
		}
	}
	if done, err := c.DeleteOne(ctx, reference(2)); err != nil || done.DeletedCount != 1 {
		t.Error(done, err)
	}
}
