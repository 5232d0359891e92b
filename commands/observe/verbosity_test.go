package observe_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// levels are the levels that the talking components come to.
func levels(v *observe.Verbosity) (list []int32) {
	for i := observe.LogAccess; int(i) < len(observe.ComponentNames); i++ {
		list = append(list, v.Levels[i].Load())
	}
	return list
}

// A component without a level has that of the one around it, at last the default; -1
// takes a level away. So the manual's page "Log Messages, Verbosity Levels" has it.
func TestVerbosityIsInherited(t *testing.T) {
	v := observe.NewVerbosity()
	at := func(access, command, network, query, transaction, write int32) {
		t.Helper()
		want := []int32{access, command, network, query, transaction, write}
		most := int32(0)
		for i, n := range levels(v) {
			if most = max(most, n); n != want[i] {
				t.Errorf("%s has %d, want %v", observe.ComponentNames[i+1].Short, n, want)
			}
		}
		if v.Highest.Load() != most {
			t.Errorf("the highest is %d, want %d", v.Highest.Load(), most)
		}
	}
	at(0, 0, 0, 0, 0, 0)
	v.Set(map[string]int32{"": 1, "network": 3, "storage": 5})
	at(1, 1, 3, 1, 1, 1)
	v.Set(map[string]int32{"network.asio": 4, "query": 0})
	at(1, 1, 3, 0, 1, 1)
	d := v.Document()
	for path, want := range map[string]int32{
		"verbosity": 1, "network.verbosity": 3, "network.asio.verbosity": 4, "network.bridge.verbosity": -1, "query.verbosity": 0, "write.verbosity": -1,
		"storage.verbosity": 5, "storage.wt.wtBackup.verbosity": -1, "storage.journal.verbosity": -1, "tenantMigration.verbosity": -1,
	} {
		at, names := d, strings.Split(path, ".")
		for _, name := range names[:len(names)-1] {
			at = at.Lookup(name).Doc()
		}
		if got := at.Lookup("verbosity"); got.Kind() != value.KindInt32 || got.Int32() != want {
			t.Errorf("%s is %s, want %d", path, got, want)
		}
	}
	v.Set(map[string]int32{"": 0, "network": -1, "storage": -1})
	at(0, 0, 0, 0, 0, 0)
}

// What logComponentVerbosity may be, with the errors of mongod's
// parseLogComponentSettings.
func TestParseVerbosity(t *testing.T) {
	for _, tt := range []struct{ set, want, err string }{
		{`{}`, ``, ""},
		{`{verbosity: 2}`, `default=2`, ""},
		{`{query: 1, network: {verbosity: 2, asio: -1}}`, `network=2 network.asio=-1 query=1`, ""},
		{`{storage: {wt: {wtBackup: {verbosity: 3}}}}`, `storage.wt.wtBackup=3`, ""},
		{`{query: 2.0}`, `query=2`, ""},
		{`{foo: 1}`, ``, "BadValue: Invalid component name default.foo"},
		{`{network: {foo: 1}}`, ``, "BadValue: Invalid component name network.foo"},
		{`{query: "x"}`, ``, "BadValue: Invalid type stringfor component default.query"},
		{`{network: {asio: []}}`, ``, "BadValue: Invalid type arrayfor component network.asio"},
		{`{verbosity: "x"}`, ``, "BadValue: Expected default.verbosity to be safely cast to integer, but could not: Unable to coerce value to integral type"},
		{`{query: {verbosity: -2}}`, ``, "BadValue: Expected query.verbosity to be greater than or equal to -1, but found -2"},
		{`{query: -5}`, ``, "BadValue: Expected default.query to be greater than or equal to -1, but found -5"},
	} {
		set := map[string]int32{}
		err := observe.ParseVerbosity(harness.Relaxed(tt.set), "", set)
		if shown(err) != tt.err {
			t.Errorf("%s: %q, want %q", tt.set, shown(err), tt.err)
			continue
		}
		n := 0
		for name, level := range set {
			if name == "" {
				name = "default"
			}
			if one := name + "=" + value.Int32(level).String(); !strings.Contains(" "+tt.want+" ", " "+one+" ") {
				t.Errorf("%s sets %s, want %s", tt.set, one, tt.want)
			}
			n++
		}
		if err == nil && n != len(strings.Fields(tt.want)) {
			t.Errorf("%s sets %v, want %s", tt.set, set, tt.want)
		}
		if _, err := observe.CheckVerbosity(value.Document(harness.Relaxed(tt.set))); shown(err) != tt.err {
			t.Errorf("%s: checked with %q", tt.set, shown(err))
		}
	}
	if _, err := observe.CheckVerbosity(value.Int32(1)); shown(err) != "TypeMismatch: log component verbosity is not a BSON object: 1" {
		t.Error(shown(err))
	}
}

// A log that says as much as usual leaves the level to the components; one that was
// made quieter stays so.
func TestWithAllLevels(t *testing.T) {
	for set, want := range map[zerolog.Level]zerolog.Level{
		zerolog.InfoLevel: zerolog.TraceLevel, zerolog.DebugLevel: zerolog.TraceLevel, zerolog.WarnLevel: zerolog.WarnLevel, zerolog.Disabled: zerolog.Disabled,
	} {
		if got := observe.WithAllLevels(zerolog.New(nil).Level(set)).GetLevel(); got != want {
			t.Errorf("%s becomes %s, want %s", set, got, want)
		}
	}
}

// shown is an error as a reply has it, "" for none.
func shown(err error) string {
	var e *mongoerr.Error
	if errors.As(err, &e) {
		return e.Code.String() + ": " + e.Message
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
