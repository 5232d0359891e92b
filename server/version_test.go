package server_test

import (
	"context"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/value"
)

// openAs starts a server over a directory that behaves as a version of MongoDB, and returns
// what runs commands and what stops it.
func openAs(t *testing.T, dir, version string) (admin func(command string) value.Doc, stop func(), err error) {
	t.Helper()
	s, err := server.New(server.Config{DBPath: dir, MongoDBVersion: version})
	if err != nil {
		return nil, nil, err
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	_, client := dial(t, s)
	admin = func(command string) value.Doc {
		return mustRoundTrip(t, client, value.MustJSON(command+`, "$db": "admin"}`))
	}
	stop = func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
	return admin, stop, nil
}

// A version refuses the data of a newer one, as mongod does, until its feature
// compatibility version is lowered. An older one stays as it is.
func TestVersionOfData(t *testing.T) {
	dir := t.TempDir()
	for _, step := range []struct{ as, refused, feature, set string }{
		{as: "8.0", feature: "8.0"},
		{as: "8.2", feature: "8.0"},
		{as: "", feature: "8.0", set: "8.2"},
		{as: "8.0", refused: `the data has the feature compatibility version "8.2", which MongoDB 8.0 cannot use`},
		{as: "8.2", feature: "8.2", set: "8.0"},
		{as: "8.0", feature: "8.0"},
		{as: "7.0", refused: `the version of MongoDB is "7.0", not one of 8.2, 8.0`},
	} {
		admin, stop, err := openAs(t, dir, step.as)
		if step.refused != "" {
			if err == nil || !strings.Contains(err.Error(), step.refused) {
				t.Fatalf("as %q: %v, want %s", step.as, err, step.refused)
			}
			continue
		}
		if err != nil {
			t.Fatalf("as %q: %v", step.as, err)
		}
		if got := admin(`{"getParameter": 1, "featureCompatibilityVersion": 1`).Lookup("featureCompatibilityVersion").Doc().Lookup("version").Str(); got != step.feature {
			t.Errorf("as %q: %s, want %s", step.as, got, step.feature)
		}
		if step.set != "" {
			admin(`{"setFeatureCompatibilityVersion": "` + step.set + `", "confirm": true`)
		}
		stop()
	}
}

// What a client sees of the version.
func TestReportedVersion(t *testing.T) {
	for version, want := range map[string]struct {
		full string
		wire int32
	}{"": {"8.2.4", 27}, "8.2": {"8.2.4", 27}, "8.0": {"8.0.16", 25}} {
		admin, stop, err := openAs(t, t.TempDir(), version)
		if err != nil {
			t.Fatal(err)
		}
		if got := admin(`{"buildInfo": 1`).Lookup("version").Str(); got != want.full {
			t.Errorf("%q: buildInfo says %s", version, got)
		}
		if got := admin(`{"hello": 1`).Lookup("maxWireVersion").Int32(); got != want.wire {
			t.Errorf("%q: hello says %d", version, got)
		}
		stop()
	}
}
