package compat

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Every compressor carries documents both ways, and is seen on the wire.
func TestGoV2Compression(t *testing.T) {
	t.Parallel()
	s := start(t)
	text := strings.Repeat("expiry ", 20_000)
	for _, name := range []string{"snappy", "zlib", "zstd", "zstd,snappy,zlib"} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, s.with("compressors="+name))
			coll := c.Database("z").Collection("c")
			if _, err := coll.InsertOne(t.Context(), bson.D{{Key: "_id", Value: name}, {Key: "text", Value: text}}); err != nil {
				t.Fatal(err)
			}
			var back struct{ Text string }
			if err := coll.FindOne(t.Context(), bson.D{{Key: "_id", Value: name}}).Decode(&back); err != nil || back.Text != text {
				t.Errorf("%d bytes came back: %v", len(back.Text), err)
			}
			hello := command(t, c.Database("admin"), bson.D{{Key: "hello", Value: 1}, {Key: "compression", Value: strings.Split(name, ",")}})
			if got, want := len(hello["compression"].(bson.A)), 1+strings.Count(name, ","); got != want {
				t.Errorf("%d compressors agreed, want %d", got, want)
			}
		})
	}
}

// Options of the connection string that change what the driver sends.
func TestGoV2ConnectionString(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, options := range []string{
		"appName=compat&maxPoolSize=2&minPoolSize=1", "retryWrites=false&retryReads=false", "w=majority&journal=true&wtimeoutMS=1000",
		"readPreference=primaryPreferred&readConcernLevel=local", "readConcernLevel=majority", "loadBalanced=false",
		"serverMonitoringMode=poll", "heartbeatFrequencyMS=500", "timeoutMS=5000", "maxConnecting=1&maxIdleTimeMS=100",
		"w=0",
	} {
		t.Run(options, func(t *testing.T) {
			c := connect(t, s.with(options))
			coll := c.Database("uri").Collection("c")
			if _, err := coll.InsertOne(t.Context(), bson.D{{Key: "o", Value: options}}); err != nil && options != "w=0" {
				t.Fatal(err)
			}
			if _, err := coll.CountDocuments(t.Context(), bson.D{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Run("without directConnection", func(t *testing.T) {
		plain, _, _ := strings.Cut(s.URI, "?")
		if err := connect(t, plain).Ping(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	})
}

// The strict versioned API.
func TestGoV2ServerAPI(t *testing.T) {
	t.Parallel()
	api := options.ServerAPI(options.ServerAPIVersion1).SetStrict(true)
	db := connect(t, start(t).URI, options.Client().SetServerAPIOptions(api)).Database("api")
	if _, err := db.Collection("c").InsertOne(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	err := db.RunCommand(t.Context(), bson.D{{Key: "collStats", Value: "c"}}).Err()
	if ce, ok := errors.AsType[mongo.CommandError](err); !ok || ce.Code != 323 {
		t.Errorf("collStats: %v, want APIStrictError", err)
	}
}

// A server that restarts under a client: the client finds it again, with
// everything that was journaled.
func TestGoV2Reconnect(t *testing.T) {
	t.Parallel()
	s := start(t)
	port := s.URI[strings.LastIndex(s.URI, ":")+1 : strings.LastIndex(s.URI, "/")]
	c := connect(t, s.with("serverSelectionTimeoutMS=20000"))
	coll := c.Database("again").Collection("c")
	if _, err := coll.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	syncJournal(t, s.URI)
	s.restart(t, true, "--port", port)
	if n := count(t, coll); n != 1 {
		t.Errorf("%d documents after the restart, want 1", n)
	}
}

// A command with a time limit ends, and leaves the connection usable.
func TestGoV2TimeLimit(t *testing.T) {
	t.Parallel()
	db := connect(t, start(t).URI).Database("slow")
	if err := db.CreateCollection(t.Context(), "tail", options.CreateCollection().SetCapped(true).SetSizeInBytes(4096)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Collection("tail").InsertOne(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	cur, err := db.Collection("tail").Find(t.Context(), bson.D{}, options.Find().SetCursorType(options.TailableAwait).SetMaxAwaitTime(50*time.Millisecond))
	if err != nil || !cur.TryNext(t.Context()) {
		t.Fatal(err)
	}
	if cur.TryNext(t.Context()) || cur.Err() != nil {
		t.Errorf("nothing was written, got %v %v", cur.Current, cur.Err())
	}
	if _, err := db.Collection("tail").InsertOne(t.Context(), bson.D{{Key: "n", Value: 2}}); err != nil {
		t.Fatal(err)
	}
	if !cur.Next(t.Context()) || cur.Current.Lookup("n").Int32() != 2 {
		t.Errorf("the tail gave %v %v", cur.Current, cur.Err())
	}
}
