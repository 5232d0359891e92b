package servertest_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/servertest"
)

// BenchmarkTTLTest is a test of a TTL index, as users write it: with a server of
// its own, and with one that other tests use as well.
func BenchmarkTTLTest(b *testing.B) {
	expires := func(b *testing.B, srv *servertest.Server, carts *mongo.Collection) {
		if _, err := carts.InsertOne(b.Context(), bson.D{{Key: "touched", Value: srv.Clock.Now()}}); err != nil {
			b.Fatal(err)
		}
		srv.Advance(61 * time.Minute)
		if n, err := carts.CountDocuments(b.Context(), bson.D{}); n != 0 || err != nil {
			b.Fatal(n, err)
		}
	}
	carts := func(b *testing.B, srv *servertest.Server) *mongo.Collection {
		c := srv.Client(b).Database("shop").Collection("carts")
		if _, err := c.Indexes().CreateOne(b.Context(), mongo.IndexModel{
			Keys: bson.D{{Key: "touched", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(3600),
		}); err != nil {
			b.Fatal(err)
		}
		return c
	}
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			srv := servertest.Run(b)
			expires(b, srv, carts(b, srv))
			srv.Stop()
		}
	})
	b.Run("shared", func(b *testing.B) {
		srv := servertest.Run(b)
		c := carts(b, srv)
		for b.Loop() {
			expires(b, srv, c)
		}
	})
}
