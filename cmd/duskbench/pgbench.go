package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// pgbenchCommand measures a server over PostgreSQL and, in turns with it, what pgbench does
// with the same database.
type pgbenchCommand struct {
	Server      string `help:"Server over the database: mongodb://host:port, or \"exec:PATH ARGUMENTS\" to start a binary." required:""`
	Pid         int    `help:"Process of the server, if duskbench does not start it, to measure its processor time."`
	Database    string `help:"Database, as pgbench takes it; it gets a table duskbench, which is dropped in the end." required:""`
	DatabasePid int    `name:"database-pid" help:"First process of the database, to measure the processor time of all of them."`
	Program     string `help:"The program pgbench." default:"pgbench"`
	Rounds      int    `help:"Number of rounds; each measures both." default:"3"`
	Busy        int    `help:"Number of processes that do nothing but use a processor meanwhile." default:"0"`
	loadOptions
}

// scripts are what pgbench does in place of workloads: one statement on one row. They are
// formatted with the number of rows and the size of one.
var scripts = map[string]string{
	"findOne":   "\\set id random(1, %[1]d)\nselect v from duskbench where id = :id;\n",
	"insertOne": "insert into duskbench (v) values (decode(repeat('78', %[2]d), 'hex'));\n",
	"updateOne": "\\set id random(1, %[1]d)\nupdate duskbench set v = decode(repeat('79', %[2]d), 'hex') where id = :id;\n",
}

const (
	makeTable = `drop table if exists duskbench;
create table duskbench (id bigserial primary key, v bytea);
insert into duskbench (v) select decode(repeat('78', %d), 'hex') from generate_series(1, %d);
`
	dropTable = "drop table duskbench;\n"
)

// pgResult is the result of all rounds of one workload.
type pgResult struct {
	Workload    string   `json:"workload"`
	Connections int      `json:"connections"`
	Server      []result `json:"server"`
	PgBench     []result `json:"pgbench,omitempty"`
	Ratio       float64  `json:"medianRatio,omitempty"`
}

var pgColumns = []column{
	{"workload", 11, true}, {"conns", 5, false}, {"ops/s", 9, false}, {"docs/s", 9, false}, {"pgbench/s", 9, false}, {"ratio", 6, false},
	{"p50 µs", 8, false}, {"p99 µs", 8, false}, {"client µs", 9, false}, {"server µs", 9, false}, {"db µs", 8, false}, {"pgbench µs", 10, false}, {"its db µs", 9, false},
}

func pgRow(x pgResult) []string {
	of := func(rs []result, get func(result) float64) string { return known(medianOf(rs, get), figure) }
	return []string{x.Workload, strconv.Itoa(x.Connections), of(x.Server, opsPerSec), of(x.Server, docsPerSec), of(x.PgBench, opsPerSec), known(x.Ratio, hundredths),
		of(x.Server, p50), of(x.Server, p99), of(x.Server, ownCPU), of(x.Server, serverCPU), of(x.Server, databaseCPU), of(x.PgBench, ownCPU), of(x.PgBench, databaseCPU)}
}

// Run measures and prints a line for each workload and number of connections.
func (c *pgbenchCommand) Run(out io.Writer) (err error) {
	t, err := openTarget(c.Server, c.Pid)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.stop()) }()
	t.database = c.DatabasePid
	idle, err := keepBusy(c.Busy)
	defer idle()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "client: %s; medians of %d rounds of %v beside %d busy processes; µs: processor time for an operation\n\n", c.Client, c.Rounds, c.Duration, c.Busy)
	var all []pgResult
	table := newTable(out, pgColumns)
	err = c.each(func(w workload, n int) error {
		x, err := c.compareOne(t, w, n)
		if err == nil {
			all = append(all, x)
			table.row(pgRow(x)...)
		}
		return err
	})
	if err == nil && c.JSON != "" {
		err = writeJSON(c.JSON, all)
	}
	return err
}

// keepBusy starts processes that take what they get of the processors, until idle is called.
func keepBusy(n int) (idle func(), err error) {
	ctx, idle := context.WithCancel(context.Background())
	for range n {
		if err := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done").Start(); err != nil {
			return idle, err
		}
	}
	return idle, nil
}

// compareOne measures one workload in rounds.
func (c *pgbenchCommand) compareOne(t *target, w workload, connections int) (x pgResult, err error) {
	x = pgResult{Workload: w.name, Connections: connections}
	script, compared := scripts[w.name]
	if compared {
		if _, err = c.pgbench(fmt.Sprintf(makeTable, c.DocSize, c.Docs), "-t", "1"); err != nil {
			return x, err
		}
		defer func() {
			_, derr := c.pgbench(dropTable, "-t", "1")
			err = errors.Join(err, derr)
		}()
	}
	for round := range c.Rounds {
		if round == 0 || !w.loads || w.grows {
			if err := prepare(t, w, c.loadOptions); err != nil {
				return x, err
			}
		}
		r, err := measure(t, w, connections, c.loadOptions)
		if err != nil {
			return x, err
		}
		x.Server = append(x.Server, r)
		if !compared {
			continue
		}
		if r, err = c.measurePgBench(script, connections); err != nil {
			return x, err
		}
		x.PgBench = append(x.PgBench, r)
	}
	x.Ratio = medianRatio(x.Server, x.PgBench)
	return x, nil
}

// measurePgBench lets pgbench send statements over a number of connections.
func (c *pgbenchCommand) measurePgBench(script string, connections int) (r result, err error) {
	used := &usage{database: meter{pid: c.DatabasePid, tree: true}}
	used.start()
	r, err = c.pgbench(fmt.Sprintf(script, c.Docs, c.DocSize), "-T", strconv.Itoa(max(int(c.Duration/time.Second), 1)), "-c", strconv.Itoa(connections), "-j", strconv.Itoa(min(connections, 2)))
	used.stop()
	r.DatabaseCPU = used.database.perOp(r.Ops)
	return r, err
}

// pgFigures are what pgbench says in the end; it has no rate of no transactions.
var pgFigures = regexp.MustCompile(`(?s)transactions actually processed: (\d+)(?:.*tps = ([\d.]+))?`)

// pgbench runs a script.
func (c *pgbenchCommand) pgbench(script string, args ...string) (r result, err error) {
	file := filepath.Join(os.TempDir(), fmt.Sprintf("duskbench-%d.sql", os.Getpid()))
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return r, err
	}
	defer func() { _ = os.Remove(file) }()
	cmd := exec.Command(c.Program, append(args, "-n", "-M", "prepared", "-f", file, c.Database)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return r, fmt.Errorf("%s: %w: %s", c.Program, err, out)
	}
	found := pgFigures.FindSubmatch(out)
	if found == nil {
		return r, fmt.Errorf("%s has said: %s", c.Program, out)
	}
	r = result{Target: "pgbench"}
	r.Ops, _ = strconv.ParseInt(string(found[1]), 10, 64)
	r.OpsPerSec, _ = strconv.ParseFloat(string(found[2]), 64)
	own := meter{known: true, used: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	r.OwnCPU = own.perOp(r.Ops)
	return r, nil
}
