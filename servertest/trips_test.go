package servertest_test

import (
	"context"
	"os"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/servertest"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// TestRoundTrips: what commands cost in round trips to the database, as a driver sends
// them, with sessions and retryable writes.
func TestRoundTrips(t *testing.T) {
	if os.Getenv(storagetest.HostileEnv) != "" {
		t.Skip("a hostile engine makes further round trips")
	}
	t.Parallel()
	trips, uri := pgtest.Count(t, pgtest.With(pgtest.URI(t), "schema", pgtest.Schema(t.TempDir())))
	srv := servertest.Run(t, servertest.NoPort(), servertest.Engine("postgres"), func(c *server.Config) { c.StorageURI = uri })
	db := srv.Client(t).Database("db")
	coll, large := db.Collection("c"), db.Collection("large")
	var docs []any
	for i := range 20_000 {
		docs = append(docs, bson.D{{Key: "_id", Value: i}, {Key: "a", Value: i / 100}, {Key: "s", Value: "some text in a document"}})
	}
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := coll.InsertMany(ctx, docs[:3000])
	must(err)
	_, err = large.InsertMany(ctx, docs)
	must(err)
	_, err = coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "a", Value: 1}}})
	must(err)
	id, updated, deleted := 10_000, 0, 0
	many := func(n int) []any {
		list := make([]any, n)
		for i := range list {
			id++
			list[i] = bson.D{{Key: "_id", Value: id}, {Key: "a", Value: -1}}
		}
		return list
	}
	read := func(cur *mongo.Cursor, err error, want int) error {
		if err != nil {
			return err
		}
		var found []bson.D
		if err := cur.All(ctx, &found); err != nil {
			return err
		}
		if len(found) != want {
			t.Errorf("%d documents, want %d", len(found), want)
		}
		return nil
	}
	session, err := db.Client().StartSession()
	must(err)
	defer session.EndSession(ctx)
	commit := int64(1 << 30)
	for _, tt := range []struct {
		name string
		max  int64
		do   func(ctx context.Context) error
	}{
		{"findOne by _id", 1, func(ctx context.Context) error {
			return coll.FindOne(ctx, bson.D{{Key: "_id", Value: 7}}).Err()
		}},
		{"find of 100 by an index", 2, func(ctx context.Context) error {
			cur, err := coll.Find(ctx, bson.D{{Key: "a", Value: 7}})
			return read(cur, err, 100)
		}},
		{"find of 1,000 in one batch", 2, func(ctx context.Context) error {
			cur, err := coll.Find(ctx, bson.D{}, options.Find().SetBatchSize(1000).SetLimit(1000))
			return read(cur, err, 1000)
		}},
		{"insertOne", 2, func(ctx context.Context) error {
			_, err := coll.InsertOne(ctx, many(1)[0])
			return err
		}},
		{"updateOne by _id", 3, func(ctx context.Context) error {
			updated++
			_, err := coll.UpdateOne(ctx, bson.D{{Key: "_id", Value: 1000 + updated}}, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}})
			return err
		}},
		{"updateOne by _id, again and again", 2, func(ctx context.Context) error {
			_, err := coll.UpdateOne(ctx, bson.D{{Key: "_id", Value: 9}}, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}})
			return err
		}},
		{"deleteOne by _id", 3, func(ctx context.Context) error {
			deleted++
			_, err := coll.DeleteOne(ctx, bson.D{{Key: "_id", Value: 2000 + deleted}})
			return err
		}},
		{"insertMany of 1,000", 2, func(ctx context.Context) error {
			_, err := coll.InsertMany(ctx, many(1000))
			return err
		}},
		{"findOneAndUpdate by _id, again and again", 2, func(ctx context.Context) error {
			return coll.FindOneAndUpdate(ctx, bson.D{{Key: "_id", Value: 11}}, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}).Err()
		}},
		{"transaction of 100 inserts and an update", 12, func(ctx context.Context) error {
			return mongo.WithSession(ctx, session, func(ctx context.Context) error {
				if err := session.StartTransaction(); err != nil {
					return err
				}
				if _, err := coll.InsertMany(ctx, many(100)); err != nil {
					return err
				}
				if _, err := coll.UpdateOne(ctx, bson.D{{Key: "_id", Value: 13}}, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}); err != nil {
					return err
				}
				before := trips.N()
				if err := session.CommitTransaction(ctx); err != nil {
					return err
				}
				commit = min(commit, trips.N()-before)
				return nil
			})
		}},
		{"aggregate over 20,000", 20, func(ctx context.Context) error {
			cur, err := large.Aggregate(ctx, bson.A{bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$a"}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}}})
			return read(cur, err, 200)
		}},
		{"find of 20,000 in batches of 1,000", 24, func(ctx context.Context) error {
			cur, err := large.Find(ctx, bson.D{}, options.Find().SetBatchSize(1000))
			return read(cur, err, 20_000)
		}},
	} {
		fewest := int64(1 << 30) // what is read again once a second may come between
		for range 5 {
			before := trips.N()
			must(tt.do(ctx))
			fewest = min(fewest, trips.N()-before)
		}
		t.Logf("%s: %d round trips", tt.name, fewest)
		if fewest > tt.max {
			t.Errorf("%s: %d round trips, want at most %d", tt.name, fewest, tt.max)
		}
	}
	t.Logf("commit of a transaction: %d round trips", commit)
	if commit > 3 {
		t.Errorf("commit of a transaction: %d round trips, want at most 3", commit)
	}
	before, begun := trips.All(), clock.System().Now()
	<-clock.System().After(3 * time.Second)
	if idle := float64(trips.All()-before) / clock.System().Now().Sub(begun).Seconds(); idle > 2 {
		t.Errorf("an idle server makes %.1f round trips a second", idle)
	}
}
