package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/duskdb/duskdb/value"
)

// growthCommand measures how the cost of operations grows with the data.
type growthCommand struct {
	Binary      string        `arg:"" help:"Server binary; it is started with --port and --dbpath." type:"existingfile"`
	Sizes       []int         `help:"Numbers of documents." default:"10000,100000,1000000"`
	Indexes     []int         `help:"Numbers of indexes, including the one on _id: 1 to 5." default:"1,5"`
	Collections []int         `help:"Numbers of collections to spread the documents over." default:"1,1000"`
	Workload    []string      `help:"Workloads, see duskbench workloads." default:"findOne,insertOne,updateOne,deleteOne"`
	Conns       int           `name:"connections" help:"Connections." default:"16"`
	Duration    time.Duration `help:"Time to measure." default:"2s"`
	Rounds      int           `help:"Measurements of each workload; the median counts." default:"3"`
	DocSize     int           `help:"Approximate size of a document in bytes." default:"200"`
	Client      string        `help:"What sends the requests: ${enum}." enum:"driver,wire" default:"wire"`
	JSON        string        `name:"json" help:"Write the results to this file as JSON." type:"path" placeholder:"FILE"`
}

// growthResult is the result for one amount of data.
type growthResult struct {
	Docs        int                `json:"docs"`
	Indexes     int                `json:"indexes"`
	Collections int                `json:"collections"`
	OpsPerSec   map[string]float64 `json:"opsPerSec"` // keyed by workload
	OpenMS      float64            `json:"openMS"`    // time from exec to the first answered ping
	FileBytes   int64              `json:"fileBytes"`
	Resident    int64              `json:"residentBytes"` // memory of the process after the data were opened
}

// Validate is called by the command line parser.
func (c growthCommand) Validate() error {
	for _, name := range c.Workload {
		if _, err := findWorkload(name); err != nil {
			return err
		}
	}
	for _, n := range c.Indexes {
		if n < 1 || n > 1+len(extraIndexes) {
			return fmt.Errorf("%d indexes: 1 to %d are possible", n, 1+len(extraIndexes))
		}
	}
	for _, list := range [][]int{c.Sizes, c.Collections, {c.Conns, c.Rounds}} {
		for _, n := range list {
			if n < 1 {
				return errors.New("--sizes, --collections, --connections and --rounds must be positive")
			}
		}
	}
	return nil
}

// Run measures each combination with a server of its own.
func (c *growthCommand) Run(out io.Writer) error {
	t := newTable(out, c.columns())
	var all []growthResult
	for _, indexes := range c.Indexes {
		for _, collections := range c.Collections {
			first := len(all)
			for _, docs := range c.Sizes {
				r, err := c.one(docs, indexes, collections)
				if err != nil {
					return fmt.Errorf("%d documents, %d indexes, %d collections: %w", docs, indexes, collections, err)
				}
				all = append(all, r)
				t.row(c.row(r, all[first])...)
			}
		}
	}
	if c.JSON == "" {
		return nil
	}
	return writeJSON(c.JSON, all)
}

func (c *growthCommand) columns() []column {
	cols := []column{{"docs", 8, false}, {"indexes", 7, false}, {"colls", 5, false}}
	for _, name := range c.Workload {
		cols = append(cols, column{name + "/s", max(len(name)+2, 9), false}, column{"cost", 5, false})
	}
	return append(cols, column{"open ms", 8, false}, column{"file MB", 8, false}, column{"RSS MB", 7, false}, column{"RSS B/doc", 9, false})
}

// row shows the speeds, and the cost of an operation as a multiple of that
// with the least data.
func (c *growthCommand) row(r, first growthResult) []string {
	cells := []string{strconv.Itoa(r.Docs), strconv.Itoa(r.Indexes), strconv.Itoa(r.Collections)}
	for _, name := range c.Workload {
		cost := "-"
		if r.OpsPerSec[name] > 0 {
			cost = fmt.Sprintf("%.2f", first.OpsPerSec[name]/r.OpsPerSec[name])
		}
		cells = append(cells, figure(r.OpsPerSec[name]), cost)
	}
	const mb = 1 << 20
	return append(cells, figure(r.OpenMS), figure(float64(r.FileBytes)/mb), figure(float64(r.Resident)/mb), figure(float64(r.Resident)/float64(r.Docs)))
}

// one fills a server, opens it again, and measures.
func (c *growthCommand) one(docs, indexes, collections int) (r growthResult, err error) {
	r = growthResult{Docs: docs, Indexes: indexes, Collections: collections, OpsPerSec: map[string]float64{}}
	o := c.options(max(docs/collections, 1), collections)
	p, err := startServer(c.Binary, nil)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := fillAll(p.addr, indexes, o); err != nil {
		return r, err
	}
	if p, err = p.restart(); err != nil {
		return r, err
	}
	r.OpenMS = float64(p.took) / float64(time.Millisecond)
	r.FileBytes = directorySize(p.dir)
	r.Resident = residentBytes(p.cmd.Process.Pid)
	t := &target{name: c.Binary, addr: p.addr}
	for _, name := range c.Workload {
		w, err := findWorkload(name)
		if err != nil {
			return r, err
		}
		var speeds []result
		for range c.Rounds {
			one, err := measure(t, w, c.Conns, o)
			if err != nil {
				return r, err
			}
			speeds = append(speeds, one)
			o.Seed++ // so that what is inserted is new
		}
		r.OpsPerSec[name] = medianOf(speeds, opsPerSec)
	}
	return r, nil
}

func (c *growthCommand) options(docs, collections int) loadOptions {
	return loadOptions{
		Duration: c.Duration, Warmup: c.Duration / 4, Docs: docs, DocSize: c.DocSize, Batch: 100, Seed: 1,
		Client: c.Client, Compressor: "none", collections: collections,
	}
}

// extraIndexes are the fields of the indexes beside that of _id.
var extraIndexes = []string{"k", "tag", "n", "at"}

// fillAll makes the collections with their documents and indexes.
func fillAll(addr string, indexes int, o loadOptions) (err error) {
	s, err := dial(addr, o.compressor(), time.Now().Add(fillLimit))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.conn.Close()) }()
	for i := range o.collections {
		l := &loader{session: s, opts: o, collection: collectionName(i)}
		if err := l.fill(); err != nil {
			return err
		}
		for _, field := range extraIndexes[:indexes-1] {
			if err := l.index(field, -1); err != nil {
				return err
			}
		}
	}
	_, err = s.command(value.NewDoc("fsync", value.Int32(1), "$db", value.String("admin")))
	return err
}

// fillLimit is the time limit for loading the data.
const fillLimit = 15 * time.Minute

// directorySize adds up the files of a directory.
func directorySize(dir string) (n int64) {
	_ = filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			n += info.Size()
		}
		return nil
	})
	return n
}
