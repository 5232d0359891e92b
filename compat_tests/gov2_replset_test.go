package compat

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What drivers expect of a replica set: transactions and change streams.
func TestGoV2ReplicaSet(t *testing.T) {
	t.Parallel()
	db := connect(t, start(t, "--replSet", "rs0").URI).Database("set")
	t.Run("transactions", func(t *testing.T) { v2Transactions(t, db.Collection("accounts")) })
	t.Run("change stream", func(t *testing.T) { v2Watch(t, db.Collection("watched")) })
}

func v2Transactions(t *testing.T, c *mongo.Collection) {
	insertAll(t, c, []bson.D{{{Key: "_id", Value: "a"}, {Key: "n", Value: 10}}, {{Key: "_id", Value: "b"}, {Key: "n", Value: 0}}})
	session, err := c.Database().Client().StartSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.EndSession(t.Context())
	move := func(fail error) error {
		_, err := session.WithTransaction(t.Context(), func(ctx context.Context) (any, error) {
			for id, n := range map[string]int{"a": -5, "b": 5} {
				up, err := c.UpdateOne(ctx, bson.D{{Key: "_id", Value: id}}, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: n}}}})
				if err != nil || up.ModifiedCount != 1 {
					return nil, errors.Join(err, errors.New("not modified"))
				}
			}
			return nil, fail
		})
		return err
	}
	refused := errors.New("refused")
	if err := move(refused); !errors.Is(err, refused) {
		t.Errorf("aborted: %v", err)
	}
	if err := move(nil); err != nil {
		t.Errorf("committed: %v", err)
	}
	for id, want := range map[string]int{"a": 5, "b": 5} {
		var got struct{ N int }
		if err := c.FindOne(t.Context(), bson.D{{Key: "_id", Value: id}}).Decode(&got); err != nil || got.N != want {
			t.Errorf("%s has %d (%v), want %d", id, got.N, err, want)
		}
	}
}

func v2Watch(t *testing.T, c *mongo.Collection) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	stream, err := c.Watch(ctx, mongo.Pipeline{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close(ctx)
	if _, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.DeleteOne(ctx, bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"insert", "delete"} {
		if !stream.Next(ctx) || stream.Current.Lookup("operationType").StringValue() != want {
			t.Fatalf("%v %v, want %s", stream.Current, stream.Err(), want)
		}
	}
}
