package replication_test

import (
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/replset"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// storeConfig stores a configuration as another server over the same data would.
func storeConfig(h *harness.Harness, d value.Doc) {
	h.Helper()
	err := h.Svc.Engine.Update(h.Context(), func(tx storage.Tx) error {
		return serverdocs.PutOnly(tx, replset.ConfigNamespace, d, h.Svc.Clock.NowMillis())
	})
	if err != nil {
		h.Fatal(err)
	}
}

// A configuration that one server over the data sets counts on another one with its next
// command.
func TestSetConfigOfAnotherServer(t *testing.T) {
	first := harness.New(t).LoneServer("the configuration of a set").AsMember()
	svc, err := harness.NewService(kernel.Options{Engine: first.Svc.Engine, Clock: first.Clock, Log: zerolog.Nop(), TempDir: t.TempDir(), ReplSet: "rs"})
	if err != nil {
		t.Fatal(err)
	}
	defer housekeeping.Close(svc)
	second := &harness.Harness{TB: t, Svc: svc, Clock: first.Clock, Conn: svc.NewConn("127.0.0.1:2", "127.0.0.1:27017")}
	const here = `{insert: "c", documents: [{}], writeConcern: {w: "here"}}`
	if code := first.Run(here).Lookup("writeConcernError").Doc().Lookup("code").Int32(); code != 79 {
		t.Errorf("code %d of an unknown mode", code)
	}
	// The second server began the latest term.
	if r := second.Admin(`{replSetReconfig: {_id: "rs", version: 7, members: [{_id: 0, host: "127.0.0.1", tags: {dc: "east"}}], settings: {getLastErrorModes: {here: {dc: 1}}}}}`); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	if got, want := currentConfig(first), currentConfig(second); got.String() != want.String() {
		t.Errorf("the other server has %s, want %s", got, want)
	}
	if r := first.OK(here); r.Has("writeConcernError") {
		t.Error(r)
	}
	if hello := first.Admin(`{hello: 1}`); hello.Lookup("setVersion").Int32() != 7 || hello.Lookup("tags").Doc().JSON() != `{"dc":"east"}` {
		t.Error(hello)
	}
}

// A stored configuration that cannot be used changes nothing, and the next one that can be
// used counts.
func TestUnusableSetConfig(t *testing.T) {
	h := harness.New(t).LoneServer("the configuration of a set").AsMember()
	if r := h.Admin(`{replSetReconfig: {_id: "rs", version: 3, members: [{_id: 0, host: "127.0.0.1"}]}}`); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	want := currentConfig(h)
	for _, d := range []string{
		`{_id: "rs", version: "x"}`,
		`{_id: "rs", version: 9, members: []}`,
		`{_id: "other", version: 9, members: [{_id: 0, host: "127.0.0.1"}]}`,
		`{_id: "rs", version: 9, members: [{_id: 0, host: "127.0.0.1"}, {_id: 1, host: "b:1"}]}`,
	} {
		storeConfig(h, harness.Relaxed(d))
		if got := currentConfig(h); got.String() != want.String() {
			t.Errorf("after %s was stored: %s, want %s", d, got, want)
		}
	}
	storeConfig(h, harness.Relaxed(`{_id: "rs", version: 9, members: [{_id: 0, host: "127.0.0.1"}]}`))
	got := currentConfig(h)
	if got.Lookup("version").Int32() != 9 || !value.Equal(got.Lookup("settings").Doc().Lookup("replicaSetId"), want.Lookup("settings").Doc().Lookup("replicaSetId")) {
		t.Errorf("afterwards %s", got)
	}
}

// Commands that depend on a configuration which cannot be read fail, and say why. The next
// ones try again.
func TestUnreadableSetConfig(t *testing.T) {
	h, e := harness.NewBreakable(t, kernel.Options{})
	h.AsMember()
	tests := []struct{ db, command, after string }{
		{"admin", `{hello: 1}`, ""},
		{"admin", `{serverStatus: 1}`, ""},
		{"admin", `{replSetGetConfig: 1}`, ""},
		{"admin", `{replSetGetStatus: 1}`, ""},
		{"admin", `{replSetInitiate: {}}`, ""},
		{"admin", `{replSetReconfig: {_id: "rs", version: 8, members: [{_id: 0, host: "127.0.0.1"}]}}`, ""},
		{"admin", `{setDefaultRWConcern: 1, defaultWriteConcern: {w: "here"}}`, "No write concern mode named 'here' found in replica set configuration"},
		{"test", `{insert: "c", documents: [{}], writeConcern: {w: "majority"}}`, ""},
		{"test", `{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}], commitQuorum: "here"}`, "No write concern mode named 'here' found in replica set configuration"},
	}
	for _, tt := range tests {
		storeConfig(h, harness.Relaxed(`{_id: "rs", version: 7, members: [{_id: 0, host: "127.0.0.1"}]}`))
		e.Broken = replset.ConfigNamespace
		for range 2 {
			r := h.RunOn(tt.db, harness.Relaxed(tt.command))
			if r.Lookup("ok").Truthy() || !strings.Contains(r.Lookup("errmsg").Str(), "read local.system.replset: "+harness.ErrBroken.Error()) {
				t.Errorf("%s answered %s", tt.command, r)
			}
		}
		e.Broken = storage.Namespace{}
		if r := h.RunOn(tt.db, harness.Relaxed(tt.command)); r.Lookup("errmsg").Str() != tt.after {
			t.Errorf("afterwards %s answered %s", tt.command, r)
		}
	}
	// The write was made: only its write concern is not known.
	storeConfig(h, harness.Relaxed(`{_id: "rs", version: 9, members: [{_id: 0, host: "127.0.0.1"}]}`))
	e.Broken = replset.ConfigNamespace
	r := h.OK(`{insert: "c", documents: [{_id: 1}], writeConcern: {w: "here"}}`)
	if failed := r.Lookup("writeConcernError").Doc(); !strings.Contains(failed.Lookup("errmsg").Str(), harness.ErrBroken.Error()) || r.Lookup("n").Int32() != 1 {
		t.Error(r)
	}
}
