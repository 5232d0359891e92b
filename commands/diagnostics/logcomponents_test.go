package diagnostics_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// A component logs by its own verbosity, or by the one that it inherits.
func TestLogVerbosityChangesTheLog(t *testing.T) {
	var log bytes.Buffer
	h := harness.NewWith(t, kernel.Options{Log: zerolog.New(&log).Level(zerolog.InfoLevel)})
	h.OK(`{profile: 0, slowms: 1000000}`) // nothing is slow on a busy machine either
	logged := func(set, command string) string {
		t.Helper()
		if set != "" {
			h.Admin(`{setParameter: 1, logComponentVerbosity: ` + set + `}`)
		}
		log.Reset()
		h.OK(command)
		return log.String()
	}
	const insert, find = `{insert: "c", documents: [{a: 1}]}`, `{find: "c", filter: {a: 1}}`
	for _, c := range []struct {
		set, command string
		want         []string
	}{
		{"", insert, nil},
		{`{write: 1}`, insert, []string{"Slow query"}},
		{"", find, nil},
		{`{write: {verbosity: -1}, query: {verbosity: 2}}`, find, []string{"Winning plan", "COLLSCAN"}},
		{"", insert, nil},
		{`{query: -1, command: 1}`, find, []string{"Slow query"}},
		{`{command: 2}`, find, []string{"About to run the command", "Slow query"}},
		{`{command: 0}`, find, nil},
		{`{verbosity: 2}`, find, []string{"Winning plan"}}, // command has a level of its own
		{`{verbosity: 0, command: -1}`, find, nil},
	} {
		got := logged(c.set, c.command)
		if len(c.want) == 0 && got != "" {
			t.Errorf("%s %s: logged %s", c.set, c.command, got)
		}
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s %s: no %q in %s", c.set, c.command, w, got)
			}
		}
		if lines := strings.Count(got, "\n"); c.set == `{verbosity: 2}` && lines != 1 {
			t.Errorf("%d lines: %s", lines, got)
		}
	}
}

// logLevel is the verbosity of components without their own.
func TestLogLevelIsTheDefaultVerbosity(t *testing.T) {
	h := harness.New(t)
	get := func() (level int32, all value.Doc) {
		r := h.Admin(`{getParameter: 1, logLevel: 1, logComponentVerbosity: 1}`)
		return r.Lookup("logLevel").Int32(), r.Lookup("logComponentVerbosity").Doc()
	}
	if level, all := get(); level != 0 || all.Lookup("verbosity").Int32() != 0 || all.Lookup("command").Doc().String() != harness.Relaxed(`{verbosity: -1}`).String() {
		t.Errorf("at first %d, %s", level, all)
	}
	if r := h.Admin(`{setParameter: 1, logComponentVerbosity: {verbosity: 3, storage: {verbosity: 2, journal: {verbosity: 1}}}}`); r.Lookup("was").Doc().Lookup("verbosity").Int32() != 0 {
		t.Errorf("answered %s", r)
	}
	level, all := get()
	storage := all.Lookup("storage").Doc()
	if level != 3 || storage.Lookup("verbosity").Int32() != 2 || storage.Lookup("journal").Doc().Lookup("verbosity").Int32() != 1 ||
		storage.Lookup("recovery").Doc().Lookup("verbosity").Int32() != -1 || storage.Lookup("wt").Doc().Lookup("wtBackup").Doc().Lookup("verbosity").Int32() != -1 {
		t.Errorf("then %d, %s", level, all)
	}
	if r := h.Admin(`{setParameter: 1, logLevel: 1}`); r.Lookup("was").Int32() != 3 {
		t.Errorf("answered %s", r)
	}
	if level, all := get(); level != 1 || all.Lookup("verbosity").Int32() != 1 || all.Lookup("storage").Doc().Lookup("verbosity").Int32() != 2 {
		t.Errorf("in the end %d, %s", level, all)
	}
}

// The errors of mongod's parser of the parameter.
func TestLogVerbosityErrors(t *testing.T) {
	h := harness.New(t)
	for _, c := range []struct {
		code int32
		set  string
		text string
	}{
		{14, `7`, "log component verbosity is not a BSON object"},
		{14, `"{command: 1}"`, "log component verbosity is not a BSON object"},
		{2, `{noSuch: 1}`, "Invalid component name default.noSuch"},
		{2, `{storage: {index: 1}}`, "Invalid component name storage.index"},
		{2, `{journal: 1}`, "Invalid component name default.journal"},
		{2, `{command: "1"}`, "Invalid type string"},
		{2, `{command: {verbosity: "1"}}`, "Expected command.verbosity to be safely cast to integer"},
		{2, `{command: {verbosity: -2}}`, "Expected command.verbosity to be greater than or equal to -1, but found -2"},
	} {
		r := h.Admin(`{setParameter: 1, logComponentVerbosity: ` + c.set + `}`)
		if r.Lookup("code").Int32() != c.code || !strings.Contains(r.Lookup("errmsg").Str(), c.text) {
			t.Errorf("%s: %s", c.set, r)
		}
	}
}

// At the start, levels come as text.
func TestLogVerbosityAtStart(t *testing.T) {
	var log bytes.Buffer
	h := harness.NewWith(t, kernel.Options{Log: zerolog.New(&log), Parameters: map[string]string{"logComponentVerbosity": "{command: 1, storage: {journal: {verbosity: 3}}}"}})
	h.OK(`{count: "c"}`)
	if !strings.Contains(log.String(), "Slow query") {
		t.Errorf("logged %s", log.String())
	}
}
