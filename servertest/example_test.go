package servertest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/servertest"
)

// A session is removed an hour after it was last seen. The test takes
// milliseconds.
func Example() {
	t := &testing.T{}                                         // a test has its own
	srv := servertest.Run(t, servertest.At(servertest.Start)) // for a date in the output
	ctx := context.Background()
	client, _ := mongo.Connect(options.Client().ApplyURI(srv.URI()))
	defer func() { _ = client.Disconnect(ctx); srv.Stop() }()

	sessions := client.Database("shop").Collection("sessions")
	_, _ = sessions.Indexes().CreateOne(ctx, mongo.IndexModel{
		Keys: bson.D{{Key: "seen", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(3600),
	})
	_, _ = sessions.InsertOne(ctx, bson.D{{Key: "_id", Value: "a"}, {Key: "seen", Value: srv.Clock.Now()}})

	fmt.Print(srv.Dump("shop.sessions"))
	_ = srv.Clock.Advance(time.Hour)
	n, _ := sessions.CountDocuments(ctx, bson.D{})
	fmt.Println(n, "sessions after an hour")
	// Output:
	// {"_id":"a","seen":{"$date":"2026-01-01T00:00:00Z"}}
	// 0 sessions after an hour
}

// A document with its own ttl is invisible from the instant it expires, even before it
// has been removed.
func Example_documentTTL() {
	t := &testing.T{}
	srv := servertest.Run(t)
	ctx := context.Background()
	client, _ := mongo.Connect(options.Client().ApplyURI(srv.URI()))
	defer func() { _ = client.Disconnect(ctx); srv.Stop() }()

	db := client.Database("shop")
	db.RunCommand(ctx, bson.D{{Key: "create", Value: "cart"}, {Key: "documentTtl", Value: bson.D{{Key: "default", Value: 600}}}})
	_, _ = db.Collection("cart").InsertOne(ctx, bson.D{{Key: "_id", Value: 1}, {Key: "ttl", Value: 5}})
	_ = srv.Clock.Advance(4999 * time.Millisecond)
	before, _ := db.Collection("cart").CountDocuments(ctx, bson.D{})
	_ = srv.Clock.Advance(time.Millisecond)
	after, _ := db.Collection("cart").CountDocuments(ctx, bson.D{})
	fmt.Println(before, after)
	// Output: 1 0
}
