package server_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/server"
)

// bothFaces runs a test against a standalone and a member of a replica set.
func bothFaces(t *testing.T, test func(t *testing.T, client *mongo.Client)) {
	for name, set := range map[string]string{"standalone": "", "replica set": "rs"} {
		t.Run(name, func(t *testing.T) {
			srv := runServer(t, server.Config{ReplSet: set})
			uri := srv.URI()
			if set != "" {
				uri = "mongodb://" + srv.Addr() + "/?replicaSet=" + set
			}
			client, err := mongo.Connect(options.Client().ApplyURI(uri))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
			test(t, client)
		})
	}
}

func TestDriverTransactions(t *testing.T) {
	bothFaces(t, func(t *testing.T, client *mongo.Client) {
		ctx := t.Context()
		coll := client.Database("bank").Collection("accounts")
		if _, err := coll.InsertMany(ctx, []bson.M{{"_id": 1, "n": 100}, {"_id": 2, "n": 0}}); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 4)
		for range cap(done) { // they meet conflicts and try again
			go func() {
				s, err := client.StartSession()
				if err != nil {
					done <- err
					return
				}
				defer s.EndSession(context.Background())
				_, err = s.WithTransaction(ctx, func(ctx context.Context) (any, error) {
					if _, err := coll.UpdateByID(ctx, 1, bson.M{"$inc": bson.M{"n": -10}}); err != nil {
						return nil, err
					}
					return coll.UpdateByID(ctx, 2, bson.M{"$inc": bson.M{"n": 10}})
				})
				done <- err
			}()
		}
		for range cap(done) {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		var to struct{ N int }
		if err := coll.FindOne(ctx, bson.M{"_id": 2}).Decode(&to); err != nil || to.N != 40 {
			t.Errorf("%d arrived: %v", to.N, err)
		}
	})
}

func TestDriverWatch(t *testing.T) {
	bothFaces(t, func(t *testing.T, client *mongo.Client) {
		ctx := t.Context()
		coll := client.Database("test").Collection("watched")
		stream, err := coll.Watch(ctx, mongo.Pipeline{}, options.ChangeStream().SetFullDocument(options.UpdateLookup))
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close(ctx)
		var latencies []time.Duration
		for i := range 50 {
			sent := make(chan time.Time, 1)
			go func() {
				sent <- clock.System().Now()
				_, _ = coll.InsertOne(ctx, bson.M{"_id": i})
			}()
			if !stream.Next(ctx) {
				t.Fatal(stream.Err())
			}
			latencies = append(latencies, clock.System().Now().Sub(<-sent))
			if kind := stream.Current.Lookup("operationType").StringValue(); kind != "insert" {
				t.Fatal(stream.Current)
			}
		}
		slices.Sort(latencies)
		t.Logf("write and event: p50 %v, p99 %v", latencies[25], latencies[49])
		resumed, err := coll.Watch(ctx, mongo.Pipeline{}, options.ChangeStream().SetResumeAfter(stream.ResumeToken()))
		if err != nil {
			t.Fatal(err)
		}
		defer resumed.Close(ctx)
		if _, err := coll.DeleteOne(ctx, bson.M{"_id": 1}); err != nil {
			t.Fatal(err)
		}
		if !resumed.Next(ctx) || resumed.Current.Lookup("operationType").StringValue() != "delete" {
			t.Errorf("resumed at %s: %v", resumed.Current, resumed.Err())
		}
	})
}
