package housekeeping_test

import (
	"context"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// databaseNames are the names that listDatabases gives, of those not empty.
func databaseNames(h *harness.Harness) string {
	h.Helper()
	var names []string
	for d := range h.Admin(`{listDatabases: 1}`).Lookup("databases").Doc().Values() {
		if size := d.Doc().Lookup("sizeOnDisk"); size.Kind() != value.KindInt64 || size.Int64() <= 0 || d.Doc().Lookup("empty").Truthy() {
			h.Errorf("listed as %s", d)
		}
		names = append(names, d.Doc().Lookup("name").Clone().Str())
	}
	return strings.Join(names, " ")
}

// A server that nobody has used shows the databases that mongod shows.
func TestFirstDatabases(t *testing.T) {
	h := harness.New(t)
	h.OK(`{find: "c", lsid: {id: {"$uuid": "00000000-0000-4000-8000-000000000001"}}}`)
	if err := housekeeping.KeepSessions(h.Svc, context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := databaseNames(h); got != "admin config local" {
		t.Error(got)
	}
	version := h.Admin(`{find: "system.version"}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0).Doc()
	if got := version.String(); got != `{ _id: "featureCompatibilityVersion", version: "8.2" }` {
		t.Error(got)
	}
	// A second server over the same data finds it there.
	if err := kernel.KeepFeatureVersion(h.Svc); err != nil {
		t.Error(err)
	}
}

// The sessions are written down with the digest of nobody's name, and go when
// they end.
func TestSessionsWrittenDown(t *testing.T) {
	h := harness.New(t)
	keep := func(want int) value.Doc {
		t.Helper()
		if err := housekeeping.KeepSessions(h.Svc, context.Background()); err != nil {
			t.Fatal(err)
		}
		docs := h.RunOn("config", harness.Relaxed(`{find: "system.sessions"}`)).Lookup("cursor").Doc().Lookup("firstBatch").Doc()
		if docs.Len() != want {
			t.Fatalf("%d sessions in %s", want, docs)
		}
		return docs.Index(0).Doc()
	}
	const lsid = `{id: {"$uuid": "00000000-0000-4000-8000-000000000001"}}`
	keep(0)
	h.OK(`{find: "c", lsid: ` + lsid + `}`)
	d := keep(1)

	if uid := d.Lookup("_id").Doc().Lookup("uid").String(); uid != `BinData(0, E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855)` { // SHA-256 of nothing
		t.Error(uid)
	}
	if d.Lookup("lastUse").Kind() != value.KindDateTime {
		t.Error(d)
	}
	keep(1)
	h.OK(`{endSessions: [` + lsid + `]}`)
	keep(0)
	lines := h.RunOn("config", harness.Relaxed(`{listIndexes: "system.sessions"}`)).Lookup("cursor").Doc().Lookup("firstBatch").Doc()
	if got := lines.Index(1).String(); got != `{ v: 2, key: { lastUse: 1 }, name: "lsidTTLIndex", expireAfterSeconds: 1800 }` {
		t.Error(got)
	}
}
