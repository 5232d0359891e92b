// Command duskbench measures a MongoDB-compatible server from outside, with
// the official driver or, as --client wire, with its own encoder:
//
//	duskbench run --uri mongodb://127.0.0.1:27017 --workload ping,findOne
//	duskbench compare --a mongodb://127.0.0.1:27017 --b null --rounds 5
//	duskbench start ./duskdb
//
// "null" is a server that understands requests and answers each with a canned
// reply. It does only what every server in Go must do, so the ratio to it
// compares a server with the possible speed, on any machine. The driver takes
// more processor time than a server; with wire, the server's share is easier
// to see.
//
// Rates depend on what else the machine does. The processor time that the
// server uses per operation hardly does, so run and compare measure it as well:
// the column "cpu µs" is the time of the server's whole process, in user and
// kernel mode, during the measurement, divided by the operations that were
// answered; "own cpu" is that of the load generator. It is measured on Linux,
// for servers that duskbench starts (exec:PATH and null), and for others with
// their process id:
//
//	duskbench run --uri mongodb://127.0.0.1:27017 --pid $(pidof mongod)
//	duskbench compare --a "exec:./duskdb --replSet rs0" --b mongodb://127.0.0.1:27018 --b-pid 4711
//
// What a server does in the background counts, and so do the unmeasured
// requests of deleteOne. In a comparison, "b/a" is the processor time of b for
// an operation divided by that of a: with the null server as b, 1 would be a
// server that costs no more than answering at all.
package main

import (
	"io"
	"os"

	"github.com/alecthomas/kong"
)

// cli is the command line.
type cli struct {
	Run       runCommand       `cmd:"" help:"Run workloads against one server."`
	Compare   compareCommand   `cmd:"" help:"Run workloads against two servers in turn and print the ratio."`
	Beside    besideCommand    `cmd:"" help:"Measure a workload alone and while another one runs."`
	Expiry    expiryCommand    `cmd:"" help:"Measure how fast a server removes documents that are due."`
	Growth    growthCommand    `cmd:"" help:"Measure how the cost of operations grows with the data."`
	Start     startCommand     `cmd:"" help:"Measure the time from exec of a server to its first answered ping."`
	PgBench   pgbenchCommand   `cmd:"" name:"pgbench" help:"Run workloads against a server over PostgreSQL, and pgbench on its database, in turn."`
	Null      nullCommand      `cmd:"" help:"Serve canned replies until standard input is closed."`
	Workloads workloadsCommand `cmd:"" help:"List the workloads."`
}

func main() {
	var c cli
	k := kong.Parse(&c,
		kong.Name("duskbench"),
		kong.Description("Load generator for DuskDB and other MongoDB-compatible servers."),
		kong.UsageOnError(),
		kong.BindTo(os.Stdout, (*io.Writer)(nil)),
	)
	k.FatalIfErrorf(k.Run())
}
