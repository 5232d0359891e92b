package servertest_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/servertest"
)

func TestDirSurvivesStop(t *testing.T) {
	dir := t.TempDir()
	first := servertest.Run(t, servertest.Dir(dir), servertest.At(servertest.Start))
	s := connect(t, first)
	s.ok(`{insert: "c", documents: [{_id: 1}, {_id: 2}]}`)
	s.leave()
	first.Stop()
	second := servertest.Run(t, servertest.Dir(dir), servertest.At(servertest.Start.Add(time.Hour)))
	if got := second.Dump("db.c"); strings.Count(got, "\n") != 2 {
		t.Errorf("after a restart: %s", got)
	}
	if got := second.Clock.Now(); !got.Equal(servertest.Start.Add(time.Hour)) {
		t.Errorf("the clock shows %s", got)
	}
}

func TestParameterOption(t *testing.T) {
	s := connect(t, servertest.Run(t, servertest.Parameter("ttlMonitorSleepSecs", "7")))
	r := s.admin(`{getParameter: 1, ttlMonitorSleepSecs: 1}`)
	if got := number(r.Lookup("ttlMonitorSleepSecs")); got != 7 {
		t.Errorf("ttlMonitorSleepSecs is %v", got)
	}
}

// Dump reads all batches.
func TestDumpOfMany(t *testing.T) {
	srv := servertest.Run(t)
	s := connect(t, srv)
	docs := make([]any, 500)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i}}
	}
	if _, err := s.db.Collection("c").InsertMany(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(srv.Dump("db.c"), "\n"); got != 500 {
		t.Errorf("%d lines", got)
	}
}

// BenchmarkRun measures how long a test waits for its server: start and stop.
func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		servertest.Run(b).Stop()
	}
}

// Code under test that does not use the server's clock writes dates of the system's
// clock: they must expire by the server's clock.
func TestStartsAtThePresent(t *testing.T) {
	srv := servertest.Run(t, servertest.NoPort())
	sessions := srv.Client(t).Database("test").Collection("sessions")
	_, err := sessions.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.M{"expires": 1}, Options: options.Index().SetExpireAfterSeconds(0)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sessions.InsertOne(t.Context(), bson.M{"expires": time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		advance time.Duration
		left    int64
	}{{59 * time.Minute, 1}, {3 * time.Minute, 0}} {
		srv.Clock.Advance(step.advance)
		if n, err := sessions.CountDocuments(t.Context(), bson.M{}); n != step.left || err != nil {
			t.Errorf("after %s %d sessions are left, %v", step.advance, n, err)
		}
	}
}
