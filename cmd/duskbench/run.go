package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/duskdb/duskdb/wire"
)

// loadOptions say what is measured; run and compare share them.
type loadOptions struct {
	Workload    []string      `help:"Workloads, see duskbench workloads." default:"ping,findOne,insertOne"`
	Connections []int         `help:"Numbers of connections to measure with." default:"1,16,64"`
	Duration    time.Duration `help:"Time to measure." default:"5s"`
	Warmup      time.Duration `help:"Time to warm up before measuring." default:"1s"`
	Docs        int           `help:"Documents in the collection." default:"10000"`
	DocSize     int           `help:"Approximate size of a document in bytes." default:"200"`
	Batch       int           `help:"Documents per insertMany." default:"100"`
	Seed        uint64        `help:"Seed of the random choices." default:"1"`
	Client      string        `help:"What sends the requests: driver is the official Go driver; wire encodes messages itself and uses less processor time. ${enum}." enum:"driver,wire" default:"driver"`
	Compressor  string        `help:"Compress requests and replies: ${enum}." enum:"none,snappy,zlib,zstd" default:"none"`
	JSON        string        `name:"json" help:"Write the results to this file as JSON." type:"path" placeholder:"FILE"`

	collections int // over which the documents are spread; 0 is 1
}

// Validate is called by the command line parser.
func (o loadOptions) Validate() error {
	for _, name := range o.Workload {
		if _, err := findWorkload(name); err != nil {
			return err
		}
	}
	for _, n := range o.Connections {
		if n < 1 {
			return fmt.Errorf("%d connections are too few", n)
		}
	}
	if o.Docs < 1 || o.Batch < 1 || o.Duration <= 0 || o.Warmup < 0 || o.DocSize < 0 {
		return errors.New("--docs, --batch and --duration must be positive")
	}
	return nil
}

// compressor is the one the requests use.
func (o loadOptions) compressor() wire.Compressor {
	z, _ := wire.CompressorByName(o.Compressor)
	return z
}

// each calls f for every workload with every number of connections.
func (o loadOptions) each(f func(w workload, connections int) error) error {
	for _, name := range o.Workload {
		w, err := findWorkload(name)
		if err != nil {
			return err
		}
		for _, n := range o.Connections {
			if err := f(w, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// runCommand measures one server.
type runCommand struct {
	URI string `name:"uri" help:"Server: mongodb://host:port, null, or \"exec:PATH ARGUMENTS\" to start a binary." default:"mongodb://127.0.0.1:27017"`
	Pid int    `help:"Process of the server, if duskbench does not start it, to measure its processor time."`
	loadOptions
}

// Run measures and prints a line for each measurement as it ends.
func (c *runCommand) Run(out io.Writer) (err error) {
	t, err := openTarget(c.URI, c.Pid)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.stop()) }()
	results, err := c.measureAll(t, out)
	if err != nil || c.JSON == "" {
		return err
	}
	return writeJSON(c.JSON, results)
}

// measureAll measures every workload with every number of connections.
func (c *runCommand) measureAll(t *target, out io.Writer) (results []result, err error) {
	table := newTable(out, runColumns)
	err = c.each(func(w workload, n int) error {
		if err := prepare(t, w, c.loadOptions); err != nil {
			return err
		}
		r, err := measure(t, w, n, c.loadOptions)
		if err != nil {
			return err
		}
		results = append(results, r)
		table.row(runRow(r)...)
		return nil
	})
	return results, err
}
