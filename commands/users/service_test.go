package users_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage/bunt"
)

// cheap are server parameters for passwords that cost little.
var cheap = map[string]string{"scramIterationCount": "5000", "scramSHA256IterationCount": "5000"}

// The first user is created at the start only if there are no users: changing the
// password in the settings later does not change the user.
func TestFirstUser(t *testing.T) {
	manual := clock.NewManual(harness.TestStart)
	engine, err := bunt.Open(bunt.Options{Path: ":memory:", Clock: manual, Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	start := func(name, password string) (*kernel.Service, error) {
		return harness.NewService(kernel.Options{Engine: engine, Clock: manual, TempDir: t.TempDir(), Log: zerolog.Nop(), Parameters: cheap,
			Security: kernel.Security{Auth: true, RootUser: name, RootPassword: password}})
	}
	if _, err := start("ann", ""); err == nil || !strings.Contains(err.Error(), "the root user needs a password") {
		t.Errorf("without a password: %v", err)
	}
	for _, password := range []string{"first", "second"} {
		svc, err := start("ann", password)
		if err != nil {
			t.Fatal(err)
		}
		h := &harness.AuthHarness{Harness: &harness.Harness{TB: t, Svc: svc, Clock: manual, Conn: svc.NewConn("10.0.0.1:1", "127.0.0.1:27017")}}
		if u := h.Find("ann"); len(u.Roles) != 1 || u.Roles[0].Name != "root" || u.Roles[0].DB != "admin" {
			t.Errorf("the first user has the roles %v", u.Roles)
		}
		c := client{h, "SCRAM-SHA-256", "admin", false, true}
		if reply, err := c.login("ann", "first"); err != nil || !reply.Lookup("ok").Truthy() {
			t.Errorf("started with %s, login answered %s, %v", password, reply, err)
		}
		housekeeping.Close(svc)
	}
}

// A server says at the start whom it lets in: in its log, and where it is open to
// other machines in getLog, as mongod does.
func TestStartWarnings(t *testing.T) {
	for _, tt := range []struct {
		security kernel.Security
		bypass   string
		logged   string
		listed   bool
	}{
		{kernel.Security{}, "true", "", false},
		{kernel.Security{Exposed: true}, "true", "Access control is not enabled for the database. Read and write access to data and configuration is unrestricted", true},
		{kernel.Security{Auth: true, Exposed: true}, "true", "may create the first one", false},
		{kernel.Security{Auth: true}, "false", "nobody can log in", false},
		{kernel.Security{Auth: true, RootUser: "ann", RootPassword: "p"}, "false", "", false},
	} {
		var log strings.Builder
		params := map[string]string{"enableLocalhostAuthBypass": tt.bypass}
		for name, v := range cheap {
			params[name] = v
		}
		h := harness.NewWith(t, kernel.Options{Log: zerolog.New(&log).Level(zerolog.WarnLevel), Security: tt.security, Parameters: params})
		if got := log.String(); (tt.logged == "") != (got == "") || !strings.Contains(got, tt.logged) {
			t.Errorf("%+v logs %q, want %q", tt.security, got, tt.logged)
		}
		h.Svc.Options.Security.Auth = false
		lines := h.Admin(`{getLog: "startupWarnings"}`).Lookup("log").Doc()
		found := false
		for v := range lines.Values() {
			found = found || strings.Contains(v.Str(), "Access control is not enabled") && strings.Contains(v.Str(), `"id":22120`) && strings.Contains(v.Str(), "2026-01-01T00:00:00")
		}
		if found != tt.listed {
			t.Errorf("%+v: startupWarnings are %s", tt.security, lines)
		}
	}
}

func TestRotateCertificates(t *testing.T) {
	h := harness.New(t)
	h.Refuses([]harness.Refusal{{DB: "admin", Command: `{rotateCertificates: 1}`, Code: 20, Text: "No SSLManager configured"}})
	calls := 0
	var failure error
	h.Svc.Options.Security.RotateCertificates = func() error { calls++; return failure }
	h.Refuses([]harness.Refusal{{DB: "admin", Command: `{rotateCertificates: 1}`}, {DB: "test", Command: `{rotateCertificates: 1}`, Code: 13}})
	failure = errors.New("no such file")
	h.Refuses([]harness.Refusal{{DB: "admin", Command: `{rotateCertificates: 1}`, Code: 140, Text: "Failed to rotate certificates: no such file"}})
	if calls != 2 {
		t.Errorf("read %d times", calls)
	}
}
