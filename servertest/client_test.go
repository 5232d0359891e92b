package servertest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/servertest"
)

// A connection without a port supports everything that a driver does: large messages,
// cursors, parallel calls, and a pass that the clock makes due.
func TestClientWithoutPort(t *testing.T) {
	t.Parallel()
	srv := servertest.Run(t, servertest.NoPort())
	if srv.Addr() != "" {
		t.Errorf("listens on %s", srv.Addr())
	}
	c := srv.Client(t).Database("db").Collection("c")
	docs := make([]any, 2000)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i}, {Key: "pad", Value: strings.Repeat("x", 4096)}}
	}
	if _, err := c.InsertMany(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			cur, err := c.Find(t.Context(), bson.D{}, options.Find().SetBatchSize(300))
			if err != nil {
				t.Error(err)
				return
			}
			var all []bson.Raw
			if err := cur.All(t.Context(), &all); err != nil || len(all) != len(docs) {
				t.Errorf("%d documents: %v", len(all), err)
			}
		})
	}
	wg.Wait()
	index := mongo.IndexModel{Keys: bson.D{{Key: "at", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(60)}
	if _, err := c.Indexes().CreateOne(t.Context(), index); err != nil {
		t.Fatal(err)
	}
	if _, err := c.UpdateMany(t.Context(), bson.D{}, bson.D{{Key: "$set", Value: bson.D{{Key: "at", Value: srv.Clock.Now()}}}}); err != nil {
		t.Fatal(err)
	}
	srv.Clock.Advance(2 * time.Minute)
	if n, err := c.CountDocuments(t.Context(), bson.D{}); err != nil || n != 0 {
		t.Errorf("%d left: %v", n, err)
	}
}

// member makes the server a member of a replica set, unless it is one of a cluster,
// which has transactions and retryable writes as well.
func member() servertest.Option {
	if engines.Remote(engines.ForTests()) {
		return func(*server.Config) {}
	}
	return servertest.ReplicaSet("rs0")
}

// A client with options of its own; the server ends while it is connected.
func TestClientOptions(t *testing.T) {
	t.Parallel()
	srv := servertest.Run(t, servertest.NoPort(), member())
	o := options.Client().SetAppName("shop").SetCompressors([]string{"zstd"}).SetTimeout(time.Minute)
	client := srv.Client(t, o)
	err := client.UseSession(t.Context(), func(ctx context.Context) error {
		s := mongo.SessionFromContext(ctx)
		_, err := s.WithTransaction(ctx, func(ctx context.Context) (any, error) {
			return client.Database("db").Collection("c").InsertOne(ctx, bson.D{{Key: "_id", Value: 1}})
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := client.Ping(ctx, nil); err == nil {
		t.Error("a server that has stopped answers")
	}
}

// Servers of parallel tests are independent of each other.
func TestParallelServers(t *testing.T) {
	t.Parallel()
	for i := range 16 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			srv := servertest.Run(t, servertest.NoPort())
			if _, err := srv.Client(t).Database("db").Collection("c").InsertOne(t.Context(), bson.D{{Key: "_id", Value: i}}); err != nil {
				t.Fatal(err)
			}
			if got, want := srv.Dump("db.c"), fmt.Sprintf("{\"_id\":%d}\n", i); got != want {
				t.Errorf("holds %q, want %q", got, want)
			}
		})
	}
}

func TestDumpOfDatabases(t *testing.T) {
	t.Parallel()
	srv := servertest.Run(t, servertest.NoPort())
	client := srv.Client(t)
	for _, ns := range []string{"shop.carts", "shop.orders", "logs.lines"} {
		db, coll, _ := strings.Cut(ns, ".")
		if _, err := client.Database(db).Collection(coll).InsertOne(t.Context(), bson.D{{Key: "_id", Value: coll}}); err != nil {
			t.Fatal(err)
		}
	}
	const logs, shop = "# logs.lines\n{\"_id\":\"lines\"}\n", "# shop.carts\n{\"_id\":\"carts\"}\n# shop.orders\n{\"_id\":\"orders\"}\n"
	for name, want := range map[string]string{"shop": shop, "": logs + shop, "none": ""} {
		if got := srv.Dump(name); got != want {
			t.Errorf("Dump(%q) is\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestSetError(t *testing.T) {
	t.Parallel()
	insert := bson.D{{Key: "x", Value: 1}}
	for name, c := range map[string]struct {
		fault servertest.Fault
		check func(err error) bool
		left  int64 // documents
	}{
		"a code": {
			servertest.Fault{Commands: []string{"insert"}, Code: 8000},
			func(err error) bool { var e mongo.CommandError; return errors.As(err, &e) && e.Code == 8000 }, 0,
		},
		"once, and the driver tries again": {
			servertest.Fault{Commands: []string{"insert"}, Code: 91, Times: 1},
			func(err error) bool { return err == nil }, 1,
		},
		"a cut connection": {
			servertest.Fault{Commands: []string{"insert"}, CloseConnection: true},
			mongo.IsNetworkError, 0,
		},
		"of the write concern": {
			servertest.Fault{Commands: []string{"insert"}, Code: 64, WriteConcern: true},
			func(err error) bool {
				var e mongo.WriteException
				return errors.As(err, &e) && e.WriteConcernError != nil && e.WriteConcernError.Code == 64
			}, 1,
		},
		"labels": {
			servertest.Fault{Commands: []string{"insert"}, Code: 8000, Labels: []string{"TransientTransactionError"}},
			func(err error) bool {
				var e mongo.ServerError
				return errors.As(err, &e) && e.HasErrorLabel("TransientTransactionError")
			}, 0,
		},
		"slowness": {
			servertest.Fault{Commands: []string{"insert"}, Block: time.Millisecond},
			func(err error) bool { return err == nil }, 1,
		},
		"another collection": {
			servertest.Fault{Commands: []string{"insert"}, Code: 8000, Namespace: "db.other"},
			func(err error) bool { return err == nil }, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := servertest.Run(t, servertest.NoPort(), member())
			coll := srv.Client(t).Database("db").Collection("c")
			srv.SetError(c.fault)
			if _, err := coll.InsertOne(t.Context(), insert); !c.check(err) {
				t.Errorf("the client sees %v", err)
			}
			failed := srv.ClearError()
			if want := c.fault.Namespace == ""; want != (failed > 0) {
				t.Errorf("%d commands failed", failed)
			}
			if n, err := coll.CountDocuments(t.Context(), bson.D{}); err != nil || n != c.left {
				t.Errorf("%d documents (%v), want %d", n, err, c.left)
			}
			if _, err := coll.InsertOne(t.Context(), insert); err != nil {
				t.Errorf("after ClearError: %v", err)
			}
		})
	}
}

// BenchmarkFirstReply measures how long a test waits for the first reply: start,
// connect, insert, stop.
func BenchmarkFirstReply(b *testing.B) {
	for b.Loop() {
		srv := servertest.Run(b, servertest.NoPort())
		client, err := mongo.Connect(srv.ClientOptions())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := client.Database("db").Collection("c").InsertOne(b.Context(), bson.D{}); err != nil {
			b.Fatal(err)
		}
		_ = client.Disconnect(b.Context())
		srv.Stop()
	}
}
