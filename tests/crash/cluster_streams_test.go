//go:build unix

package crash

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/internal/proc"
)

// testClusterStreams: streams on all servers, one of which goes from server to server,
// have the events of all servers in one order. The time is that from the answer to a
// write on another server.
func testClusterStreams(t *testing.T, c *cluster) {
	const each = 25
	var clients [3]*mongo.Client
	for i := range clients {
		clients[i] = c.only(i)
	}
	coll := func(i int) *mongo.Collection { return clients[i%3].Database("rows").Collection("streams") }
	var wg sync.WaitGroup
	var orders [4][]string
	var seen [3]map[string]time.Time
	for i := range orders {
		stream, err := coll(i).Watch(background, mongo.Pipeline{}, options.ChangeStream().SetMaxAwaitTime(10*time.Second))
		must(t, err)
		if i < 3 {
			seen[i] = map[string]time.Time{}
		}
		wg.Go(func() {
			for n := 0; len(orders[i]) < 3*each; n++ {
				if !stream.Next(background) {
					t.Errorf("stream %d ended: %v", i, stream.Err())
					return
				}
				id := stream.Current.Lookup("documentKey", "_id").StringValue()
				orders[i] = append(orders[i], id)
				if i < 3 {
					seen[i][id] = time.Now()
				} else if n%5 == 4 { // to the next server
					token := stream.ResumeToken()
					_ = stream.Close(background)
					if stream, err = coll(n).Watch(background, mongo.Pipeline{}, options.ChangeStream().SetResumeAfter(token)); err != nil {
						t.Error(err)
						return
					}
				}
			}
			_ = stream.Close(background)
		})
	}
	var mu sync.Mutex
	acked := map[string]time.Time{}
	c.each("streams", 1, func(client int, coll *mongo.Collection) error {
		for n := range each {
			id := string(rune('a'+client)) + string(rune('A'+n))
			if _, err := coll.InsertOne(background, bson.M{"_id": id}); err != nil {
				return err
			}
			mu.Lock()
			acked[id] = time.Now()
			mu.Unlock()
			proc.Pause(10 * time.Millisecond)
		}
		return nil
	})
	wg.Wait()
	for i := range orders {
		if !slices.Equal(orders[i], orders[0]) {
			t.Errorf("stream %d has another order than the first one:\n%v\n%v", i, orders[i], orders[0])
		}
	}
	order := slices.Clone(orders[0])
	slices.Sort(order)
	if len(slices.Compact(order)) != 3*each {
		t.Errorf("%d different events, want %d", len(slices.Compact(order)), 3*each)
	}
	var delays []time.Duration
	for i := range seen {
		for id, at := range seen[i] {
			if int(id[0]-'a') != i { // it was written on another server
				delays = append(delays, max(at.Sub(acked[id]), 0))
			}
		}
	}
	p50, p99 := percentile(delays, 50), percentile(delays, 99)
	t.Logf("latency of change streams on other servers, after the acknowledgement: p50 %v, p99 %v", p50, p99)
	if p50 > 5*time.Second {
		t.Errorf("half of the events took longer than %v", p50)
	}
}

// running reports whether a server runs a command on a collection.
func running(t *testing.T, db *mongo.Database, command, coll string) bool {
	t.Helper()
	var reply struct{ Inprog []bson.Raw }
	must(t, db.Client().Database("admin").RunCommand(background, bson.D{{Key: "currentOp", Value: 1}, {Key: "command." + command, Value: coll}}).Decode(&reply))
	return len(reply.Inprog) > 0
}

// testClusterConsumers: consumers on three servers get each message once.
func testClusterConsumers(t *testing.T, c *cluster) {
	const messages = 45
	db := c.only(0).Database("rows")
	must(t, db.RunCommand(background, bson.D{{Key: "create", Value: "consumers"}, {Key: "messageQueue", Value: bson.M{"lockDuration": 300}}}).Err())
	var mu sync.Mutex
	got, done := map[int64]int{}, 0
	left := func() bool { mu.Lock(); defer mu.Unlock(); return done < messages }
	var wg sync.WaitGroup
	for i := range c.servers {
		coll := c.only(i).Database("rows").Collection("consumers")
		wg.Go(func() {
			for n := i; n < messages; n += len(c.servers) {
				if _, err := coll.InsertOne(background, bson.M{"n": n}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	c.each("consumers", 2, func(_ int, coll *mongo.Collection) error {
		for left() && !t.Failed() {
			var reply struct {
				Messages []struct {
					MQ struct {
						SequenceNumber int64         `bson:"sequenceNumber"`
						LockToken      bson.RawValue `bson:"lockToken"`
					} `bson:"_mq"`
				}
			}
			if err := coll.Database().RunCommand(background, bson.D{{Key: "mqReceive", Value: coll.Name()}, {Key: "maxWaitTimeMS", Value: 200}}).Decode(&reply); err != nil {
				return err
			}
			for _, m := range reply.Messages {
				mu.Lock()
				got[m.MQ.SequenceNumber]++
				mu.Unlock()
				if err := coll.Database().RunCommand(background, bson.D{{Key: "mqComplete", Value: coll.Name()}, {Key: "lockToken", Value: m.MQ.LockToken}}).Err(); err != nil {
					return err
				}
				mu.Lock()
				done++
				mu.Unlock()
			}
		}
		return nil
	})
	wg.Wait()
	for n := range int64(messages) {
		if got[n+1] != 1 {
			t.Errorf("message %d was received %d times", n+1, got[n+1])
		}
	}
}

// testClusterWake: a receiver that waits on one server is woken by a message that was
// sent on another.
func testClusterWake(t *testing.T, c *cluster) {
	const rounds, most = 8, 30 * time.Second
	a, b := c.only(0).Database("rows"), c.only(1).Database("rows")
	must(t, a.RunCommand(background, bson.D{{Key: "create", Value: "wake"}, {Key: "messageQueue", Value: bson.M{}}}).Err())
	var delays []time.Duration
	for n := range rounds {
		woken := make(chan time.Time, 1)
		ctx, end := context.WithTimeout(background, 2*most)
		go func() {
			reply, err := a.RunCommand(ctx, bson.D{{Key: "mqReceive", Value: "wake"}, {Key: "mode", Value: "receiveAndDelete"}, {Key: "maxWaitTimeMS", Value: most.Milliseconds()}}).Raw()
			if list, ok := reply.Lookup("messages").ArrayOK(); err != nil || !ok || reply.Lookup("messages", "0").IsZero() {
				t.Errorf("received %v (%v)", list, err)
			}
			woken <- time.Now()
		}()
		eventually(t, "the server runs the receiver", func() bool { return running(t, a, "mqReceive", "wake") })
		_, err := b.Collection("wake").InsertOne(background, bson.M{"_id": n})
		must(t, err)
		sent := time.Now()
		delays = append(delays, max((<-woken).Sub(sent), 0))
		end()
	}
	p50 := percentile(delays, 50)
	t.Logf("a receiver was woken by another server after p50 %v, at most %v", p50, delays[len(delays)-1])
	if p50 > most/3 {
		t.Errorf("receivers are not woken: %v", delays)
	}
}
