package servertest_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/duskdb/duskdb/servertest"
)

// openStreams is the number of open change streams.
const openStreams = 100

// BenchmarkWriterBesideStreams inserts documents one by one through a socket, in turns
// without and with open change streams that wait; "%cost" is the loss of speed. Streams
// of all changes receive each document, a hundred times in total.
func BenchmarkWriterBesideStreams(b *testing.B) {
	match := func(name, want string) mongo.Pipeline {
		return mongo.Pipeline{{{Key: "$match", Value: bson.D{{Key: name, Value: want}}}}}
	}
	for _, kind := range []struct {
		name     string
		coll     string // "": the whole server
		pipeline mongo.Pipeline
	}{
		{"of another collection", "other", mongo.Pipeline{}},
		{"of deletes", "c", match("operationType", "delete")},
		{"of the server for another collection", "", match("ns.coll", "other")},
		{"of everything", "c", mongo.Pipeline{}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			s := connect(b, servertest.Run(b, servertest.At(servertest.Start)))
			besideStreams(b, s.db.Collection("c"), func(client *mongo.Client) (*mongo.ChangeStream, error) {
				if kind.coll == "" {
					return client.Watch(context.Background(), kind.pipeline)
				}
				return client.Database("db").Collection(kind.coll).Watch(context.Background(), kind.pipeline)
			})
		})
	}
}

func besideStreams(b *testing.B, c *mongo.Collection, watch func(*mongo.Client) (*mongo.ChangeStream, error)) {
	const round = 500
	insert := func() time.Duration {
		began := time.Now()
		for range round {
			if _, err := c.InsertOne(context.Background(), bson.D{{Key: "text", Value: "the quick brown fox jumps over the lazy dog"}}); err != nil {
				b.Fatal(err)
			}
		}
		return time.Since(began)
	}
	insert()
	var costs []float64
	b.ResetTimer()
	for range b.N {
		alone := insert()
		stop := waitInStreams(b, c.Database().Client(), watch)
		beside := insert()
		stop()
		costs = append(costs, 1-float64(alone)/float64(beside))
	}
	slices.Sort(costs)
	b.ReportMetric(100*costs[len(costs)/2], "%cost")
}

// waitInStreams opens the streams. Each waits on its own connection until stop.
func waitInStreams(b *testing.B, client *mongo.Client, watch func(*mongo.Client) (*mongo.ChangeStream, error)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for range openStreams {
		stream, err := watch(client)
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			for stream.Next(ctx) {
			}
			_ = stream.Close(context.Background())
		})
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// BenchmarkEventLatency inserts a document while nothing else happens, and
// measures the time until a stream that waits has the event.
func BenchmarkEventLatency(b *testing.B) {
	c := connect(b, servertest.Run(b, servertest.At(servertest.Start))).db.Collection("c")
	stream, err := c.Watch(context.Background(), mongo.Pipeline{})
	if err != nil {
		b.Fatal(err)
	}
	arrived := make(chan time.Time)
	go func() {
		for stream.Next(context.Background()) {
			arrived <- time.Now()
		}
		close(arrived)
	}()
	var took []time.Duration
	pace := time.NewTicker(2 * time.Millisecond) // so that the stream waits again
	defer pace.Stop()
	for range b.N {
		<-pace.C
		began := time.Now()
		if _, err := c.InsertOne(context.Background(), bson.D{{Key: "n", Value: 1}}); err != nil {
			b.Fatal(err)
		}
		took = append(took, (<-arrived).Sub(began))
	}
	slices.Sort(took)
	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(took[len(took)*p/100].Microseconds()), fmt.Sprintf("p%d-µs", p))
	}
}
