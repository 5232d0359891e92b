//go:build unix

package crash

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/internal/proc"
)

// testClusterExpiry: each document that expires goes once, and each message that expires
// is moved once.
func testClusterExpiry(t *testing.T, c *cluster) {
	const docs = 40
	db := c.only(0).Database("expiry")
	coll := db.Collection("c")
	_, err := coll.Indexes().CreateOne(background, mongo.IndexModel{Keys: bson.M{"at": 1}, Options: options.Index().SetExpireAfterSeconds(1)})
	must(t, err)
	must(t, db.RunCommand(background, bson.D{{Key: "create", Value: "q"}, {Key: "messageQueue", Value: bson.M{"defaultMessageTimeToLive": 1, "deadLetteringOnMessageExpiration": true}}}).Err())
	stream, err := db.Watch(background, mongo.Pipeline{{{Key: "$match", Value: bson.M{"operationType": "delete", "ns.coll": "c"}}}}, options.ChangeStream().SetMaxAwaitTime(time.Second))
	must(t, err)
	defer stream.Close(background)
	for i := range c.servers {
		var list []any
		for n := range docs {
			list = append(list, bson.M{"_id": fmt.Sprint(i, "-", n), "at": time.Now()})
		}
		of := c.only(i).Database("expiry")
		_, err := of.Collection("c").InsertMany(background, list)
		must(t, err)
		_, err = of.Collection("q").InsertMany(background, list)
		must(t, err)
	}
	gone := map[string]int{}
	took := eventually(t, "the documents expire", func() bool {
		for stream.TryNext(background) {
			gone[stream.Current.Lookup("documentKey", "_id").StringValue()]++
		}
		must(t, stream.Err())
		n, err := coll.CountDocuments(background, bson.M{})
		must(t, err)
		dead, err := db.Collection("q.deadletterqueue").CountDocuments(background, bson.M{})
		must(t, err)
		return n == 0 && dead == 3*docs && len(gone) == 3*docs
	})
	for id, n := range gone {
		if n != 1 {
			t.Errorf("the stream has the removal of %s %d times", id, n)
		}
	}
	t.Logf("%d documents and messages expired within %v", 3*docs, took.Round(time.Millisecond))
	eventually(t, "the queue is empty", func() bool {
		n, err := db.Collection("q").CountDocuments(background, bson.M{})
		return err == nil && n == 0
	})
	if dead, err := db.Collection("q.deadletterqueue").CountDocuments(background, bson.M{}); dead != 3*docs || err != nil {
		t.Errorf("%d dead letters (%v), want %d", dead, err, 3*docs)
	}
}

// testClusterInvisible: what has expired by the TTL of documents is invisible on all
// servers at the same time: a read that begins when another server did not show it any
// more does not show it.
func testClusterInvisible(t *testing.T, c *cluster) {
	const skew = 500 * time.Millisecond // how well a busy machine can tell the time of another
	db := c.only(0).Database("expiry")
	must(t, db.RunCommand(background, bson.D{{Key: "create", Value: "hidden"}, {Key: "documentTtl", Value: bson.M{"default": 2}}}).Err())
	_, err := db.Collection("hidden").InsertOne(background, bson.M{"_id": 1})
	must(t, err)
	var mu sync.Mutex
	var visible, hidden [3][]time.Time // when reads began that showed it, and ended that did not
	c.each("hidden", 1, func(i int, coll *mongo.Collection) error {
		coll = coll.Database().Client().Database("expiry").Collection("hidden")
		for after := 0; after < 30; {
			began := time.Now()
			n, err := coll.CountDocuments(background, bson.M{"_id": 1})
			if err != nil {
				return err
			}
			mu.Lock()
			if n == 1 {
				visible[i] = append(visible[i], began)
				after = 0
			} else {
				hidden[i] = append(hidden[i], time.Now())
				after++
			}
			mu.Unlock()
			proc.Pause(5 * time.Millisecond)
		}
		return nil
	})
	var first, last time.Time
	for i := range hidden {
		if h := slices.MinFunc(hidden[i], time.Time.Compare); first.IsZero() || h.Before(first) {
			first = h
		}
		if len(visible[i]) == 0 {
			t.Errorf("server %d never showed the document", i)
			continue
		}
		if v := slices.MaxFunc(visible[i], time.Time.Compare); v.After(last) {
			last = v
		}
	}
	t.Logf("the last read that showed the document began %v after the first one ended that did not", last.Sub(first))
	if last.Sub(first) > skew {
		t.Errorf("a server shows an expired document %v after another one does not", last.Sub(first))
	}
}

// handOver is a cluster with the names by which its servers know each other.
type handOver struct {
	*cluster
	names []string
}

// TestClusterHandOver kills the server that has the job of expiry: another one takes it.
func TestClusterHandOver(t *testing.T) {
	needsCluster(t)
	t.Parallel()
	uri := pgtest.URI(t)
	c := &handOver{cluster: clusterOver(t, uri, "--setParameter", "ttlMonitorSleepSecs=1")}
	schema := schemaOf(c.cluster)
	for i := range c.addrs {
		c.start(i)
		for _, id := range query(t, uri, "select id from "+schema+".server") {
			if !slices.Contains(c.names, id) {
				c.names = append(c.names, id)
			}
		}
	}
	eventually(t, "a server has the job", func() bool { return len(query(t, uri, "select owner from "+schema+".lease where job = 'expiry'")) == 1 })
	owner := func() string {
		rows := query(t, uri, "select owner from "+schema+".lease where job = 'expiry' and until > now()")
		return strings.Join(rows, "")
	}
	first := owner()
	holder := slices.Index(c.names, first)
	if first == "" || holder < 0 {
		t.Fatalf("the job belongs to %q", first)
	}
	other := c.only((holder + 1) % 3).Database("expiry")
	_, err := other.Collection("c").Indexes().CreateOne(background, mongo.IndexModel{Keys: bson.M{"at": 1}, Options: options.Index().SetExpireAfterSeconds(0)})
	must(t, err)
	_, err = other.Collection("c").InsertOne(background, bson.M{"at": time.Now().Add(time.Hour)}) // makes what writes need
	must(t, err)
	c.kill(holder)
	_, err = other.Collection("c").InsertOne(background, bson.M{"at": time.Now()})
	must(t, err)
	taken := eventually(t, "another server takes the job", func() bool { now := owner(); return now != "" && now != first })
	removed := eventually(t, "documents expire again", func() bool {
		n, err := other.Collection("c").CountDocuments(background, bson.M{})
		return err == nil && n == 1
	})
	t.Logf("hand-over: another server had the lease after %v, and expiry went on %v later", taken.Round(10*time.Millisecond), removed.Round(10*time.Millisecond))
	if taken > 30*time.Second { // 10, and what a busy machine adds
		t.Errorf("the job was taken after %v", taken)
	}
}

// schemaOf is the schema that the servers use.
func schemaOf(c *cluster) string {
	_, rest, _ := strings.Cut(strings.Join(c.args, " "), "schema=")
	return rest[:strings.IndexAny(rest+" ", "& ")]
}

// query returns the first column of the rows of a query of the database.
func query(tb testing.TB, uri, sql string) (column []string) {
	tb.Helper()
	conn, err := pgconn.Connect(background, uri)
	must(tb, err)
	defer func() { _ = conn.Close(background) }()
	results, err := conn.Exec(background, sql).ReadAll()
	must(tb, err)
	for _, row := range results[0].Rows {
		column = append(column, string(row[0]))
	}
	return column
}
