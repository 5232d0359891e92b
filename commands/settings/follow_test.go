package settings_test

import (
	"context"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// store puts a document into a collection beside the commands, as another
// server with the same storage would.
func store(h *harness.Harness, ns storage.Namespace, d value.Doc) {
	h.Helper()
	if err := h.Svc.Engine.Update(context.Background(), func(tx storage.Tx) error { return serverdocs.Put(tx, ns, d, 1) }); err != nil {
		h.Fatal(err)
	}
}

// mongod notices when config.settings is written to directly
// (ReadWriteConcernDefaults::observeDirectWriteToConfigSettings).
func TestDefaultConcernsFollowTheirDocument(t *testing.T) {
	h := harness.New(t).AsMember()
	h.OK(`{insert: "c", documents: [{_id: 0}]}`)
	source := func() string {
		return h.Admin(`{getDefaultRWConcern: 1}`).Lookup("defaultWriteConcernSource").Str()
	}
	if got := source(); got != "implicit" {
		t.Errorf("at first the write concern is %s", got)
	}
	stored := func(w string) value.Doc {
		return harness.Relaxed(`{_id: "ReadWriteConcernDefaults", defaultWriteConcern: {w: ` + w + `, wtimeout: 0}}`)
	}
	store(h, kernel.ConcernNamespace, stored(`"majority"`))
	if got := source(); got != "global" {
		t.Errorf("when it was stored the write concern is %s", got)
	}
	// The only member cannot satisfy a concern of two: 100 is CannotSatisfyWriteConcern.
	store(h, kernel.ConcernNamespace, stored(`2`))
	reply := h.Run(`{insert: "c", documents: [{_id: 1}]}`)
	if code := reply.Lookup("writeConcernError").Doc().Lookup("code").Int32(); code != 100 {
		t.Errorf("a write with the default {w: 2} answered %s", reply)
	}
	store(h, kernel.ConcernNamespace, stored(`1`))
	if reply := h.OK(`{insert: "c", documents: [{_id: 2}]}`); reply.Has("writeConcernError") {
		t.Errorf("a write with the default {w: 1} answered %s", reply)
	}
}

// mongod notices when config.clusterParameters is written to directly
// (ClusterServerParameterOpObserver).
func TestClusterParametersFollowTheirDocuments(t *testing.T) {
	h := harness.New(t).AsMember()
	images := func() string {
		d := h.Admin(`{getClusterParameter: "changeStreamOptions"}`).Lookup("clusterParameters").Doc().Index(0).Doc()
		return d.Lookup("preAndPostImages").Doc().Lookup("expireAfterSeconds").String()
	}
	if got := images(); got != `"off"` {
		t.Errorf("at first images expire after %s", got)
	}
	store(h, kernel.ClusterNamespace, harness.Relaxed(`{_id: "changeStreamOptions", preAndPostImages: {expireAfterSeconds: 77}}`))
	if got := images(); got != "77" {
		t.Errorf("images expire after %s", got)
	}
	if cluster, err := h.Svc.ClusterSettings(context.Background()); err != nil || cluster.ImageSeconds != 77 {
		t.Errorf("the log keeps images for %+v: %v", cluster, err)
	}
	store(h, kernel.ClusterNamespace, harness.Relaxed(`{_id: "changeStreamOptions", preAndPostImages: {expireAfterSeconds: "off"}}`))
	if cluster, err := h.Svc.ClusterSettings(context.Background()); err != nil || cluster.ImageSeconds != 0 {
		t.Errorf("the log keeps images for %+v: %v", cluster, err)
	}
}

func TestQuerySettingsFollowTheirDocument(t *testing.T) {
	h := harness.New(t).AsMember()
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}]}`)
	h.Admin(`{setQuerySettings: {find: "c", filter: {a: 1}, $db: "test"}, settings: {reject: true}}`)
	h.Fails(411, `{find: "c", filter: {a: 2}}`)
	store(h, kernel.ClusterNamespace, harness.Relaxed(`{_id: "querySettings", settingsArray: []}`))
	h.OK(`{find: "c", filter: {a: 2}}`)
}

// A command that depends on a setting which cannot be read fails, and says why.
// The next one tries again.
func TestUnreadableSettingFailsTheCommand(t *testing.T) {
	h, e := harness.NewBreakable(t, kernel.Options{})
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	tests := []struct {
		ns      storage.Namespace
		change  string
		command string
	}{
		{kernel.ConcernNamespace, `{_id: "ReadWriteConcernDefaults", defaultWriteConcern: {w: 1}}`, `{update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 1}}}]}`},
		{kernel.ClusterNamespace, `{_id: "defaultMaxTimeMS", readOperations: 5000}`, `{find: "c"}`},
	}
	for _, tt := range tests {
		store(h, tt.ns, harness.Relaxed(tt.change))
		e.Broken = tt.ns
		for range 2 {
			reply := h.Run(tt.command)
			if reply.Lookup("ok").Truthy() || !strings.Contains(reply.Lookup("errmsg").Str(), tt.ns.String()) {
				t.Errorf("%s: %s answered %s", tt.ns, tt.command, reply)
			}
		}
		h.OK(`{ping: 1}`)
		e.Broken = storage.Namespace{}
		h.OK(tt.command)
	}
	cluster, err := h.Svc.ClusterSettings(context.Background())
	if err != nil || cluster.ReadMillis != 5000 {
		t.Errorf("a read may take %+v: %v", cluster, err)
	}
}
