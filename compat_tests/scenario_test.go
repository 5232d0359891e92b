package compat

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The scenarios of mongosh_test.go again, in the Go driver.

// advance moves the test clock without a pass of the monitor.
func advance(t *testing.T, c *mongo.Client, d time.Duration) {
	t.Helper()
	command(t, c.Database("admin"), bson.D{{Key: "testClock", Value: 1}, {Key: "advanceMillis", Value: d.Milliseconds()}, {Key: "runDuePasses", Value: false}})
}

// jumpTo sets the test clock without a pass of the monitor.
func jumpTo(t *testing.T, c *mongo.Client, at time.Time) {
	t.Helper()
	command(t, c.Database("admin"), bson.D{{Key: "testClock", Value: 1}, {Key: "set", Value: at}, {Key: "runDuePasses", Value: false}})
}

// pass runs the monitor and says what one policy deleted.
func pass(t *testing.T, c *mongo.Client, policy string) int64 {
	t.Helper()
	reply := command(t, c.Database("admin"), bson.D{{Key: "runExpirationPass", Value: 1}})
	for _, e := range reply["deleted"].(bson.D) {
		if e.Key == policy {
			return e.Value.(int64)
		}
	}
	t.Fatalf("no %s in %v", policy, reply)
	return 0
}

// ids lists the _ids of a collection, sorted.
func ids(t *testing.T, c *mongo.Collection) []string {
	t.Helper()
	cur, err := c.Find(t.Context(), bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetProjection(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		t.Fatal(err)
	}
	var docs []struct {
		ID string `bson:"_id"`
	}
	if err := cur.All(t.Context(), &docs); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range docs {
		out = append(out, d.ID)
	}
	return out
}

func count(t *testing.T, c *mongo.Collection) int {
	t.Helper()
	n, err := c.CountDocuments(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

const hoursSpan = 30 * 24 * time.Hour // of a bucket, with granularity hours

func TestGoWeather24h(t *testing.T) {
	t.Parallel()
	year := weather(t)
	s := start(t, clockAt("2010-01-01T00:00:00Z")...)
	db := connect(t, s.URI).Database("climate")
	series := options.TimeSeries().SetTimeField("timestamp").SetMetaField("metadata").SetGranularity("hours")
	if err := db.CreateCollection(t.Context(), "weather24h", options.CreateCollection().SetTimeSeriesOptions(series).SetExpireAfterSeconds(86400)); err != nil {
		t.Fatal(err)
	}
	insertWeather(t, db.Collection("weather24h"), year)
	for _, v := range []any{604801, "off", 86400} {
		command(t, db, bson.D{{Key: "collMod", Value: "weather24h"}, {Key: "expireAfterSeconds", Value: v}})
		wantExpireAfter(t, db, v)
	}
	syncJournal(t, s.URI)
	s = s.restart(t, true, clockAt("2010-01-20T00:00:00Z")...)
	c := connect(t, s.URI)
	coll := c.Database("climate").Collection("weather24h")
	checkDailyMeans(t, coll, year)
	checkBucketsExpire(t, c, coll, year)
}

func insertWeather(t *testing.T, coll *mongo.Collection, year []hour) {
	t.Helper()
	docs := make([]any, len(year))
	for i, h := range year {
		docs[i] = bson.D{
			{Key: "timestamp", Value: h.At}, {Key: "metadata", Value: bson.D{{Key: "station", Value: "Seattle"}}},
			{Key: "temperature", Value: h.Temperature}, {Key: "pressure", Value: h.Pressure}, {Key: "wind", Value: h.Wind},
		}
	}
	if _, err := coll.InsertMany(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	if n := count(t, coll); n != len(year) {
		t.Fatalf("%d measurements, want %d", n, len(year))
	}
}

func wantExpireAfter(t *testing.T, db *mongo.Database, want any) {
	t.Helper()
	specs, err := db.ListCollectionSpecifications(t.Context(), bson.D{{Key: "name", Value: "weather24h"}})
	if err != nil {
		t.Fatal(err)
	}
	if specs[0].Type != "timeseries" {
		t.Errorf("type %q", specs[0].Type)
	}
	got, ok := specs[0].Options.Lookup("expireAfterSeconds").AsInt64OK()
	if n, isNumber := want.(int); isNumber != ok || isNumber && int64(n) != got {
		t.Errorf("after collMod to %v: options %v", want, specs[0].Options)
	}
}

func checkDailyMeans(t *testing.T, coll *mongo.Collection, year []hour) {
	t.Helper()
	cur, err := coll.Aggregate(t.Context(), mongo.Pipeline{
		{{Key: "$group", Value: bson.D{
			{Key: "_id", Value: bson.D{{Key: "$dateTrunc", Value: bson.D{{Key: "date", Value: "$timestamp"}, {Key: "unit", Value: "day"}}}}},
			{Key: "sum", Value: bson.D{{Key: "$sum", Value: "$temperature"}}}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	type day struct {
		ID  time.Time `bson:"_id"`
		Sum float64
		N   int
	}
	var days []day
	if err := cur.All(t.Context(), &days); err != nil {
		t.Fatal(err)
	}
	want := map[time.Time]day{}
	for _, h := range year {
		d := want[h.At.Truncate(24*time.Hour)]
		want[h.At.Truncate(24*time.Hour)] = day{Sum: d.Sum + h.Temperature, N: d.N + 1}
	}
	if len(days) != len(want) {
		t.Errorf("%d days, want %d", len(days), len(want))
	}
	for _, d := range days {
		w := want[d.ID.UTC()]
		if diff := d.Sum - w.Sum; d.N != w.N || diff > 1e-6 || diff < -1e-6 {
			t.Errorf("%v: sum %v of %d, want %v of %d", d.ID, d.Sum, d.N, w.Sum, w.N)
		}
	}
}

// checkBucketsExpire moves the clock to the instants at which buckets go.
// With granularity hours a bucket starts at the day of its first
// measurement, here each 30 days.
func checkBucketsExpire(t *testing.T, c *mongo.Client, coll *mongo.Collection, year []hour) {
	t.Helper()
	first := year[0].At.Truncate(24 * time.Hour)
	for i := range 12 {
		minimum := first.Add(time.Duration(i) * hoursSpan)
		due := minimum.Add(hoursSpan + 24*time.Hour)
		jumpTo(t, c, due.Add(-time.Millisecond))
		if n := pass(t, c, "timeseriesBuckets"); n != 0 {
			t.Errorf("%d buckets deleted before %v", n, due)
		}
		jumpTo(t, c, due)
		if n := pass(t, c, "timeseriesBuckets"); n != 1 {
			t.Errorf("%d buckets deleted at %v, want 1", n, due)
		}
		left := 0
		for _, h := range year {
			if !h.At.Before(minimum.Add(hoursSpan)) {
				left++
			}
		}
		if n := count(t, coll); n != left {
			t.Errorf("%d measurements at %v, want %d", n, due, left)
		}
	}
}

func TestGoSessions(t *testing.T) {
	t.Parallel()
	s := start(t, clockAt("2026-01-01T00:00:00Z")...)
	c := connect(t, s.URI)
	db := c.Database("web")
	policies := map[string]int32{"off": 0, "never": -1, "sessions": 1000}
	for name, seconds := range policies {
		if seconds != 0 {
			index := mongo.IndexModel{Keys: bson.D{{Key: "_ts", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(seconds)}
			if _, err := db.Collection(name).Indexes().CreateOne(t.Context(), index); err != nil {
				t.Fatal(err)
			}
		}
		docs := []any{bson.D{{Key: "_id", Value: "missing"}}, bson.D{{Key: "_id", Value: "forever"}, {Key: "ttl", Value: -1}}, bson.D{{Key: "_id", Value: "own"}, {Key: "ttl", Value: 2000}}}
		if _, err := db.Collection(name).InsertMany(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
	}
	all := []string{"forever", "missing", "own"}
	advance(t, c, 999999*time.Millisecond)
	wantLeft(t, db, map[string][]string{"off": all, "never": all, "sessions": all})

	s = s.restart(t, false, clockAt("2026-01-01T00:16:40Z")...)
	c = connect(t, s.URI)
	db = c.Database("web")
	wantLeft(t, db, map[string][]string{"off": all, "never": all, "sessions": {"forever", "own"}})
	advance(t, c, 999999*time.Millisecond)
	wantLeft(t, db, map[string][]string{"off": all, "never": all, "sessions": {"forever", "own"}})
	advance(t, c, time.Millisecond)
	last := map[string][]string{"off": all, "never": {"forever", "missing"}, "sessions": {"forever"}}
	wantLeft(t, db, last)
	if n := pass(t, c, "documentTtl"); n != 3 {
		t.Errorf("%d documents purged, want 3", n)
	}
	syncJournal(t, s.URI)
	s = s.restart(t, true, clockAt("2030-01-01T00:00:00Z")...)
	wantLeft(t, connect(t, s.URI).Database("web"), last)
}

func wantLeft(t *testing.T, db *mongo.Database, want map[string][]string) {
	t.Helper()
	for name, list := range want {
		if got := ids(t, db.Collection(name)); !slices.Equal(got, list) {
			t.Errorf("%s: %s", name, cmp.Diff(list, got))
		}
	}
}

func TestGoPartialTTL(t *testing.T) {
	t.Parallel()
	s := start(t, "--setParameter", "ttlMonitorSleepSecs=1")
	db := connect(t, s.URI).Database("work")
	coll := db.Collection("jobs")
	filter := bson.D{{Key: "state", Value: "done"}}
	index := mongo.IndexModel{Keys: bson.D{{Key: "doneAt", Value: 1}}, Options: options.Index().SetPartialFilterExpression(filter)}
	if _, err := coll.Indexes().CreateOne(t.Context(), index); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour)
	docs := []any{
		bson.D{{Key: "_id", Value: "due"}, {Key: "state", Value: "done"}, {Key: "doneAt", Value: past}},
		bson.D{{Key: "_id", Value: "other"}, {Key: "state", Value: "running"}, {Key: "doneAt", Value: past}},
		bson.D{{Key: "_id", Value: "young"}, {Key: "state", Value: "done"}, {Key: "doneAt", Value: time.Now().Add(time.Hour)}},
	}
	if _, err := coll.InsertMany(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	command(t, db, bson.D{{Key: "collMod", Value: "jobs"}, {Key: "index", Value: bson.D{{Key: "name", Value: "doneAt_1"}, {Key: "expireAfterSeconds", Value: 60}}}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil && count(t, coll) == 3 {
		pause(ctx)
	}
	if got := ids(t, coll); !slices.Equal(got, []string{"other", "young"}) {
		t.Errorf("left after a minute: %v", got)
	}
}

// pause waits a moment between two looks.
func pause(ctx context.Context) {
	look, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	<-look.Done()
}
