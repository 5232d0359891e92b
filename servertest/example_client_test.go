package servertest_test

import (
	"context"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/duskdb/duskdb/servertest"
)

// A client without a port, and the stored documents at the end.
func ExampleServer_Client() {
	t := &testing.T{}
	srv := servertest.Run(t, servertest.NoPort())
	client, _ := mongo.Connect(srv.ClientOptions()) // in a test: srv.Client(t)
	ctx := context.Background()
	defer func() { _ = client.Disconnect(ctx); srv.Stop() }()

	orders := client.Database("shop").Collection("orders")
	_, _ = orders.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}, {Key: "total", Value: 42}})
	_, _ = orders.UpdateByID(ctx, 1, bson.D{{Key: "$inc", Value: bson.D{{Key: "total", Value: 8}}}})
	fmt.Print(srv.Dump("shop"))
	// Output:
	// # shop.orders
	// {"_id":1,"total":50}
}

// The second insert fails as it does when the server is out of disk space.
func ExampleServer_SetError() {
	t := &testing.T{}
	srv := servertest.Run(t, servertest.NoPort())
	client, _ := mongo.Connect(srv.ClientOptions())
	ctx := context.Background()
	defer func() { _ = client.Disconnect(ctx); srv.Stop() }()

	orders := client.Database("shop").Collection("orders")
	srv.SetError(servertest.Fault{Commands: []string{"insert"}, Code: 14031})
	_, err := orders.InsertOne(ctx, bson.D{})
	fmt.Println(err)
	srv.ClearError()
	_, err = orders.InsertOne(ctx, bson.D{})
	fmt.Println(err)
	// Output:
	// (OutOfDiskSpace) Failing command via 'failCommand' failpoint
	// <nil>
}

// The clock stands still until the test moves it.
func ExampleAt() {
	t := &testing.T{}
	srv := servertest.Run(t, servertest.NoPort(), servertest.At(servertest.Start.AddDate(0, 6, 0)))
	defer srv.Stop()
	fmt.Println(srv.Clock.Now().Format("2006-01-02"))
	// Output: 2026-07-01
}
