package commands_test

import (
	"context"
	"slices"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/value"
)

// A service as the server and programs that embed it use it.
func TestService(t *testing.T) {
	t.Parallel()
	manual := clock.NewManual(harness.TestStart)
	engine, err := bunt.Open(bunt.Options{Path: ":memory:", Clock: manual, Indexer: commands.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	options := commands.Options{Engine: engine, Clock: manual, Log: zerolog.Nop(), TempDir: t.TempDir(), MaxConns: 7}
	s, err := commands.New(options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.Start(ctx)
	if err := s.Ready(); err != nil {
		t.Errorf("not ready: %v", err)
	}
	conn := s.NewConn("127.0.0.1:1", "127.0.0.1:27017")
	run := func(command string) value.Doc {
		t.Helper()
		out, _ := s.Handle(t.Context(), conn, &commands.Request{Body: harness.Relaxed(command)}, nil)
		return value.Doc(out)
	}
	entered, err := s.SetFailPoint(harness.Relaxed(`{m: {times: 1}}`).Lookup("m"), harness.Relaxed(`{failCommands: ["insert"], errorCode: 6}`))
	if err != nil || entered != 0 {
		t.Errorf("setting the fail point: %d, %v", entered, err)
	}
	for i, code := range []int32{6, 0} {
		if r := run(`{insert: "c", documents: [{_id: 1}], $db: "test"}`); r.Lookup("code").Int32() != code {
			t.Errorf("insert %d answered %s", i, r)
		}
	}
	if entered, err = s.SetFailPoint(value.String("off"), nil); err != nil || entered != 1 {
		t.Errorf("the fail point was entered %d times, %v", entered, err)
	}
	if _, err := s.SetFailPoint(value.String("sometimes"), nil); err == nil {
		t.Error("a mode that there is not was set")
	}
	if _, err := s.SetFailPoint(value.String("alwaysOn"), harness.Relaxed(`{failCommands: ["find"], errorCode: "x"}`)); err == nil {
		t.Error("an errorCode that is no number was set")
	}
	m := s.Snapshot()
	i := slices.IndexFunc(m.Documents, func(c commands.Counter) bool { return c.Name == "inserted" })
	if i < 0 || m.Documents[i].Value != 1 || m.Errors != 1 || m.Connections.Available != 7 {
		t.Errorf("counted %+v", m)
	}
	if n := s.Panics(); n != 0 {
		t.Errorf("%d panics", n)
	}
	cancel()
	s.Close()
}

// New refuses invalid options and parameters.
func TestServiceRefusesOptions(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*commands.Options){
		"an unknown parameter": func(o *commands.Options) { o.Parameters = map[string]string{"noSuchParameter": "1"} },
		"a bad value":          func(o *commands.Options) { o.Parameters = map[string]string{"ttlMonitorSleepSecs": "x"} },
		"a profiling level":    func(o *commands.Options) { o.Profiling = &commands.Profiling{Level: 9} },
	} {
		manual := clock.NewManual(harness.TestStart)
		engine, err := bunt.Open(bunt.Options{Path: ":memory:", Clock: manual, Indexer: commands.NewIndexer()})
		if err != nil {
			t.Fatal(err)
		}
		o := commands.Options{Engine: engine, Clock: manual, Log: zerolog.Nop()}
		change(&o)
		if s, err := commands.New(o); err == nil {
			t.Errorf("%s was accepted", name)
			s.Close()
		}
		_ = engine.Close()
	}
}

// The lists from which the support list of the README is made.
func TestNames(t *testing.T) {
	t.Parallel()
	names, parameters := commands.Names(), commands.ParameterNames()
	for _, list := range [][]string{names, parameters} {
		if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Errorf("not sorted, or with names twice: %v", list)
		}
	}
	for _, name := range []string{"aggregate", "find", "insert", "mqReceive", "configureFailPoint"} {
		if !slices.Contains(names, name) {
			t.Errorf("no command %s", name)
		}
	}
	if slices.Contains(names, "mapreduce") {
		t.Error("an alias is listed")
	}
	if !slices.Contains(parameters, "ttlMonitorEnabled") {
		t.Errorf("parameters %v", parameters)
	}
	if list := commands.OrphanIndexes(); len(list) != 1 || list[0].Name != "_id_" {
		t.Errorf("indexes of orphans %v", list)
	}
}
