package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/duskdb/duskdb/internal/transfer"
)

// exportCmd writes documents of a collection to a file.
type exportCmd struct {
	Remote     remote   `embed:""`
	DB         string   `name:"db" short:"d" help:"Database; default: that of the connection string, or test."`
	Collection string   `name:"collection" short:"c" required:"" help:"Collection."`
	Out        string   `name:"file" short:"o" aliases:"out" help:"File to write; default: standard output."`
	Type       string   `enum:"json,csv" default:"json" help:"json or csv."`
	Query      string   `short:"q" help:"Filter, in extended JSON."`
	QueryFile  string   `name:"queryFile" type:"existingfile" help:"File with the filter."`
	Sort       string   `help:"Sort order, in extended JSON."`
	Skip       int64    `range:"0," default:"0" help:"Number of documents to skip."`
	Limit      int64    `range:"0," default:"0" help:"Maximum number of documents; 0: all."`
	Fields     []string `name:"fields" short:"f" help:"Fields to write, comma separated; CSV needs them."`
	FieldFile  string   `name:"fieldFile" type:"existingfile" help:"File with the fields to write, one per line."`
	NoHeader   bool     `name:"noHeaderLine" help:"Write CSV without the header line."`
	JSONArray  bool     `name:"jsonArray" help:"Write one array instead of one line per document."`
	Format     string   `name:"jsonFormat" enum:"relaxed,canonical" default:"relaxed" help:"Extended JSON: relaxed, or canonical, which preserves all types."`
	Pretty     bool     `help:"Indent the JSON."`
	Exists     bool     `name:"assertExists" help:"Fail if the collection does not exist."`
	Quiet      bool     `help:"Do not print the number of documents."`
}

// Run exports.
func (e *exportCmd) Run() (err error) {
	o, err := e.options()
	if err != nil {
		return usageError{err}
	}
	conn, db, err := e.Remote.dial(e.DB)
	if err != nil {
		return err
	}
	defer conn.Close()
	o.Database = db
	if e.Exists {
		if err := transfer.AssertExists(conn, db, e.Collection); err != nil {
			return err
		}
	}
	out := os.Stdout
	if e.Out != "" {
		if out, err = os.Create(e.Out); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, out.Close()) }()
	}
	bar := newCounter(e.Quiet || e.Out == "", func() int { return o.Total(conn) })
	o.Progress = bar.count
	n, err := transfer.Export(conn, out, o)
	bar.end()
	if err == nil && !e.Quiet {
		fmt.Fprintf(os.Stderr, "exported %d document(s)\n", n)
	}
	return err
}

// options reads the flags.
func (e *exportCmd) options() (o transfer.ExportOptions, err error) {
	o = transfer.ExportOptions{
		Collection: e.Collection, Skip: e.Skip, Limit: e.Limit, CSV: e.Type == "csv", NoHeader: e.NoHeader,
		Array: e.JSONArray, Canonical: e.Format == "canonical", Pretty: e.Pretty,
	}
	if o.Fields, err = fieldsOf(e.Fields, e.FieldFile); err != nil {
		return o, err
	}
	if o.CSV && len(o.Fields) == 0 {
		return o, errors.New("CSV needs --fields or --fieldFile")
	}
	if o.CSV && (e.JSONArray || e.Pretty) {
		return o, errors.New("--jsonArray and --pretty need --type json")
	}
	query := e.Query
	if e.QueryFile != "" {
		if query != "" {
			return o, errors.New("--query and --queryFile cannot be used together")
		}
		text, err := os.ReadFile(e.QueryFile)
		if err != nil {
			return o, err
		}
		query = string(text)
	}
	if o.Query, err = parseFlag("--query", query); err != nil {
		return o, err
	}
	o.Sort, err = parseFlag("--sort", e.Sort)
	return o, err
}
