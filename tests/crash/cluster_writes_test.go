//go:build unix

package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/internal/linear"
)

// testClusterRegister: clients of different servers see the documents as if there were
// one server that does one thing after the other.
func testClusterRegister(t *testing.T, c *cluster) {
	const docs, rounds = 2, 30
	var history linear.History
	c.each("register", 2, func(client int, coll *mongo.Collection) error {
		rnd := rand.New(rand.NewPCG(uint64(client), 2))
		for range rounds {
			err := history.Do(client, linear.Random(rnd, docs), func(op linear.Operation) (int64, error) { return doOne(coll, op) })
			if err != nil {
				return err
			}
		}
		return nil
	})
	history.Check(t)
}

// doOne runs an operation on a document, whose _id says which number it is.
func doOne(coll *mongo.Collection, op linear.Operation) (int64, error) {
	var d struct{ N int64 }
	var err error
	filter := bson.M{"_id": op.Number}
	switch op.Kind {
	case linear.Write:
		_, err = coll.UpdateOne(background, filter, bson.M{"$set": bson.M{"n": op.Value}}, options.UpdateOne().SetUpsert(true))
		return op.Value, err
	case linear.Add:
		err = coll.FindOneAndUpdate(background, filter, bson.M{"$inc": bson.M{"n": op.Value}}, options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(&d)
	default:
		if err = coll.FindOne(background, filter).Decode(&d); errors.Is(err, mongo.ErrNoDocuments) {
			err = nil
		}
	}
	return d.N, err
}

// each runs clients of each server at the same time, on a collection of the same name.
func (c *cluster) each(name string, clients int, fn func(client int, coll *mongo.Collection) error) {
	c.Helper()
	var wg sync.WaitGroup
	for i := range c.servers {
		coll := c.only(i).Database("rows").Collection(name)
		for n := range clients {
			wg.Go(func() {
				if err := fn(i*clients+n, coll); err != nil {
					c.Error(err)
				}
			})
		}
	}
	wg.Wait()
}

// testClusterUniqueKeys: of those who insert the same key at the same time on different
// servers, one succeeds.
func testClusterUniqueKeys(t *testing.T, c *cluster) {
	const keys = 25
	_, err := c.only(0).Database("rows").Collection("unique").Indexes().CreateOne(background, mongo.IndexModel{Keys: bson.M{"k": 1}, Options: options.Index().SetUnique(true)})
	must(t, err)
	var won [keys]atomic.Int32
	c.each("unique", 1, func(client int, coll *mongo.Collection) error {
		for k := range keys {
			_, err := coll.InsertOne(background, bson.M{"k": k, "by": client})
			switch {
			case err == nil:
				won[k].Add(1)
			case !mongo.IsDuplicateKeyError(err):
				return err
			}
		}
		return nil
	})
	for k := range won {
		if n := won[k].Load(); n != 1 {
			t.Errorf("key %d was inserted %d times", k, n)
		}
	}
	if n, err := c.only(1).Database("rows").Collection("unique").CountDocuments(background, bson.M{}); n != keys || err != nil {
		t.Errorf("%d documents (%v), want %d", n, err, keys)
	}
}

// testClusterCapped: a capped collection has one order, in which each client's documents
// are in the order in which it inserted them, and the oldest have gone.
func testClusterCapped(t *testing.T, c *cluster) {
	const each, most = 20, 40
	must(t, c.only(0).Database("rows").CreateCollection(background, "capped", options.CreateCollection().SetCapped(true).SetSizeInBytes(1<<20).SetMaxDocuments(most)))
	c.each("capped", 1, func(client int, coll *mongo.Collection) error {
		for n := range each {
			if _, err := coll.InsertOne(background, bson.M{"_id": fmt.Sprintf("%d-%02d", client, n), "client": client, "n": n}); err != nil {
				return err
			}
		}
		return nil
	})
	var orders [3][]string
	for i := range c.servers {
		cursor, err := c.only(i).Database("rows").Collection("capped").Find(background, bson.M{}, options.Find().SetSort(bson.M{"$natural": 1}))
		must(t, err)
		var docs []struct {
			ID     string `bson:"_id"`
			Client int
			N      int
		}
		must(t, cursor.All(background, &docs))
		next, left := map[int]int{}, map[int]int{}
		for _, d := range docs {
			if last, seen := next[d.Client]; seen && d.N != last {
				t.Errorf("server %d: %s is out of order", i, d.ID)
			}
			next[d.Client] = d.N + 1
			left[d.Client]++
			orders[i] = append(orders[i], d.ID)
		}
		for client, n := range left {
			if next[client] != each {
				t.Errorf("server %d: the newest of client %d are missing, %d are left", i, client, n)
			}
		}
	}
	if len(orders[0]) != most || !slices.Equal(orders[0], orders[1]) || !slices.Equal(orders[0], orders[2]) {
		t.Errorf("the orders on the servers differ, or are not of %d:\n%v\n%v\n%v", most, orders[0], orders[1], orders[2])
	}
}

// testClusterCounters: no increment is lost, and no two get the same answer.
func testClusterCounters(t *testing.T, c *cluster) {
	const each = 20
	var seen sync.Map
	c.each("counters", 2, func(client int, coll *mongo.Collection) error {
		for range each {
			if _, err := coll.UpdateOne(background, bson.M{"_id": "a"}, bson.M{"$inc": bson.M{"n": 1}}, options.UpdateOne().SetUpsert(true)); err != nil {
				return err
			}
			n, err := doOne(coll, linear.Operation{Number: 1, Kind: linear.Add, Value: 1})
			if err != nil {
				return err
			}
			if _, twice := seen.LoadOrStore(n, true); twice {
				return fmt.Errorf("two increments got the answer %d", n)
			}
		}
		return nil
	})
	for _, id := range []any{"a", 1} {
		var d struct{ N int64 }
		must(t, c.only(2).Database("rows").Collection("counters").FindOne(background, bson.M{"_id": id}).Decode(&d))
		if d.N != 6*each {
			t.Errorf("counter %v is %d, want %d", id, d.N, 6*each)
		}
	}
}
