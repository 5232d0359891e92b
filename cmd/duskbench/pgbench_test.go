package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/internal/pgtest"
)

// TestPgBench measures a null server and pgbench in turns: what both have in common has a
// ratio, and nothing is left in the database.
func TestPgBench(t *testing.T) {
	needs.Program(t, "pgbench")
	uri := pgtest.URI(t)
	c := pgbenchCommand{Server: nullTarget(t).addr, Database: uri, DatabasePid: os.Getppid(), Program: "pgbench", Rounds: 2, Busy: 1, loadOptions: shortLoad()}
	c.Workload, c.JSON = []string{"insertOne", "findRange"}, filepath.Join(t.TempDir(), "out.json")
	var out strings.Builder
	if err := c.Run(&out); err != nil {
		t.Fatal(err)
	}
	var all []pgResult
	readJSON(t, c.JSON, &all)
	if len(all) != 2 || len(all[0].PgBench) != 2 || len(all[1].PgBench) != 0 || len(all[1].Server) != 2 {
		t.Fatalf("got %+v", all)
	}
	if r := all[0].PgBench[0]; r.Ops == 0 || r.OpsPerSec <= 0 || all[0].Ratio <= 0 || all[1].Ratio != 0 {
		t.Errorf("got %+v", all)
	}
	if _, err := c.pgbench("select id from duskbench;\n", "-t", "1"); err == nil {
		t.Error("the table is still there")
	}
	c.Program = filepath.Join(t.TempDir(), "missing")
	if err := c.Run(&out); err == nil {
		t.Error("no error without pgbench")
	}
}

// TestTreeTime: the time of a process has that of its children, also after their end.
func TestTreeTime(t *testing.T) {
	own, ok := processTime(os.Getpid())
	if !ok {
		t.Skip("only Linux has it")
	}
	if sum, ok := treeTime(os.Getpid()); !ok || sum < own {
		t.Errorf("%v, less than %v of the process alone", sum, own)
	}
	if _, ok := treeTime(-1); ok {
		t.Error("no process has a time")
	}
}
