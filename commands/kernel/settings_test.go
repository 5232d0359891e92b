package kernel_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Settings are documents in config; the server uses them whichever command wrote them.
func TestSettings(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	c := &kernel.Call{Svc: h.Svc, Ctx: context.Background(), Now: h.Clock.NowMillis()}
	put := func(body string) {
		t.Helper()
		ns := kernel.ClusterNamespace
		if strings.Contains(body, kernel.ConcernID) {
			ns = kernel.ConcernNamespace
		}
		if err := c.PutSetting(ns, harness.Relaxed(body)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := h.Svc.ClusterSettings(context.Background())
	if err != nil || s.ReadMillis != 0 || s.ImageSeconds != 0 || s.Queries != nil || len(s.Parameters) != 0 {
		t.Errorf("at first %+v, %v", s, err)
	}
	if d, err := h.Svc.DefaultConcerns(context.Background()); err != nil || d.Doc != nil || d.Write != nil {
		t.Errorf("at first %+v, %v", d, err)
	}
	put(`{_id: "defaultMaxTimeMS", readOperations: {$numberLong: "70"}}`)
	put(`{_id: "changeStreamOptions", preAndPostImages: {expireAfterSeconds: {$numberLong: "9"}}}`)
	put(`{_id: "querySettings", settingsArray: [{queryShapeHash: "AA", settings: {reject: true}}]}`)
	put(`{_id: "ReadWriteConcernDefaults", defaultWriteConcern: {w: "majority"}}`)
	s, err = h.Svc.ClusterSettings(context.Background())
	if err != nil || s.ReadMillis != 70 || s.ImageSeconds != 9 || s.Queries.Find("AA") == nil || len(s.Parameters) != 2 {
		t.Errorf("then %+v, %v", s, err)
	}
	if d, err := h.Svc.DefaultConcerns(context.Background()); err != nil || d.Write.String() != `{ w: "majority" }` {
		t.Errorf("then %+v, %v", d, err)
	}
	put(`{_id: "changeStreamOptions", preAndPostImages: {expireAfterSeconds: "off"}}`)
	if err := c.ChangeSetting(kernel.ClusterNamespace, value.String("defaultMaxTimeMS"), func(old value.Doc) value.Doc {
		return value.NewDoc("_id", old.Lookup("_id"), "readOperations", value.Int64(old.Lookup("readOperations").Int64()+1))
	}); err != nil {
		t.Error(err)
	}
	if s, err = h.Svc.ClusterSettings(context.Background()); err != nil || s.ReadMillis != 71 || s.ImageSeconds != 0 {
		t.Errorf("at last %+v, %v", s, err)
	}
	// A document that is too large changes nothing.
	err = c.PutSetting(kernel.ClusterNamespace, value.NewDoc("_id", value.String("defaultMaxTimeMS"), "text", value.String(strings.Repeat("x", 16<<20))))
	if mongoerr.CodeOf(err) != 17419 || mongoerr.From(err).Message != "Resulting document after update is larger than 16777216" {
		t.Errorf("too large: %v", err)
	}
	if s, err = h.Svc.ClusterSettings(context.Background()); err != nil || s.ReadMillis != 71 {
		t.Errorf("behind that %+v, %v", s, err)
	}
	e := &harness.Breakable{Engine: h.Svc.Engine, Broken: kernel.ClusterNamespace}
	h.Svc.Engine, h.Svc.Settings = e, kernel.NewSettings()
	if _, err := h.Svc.ClusterSettings(context.Background()); !errors.Is(err, harness.ErrBroken) {
		t.Errorf("unreadable: %v", err)
	}
}

func TestWhatWritesOut(t *testing.T) {
	t.Parallel()
	for pipeline, want := range map[string]bool{
		`[]`: false, `[{$match: {}}]`: false, `[{$match: {$out: 1}}]`: false, `[{$match: {}}, {$out: "d"}]`: true, `[{$merge: {into: "d"}}]`: true,
	} {
		if got := kernel.WritesOut(harness.Relaxed(`{p: ` + pipeline + `}`).Lookup("p").Doc()); got != want {
			t.Errorf("%s: %t", pipeline, got)
		}
	}
	for db, want := range map[string]bool{"test": true, "Admin": true, "admin": false, "config": false, "local": false} {
		if kernel.UserDatabase(db) != want {
			t.Errorf("%s belongs to users: %t", db, !want)
		}
	}
}
