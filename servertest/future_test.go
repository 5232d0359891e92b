package servertest_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/servertest"
)

// logged is a log that a test reads.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.b.String(), text)
}

// A server that starts with data of a clock that was moved ahead says so.
func TestDataOfTheFuture(t *testing.T) {
	if engines.Remote(engines.ForTests()) {
		t.Skip("servers over one database have its clock")
	}
	const warning = "The newest change is dated in the future"
	dir := t.TempDir()
	run := func(at time.Time) *logged {
		var l logged
		srv := servertest.Run(t, servertest.Dir(dir), servertest.At(at), servertest.NoPort(), servertest.Log(zerolog.New(&l)))
		defer srv.Stop()
		srv.Advance(30 * 24 * time.Hour)
		if _, err := srv.Client(t).Database("db").Collection("c").InsertOne(t.Context(), bson.D{}); err != nil {
			t.Fatal(err)
		}
		return &l
	}
	if run(servertest.Start).has(warning) {
		t.Error("a new directory is of the future")
	}
	if !run(servertest.Start).has(warning) {
		t.Error("nothing was said of data that is 30 days ahead")
	}
	if run(servertest.Start.Add(90 * 24 * time.Hour)).has(warning) {
		t.Error("data of the past is of the future")
	}
}
