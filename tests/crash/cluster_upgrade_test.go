//go:build unix

package crash

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/internal/proc"
)

// oldVersion is the commit from which, and to which, servers are replaced.
const oldVersion = "c2f094b1"

// TestClusterUpgrade replaces the servers of a cluster one after the other, as the
// documentation says: those of an earlier version by those of this one, and back. Both versions
// work side by side on the same tables, and no client is refused: the operations that drivers
// repeat succeed without an error, with the drivers' defaults too.
func TestClusterUpgrade(t *testing.T) {
	needsCluster(t)
	if !long() {
		t.Skip("it builds an earlier version: runs with DUSKDB_CRASH_TIME")
	}
	old := needs.OlderServer(t, oldVersion)
	t.Parallel()
	c := clusterOver(t, pgtest.URI(t))
	for i := range c.programs {
		c.programs[i] = old
		c.start(i)
	}
	// A driver looks for the server of an open transaction for so long, when that has stopped,
	// before it runs the transaction again.
	l := newBank(c, options.Client().SetServerSelectionTimeout(5*time.Second))
	l.strict.Store(true)
	l.run()
	plain := newPlainClients(l)
	l.progress("the start")
	for _, to := range []string{"", old} {
		for i := range c.programs {
			l.replace(i, to)
		}
		l.progress("all servers have " + l.version(0))
	}
	plain.end()
	l.end()
}

// replace stops a server in order, and starts one of another version in its place.
func (l *bank) replace(i int, program string) {
	l.Helper()
	l.servers[i].Stop(l)
	l.progress(fmt.Sprintf("server %d stopped", i))
	l.programs[i] = program
	l.start(i)
	l.progress(fmt.Sprintf("server %d started with %s", i, l.version(i)))
	proc.Pause(time.Second) // for clients to find it
}

// version says what a server runs.
func (l *bank) version(i int) string {
	if l.programs[i] == "" {
		return "this version"
	}
	return oldVersion
}

// plainClients are clients with the defaults of the driver, which repeats an operation once.
type plainClients struct {
	*bank
	db   *mongo.Database
	wg   sync.WaitGroup
	stop context.CancelFunc
	n    atomic.Int64 // operations
}

const plainCount = 4

func newPlainClients(l *bank) *plainClients {
	l.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + strings.Join(l.addrs[:], ",")))
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	p := &plainClients{bank: l, db: client.Database("plain")}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	for i := range plainCount {
		p.wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if err := p.round(fmt.Sprintf("p%d-%d", i, n)); err != nil {
					p.Errorf("a client with the driver's defaults: %v", err)
					return
				}
				proc.Pause(time.Duration(p.rest.Load()))
			}
		})
	}
	return p
}

// round does what drivers repeat: writes, reads, a transaction by their helper.
func (p *plainClients) round(id string) error {
	ctx := context.Background()
	coll := p.db.Collection("docs")
	var d struct{ N int64 }
	for _, op := range []func() error{
		func() error { _, err := coll.InsertOne(ctx, bson.M{"_id": id, "n": 1}); return err },
		func() error { _, err := coll.UpdateByID(ctx, id, bson.M{"$inc": bson.M{"n": 1}}); return err },
		func() error { return coll.FindOne(ctx, bson.M{"_id": id}).Decode(&d) },
		func() error { _, err := coll.Distinct(ctx, "n", bson.M{"_id": id}).Raw(); return err },
	} {
		if err := sent(op); err != nil {
			return err
		}
	}
	if d.N != 2 {
		return fmt.Errorf("%s has %d, want 2", id, d.N)
	}
	s, err := p.db.Client().StartSession()
	if err != nil {
		return err
	}
	defer s.EndSession(ctx)
	_, err = s.WithTransaction(ctx, func(ctx context.Context) (any, error) {
		return coll.InsertOne(ctx, bson.M{"_id": id + "t", "n": 2})
	})
	if err != nil {
		return fmt.Errorf("transaction: %w", err)
	}
	if err := sent(func() error { return coll.FindOneAndDelete(ctx, bson.M{"_id": id}).Err() }); err != nil {
		return fmt.Errorf("findAndModify: %w", err)
	}
	p.n.Add(6)
	return nil
}

// sent runs an operation until the driver has sent it, see poolCleared.
func sent(op func() error) error {
	for {
		if err := op(); !poolCleared(err) {
			return err
		}
	}
}

// end stops the clients. What they have written is there once.
func (p *plainClients) end() {
	p.Helper()
	p.stop()
	p.wg.Wait()
	n, err := p.db.Collection("docs").CountDocuments(context.Background(), bson.M{"n": 2})
	if err != nil || n != p.n.Load()/6 {
		p.Errorf("%d documents, want %d: %v", n, p.n.Load()/6, err)
	}
	p.Logf("%d operations of clients with the driver's defaults", p.n.Load())
	if n == 0 {
		p.Error("they did nothing")
	}
}
