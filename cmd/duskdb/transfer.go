package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/duskdb/duskdb/transfer"
	"github.com/duskdb/duskdb/value"
)

// remote are the flags that say which server a command works with.
type remote struct {
	URI     string        `name:"uri" default:"mongodb://127.0.0.1:27017" help:"Connection string: mongodb://user:password@host:port/database?options."`
	Timeout time.Duration `default:"10s" help:"How long connecting may take."`
}

// dial connects, and finds the name of the database.
func (r *remote) dial(db string) (*transfer.Conn, string, error) {
	c, err := transfer.Dial(r.URI, r.Timeout)
	if err != nil {
		return nil, "", err
	}
	return c, cmp.Or(db, c.Database, "test"), nil
}

// importCmd reads documents from a file into a collection.
type importCmd struct {
	Remote     remote `embed:""`
	DB         string `name:"db" short:"d" help:"Database; default: that of the connection string, or test."`
	Collection string `name:"collection" short:"c" help:"Collection; default: the name of the file without its ending."`
	File       string `arg:"" optional:"" help:"The file; default: standard input."`
	FileFlag   string `name:"file" help:"The file, as mongoimport names it."`
	Type       string `name:"type" enum:"auto,json,csv,tsv,bson" default:"auto" help:"auto (by the ending of the file), json (an array, or one document after another), csv, tsv or bson."`

	Fields       []string `name:"fields" help:"Names of the columns, comma separated, for files without a header line."`
	HeaderLine   bool     `name:"headerline" help:"The first line has the names of the columns: the default without --fields."`
	Typed        bool     `name:"columnsHaveTypes" help:"Names of columns have types: born.date(2006-01-02)."`
	IgnoreBlanks bool     `name:"ignoreBlanks" help:"Leave empty fields of CSV and TSV out."`

	Drop         bool     `help:"Drop the collection first."`
	Mode         string   `enum:"insert,upsert,merge,delete" default:"insert" help:"insert, upsert (replace), merge (set the fields) or delete."`
	UpsertFields []string `name:"upsertFields" help:"Fields to find stored documents by, comma separated; default _id. Implies --mode upsert."`
	StopOnError  bool     `name:"stopOnError" help:"Stop at the first document that fails."`

	Dump    string `type:"existingdir" help:"Restore this directory of mongodump instead of a file."`
	Archive string `help:"Restore this archive of mongodump instead of a file; - is standard input."`
	Quiet   bool   `help:"Show no progress."`
}

// Run imports and prints a summary. It fails if any document did.
func (i *importCmd) Run() error {
	if err := i.check(); err != nil {
		return err
	}
	conn, db, err := i.Remote.dial(i.DB)
	if err != nil {
		return err
	}
	defer conn.Close()
	var res transfer.Result
	switch {
	case i.Dump != "":
		bar := newProgress(-1, i.Quiet)
		res, err = transfer.RestoreDump(conn, i.Dump, i.dumpOptions(bar))
		bar.end()
	case i.Archive != "":
		res, err = i.archive(conn)
	default:
		res, err = i.file(conn, db)
	}
	fmt.Printf("%d document(s) imported successfully. %d document(s) failed to import.\n", res.Imported, res.Failed)
	if err == nil && res.Failed > 0 {
		err = fmt.Errorf("%d document(s) failed", res.Failed)
	}
	return err
}

// check finds flags that do not go together.
func (i *importCmd) check() error {
	if i.FileFlag != "" && i.File != "" {
		return errors.New("give the file once")
	}
	i.File = cmp.Or(i.File, i.FileFlag)
	if i.File == "-" {
		i.File = ""
	}
	if i.Dump != "" && i.Archive != "" || (i.Dump != "" || i.Archive != "") && i.File != "" {
		return errors.New("give one of a file, --dump and --archive")
	}
	if i.Dump != "" || i.Archive != "" {
		if i.Collection != "" || i.Mode != "insert" || len(i.UpsertFields) > 0 {
			return errors.New("a dump is restored with its own collections: --collection, --mode and --upsertFields do not apply")
		}
		return nil
	}
	if i.Type == "auto" {
		i.Type = typeOf(i.File)
	}
	if i.HeaderLine && len(i.Fields) > 0 {
		return errors.New("--headerline and --fields exclude each other")
	}
	if table := i.Type == "csv" || i.Type == "tsv"; !table && (i.HeaderLine || len(i.Fields) > 0 || i.Typed || i.IgnoreBlanks) {
		return fmt.Errorf("a file of type %s has no columns", i.Type)
	}
	if i.Collection == "" {
		if i.File == "" {
			return errors.New("standard input needs --collection")
		}
		i.Collection, _, _ = strings.Cut(filepath.Base(i.File), ".")
	}
	if len(i.UpsertFields) > 0 && i.Mode == "insert" {
		i.Mode = "upsert"
	}
	return nil
}

// typeOf is the type of a file by its name.
func typeOf(file string) string {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".csv":
		return "csv"
	case ".tsv", ".tab":
		return "tsv"
	case ".bson":
		return "bson"
	}
	return "json"
}

// file imports one file.
func (i *importCmd) file(conn *transfer.Conn, db string) (transfer.Result, error) {
	in, size, err := open(i.File)
	if err != nil {
		return transfer.Result{}, err
	}
	defer in.Close()
	bar := newProgress(size, i.Quiet)
	defer bar.end()
	source, err := i.source(io.TeeReader(in, bar))
	if err != nil {
		return transfer.Result{}, err
	}
	return transfer.Import(conn, source, transfer.ImportOptions{
		Database: db, Collection: i.Collection, Drop: i.Drop, Mode: transfer.Mode(i.Mode), UpsertFields: i.UpsertFields,
		StopOnError: i.StopOnError, OnError: func(err error) { bar.complain(cmp.Or(i.File, "stdin"), err) },
	})
}

func (i *importCmd) source(r io.Reader) (transfer.Source, error) {
	switch i.Type {
	case "bson":
		return transfer.NewBSON(r), nil
	case "csv", "tsv":
		return transfer.NewTable(r, transfer.Table{Tabs: i.Type == "tsv", Fields: i.Fields, Typed: i.Typed, IgnoreBlanks: i.IgnoreBlanks})
	}
	return transfer.NewJSON(r), nil
}

func (i *importCmd) archive(conn *transfer.Conn) (transfer.Result, error) {
	name := i.Archive
	if name == "-" {
		name = ""
	}
	in, size, err := open(name)
	if err != nil {
		return transfer.Result{}, err
	}
	defer in.Close()
	bar := newProgress(size, i.Quiet)
	defer bar.end()
	return transfer.RestoreArchive(conn, io.TeeReader(in, bar), i.dumpOptions(bar))
}

func (i *importCmd) dumpOptions(bar *progress) transfer.DumpOptions {
	return transfer.DumpOptions{
		Database: i.DB, Drop: i.Drop,
		OnError: func(err error) { bar.complain(cmp.Or(i.Dump, i.Archive), err) },
	}
}

// open opens a file and says how large it is; "" is standard input.
func open(name string) (io.ReadCloser, int64, error) {
	if name == "" {
		return io.NopCloser(os.Stdin), -1, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory; --dump restores one of mongodump", name)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// progress is a bar on terminals, and nothing elsewhere.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress shows how much of size bytes are done; -1: unknown.
func newProgress(size int64, quiet bool) *progress {
	if quiet || !term.IsTerminal(int(os.Stderr.Fd())) {
		return &progress{}
	}
	return &progress{progressbar.DefaultBytes(size)}
}

// Write counts bytes.
func (p *progress) Write(b []byte) (int, error) {
	if p.bar != nil {
		_ = p.bar.Add(len(b))
	}
	return len(b), nil
}

// complain prints what is wrong with a document, above the bar.
func (p *progress) complain(file string, err error) {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", file, err)
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Exit()
		fmt.Fprintln(os.Stderr)
	}
}

// exportCmd writes documents of a collection to a file.
type exportCmd struct {
	Remote     remote   `embed:""`
	DB         string   `name:"db" short:"d" help:"Database; default: that of the connection string, or test."`
	Collection string   `name:"collection" short:"c" required:"" help:"Collection."`
	Out        string   `name:"file" short:"o" aliases:"out" help:"File to write; default: standard output."`
	Type       string   `enum:"json,csv" default:"json" help:"json or csv."`
	Query      string   `short:"q" help:"Filter, in extended JSON."`
	Sort       string   `help:"Order, in extended JSON."`
	Skip       int64    `default:"0" help:"Documents to pass over."`
	Limit      int64    `default:"0" help:"Most documents; 0: all."`
	Fields     []string `name:"fields" help:"Fields to write, comma separated; CSV needs them."`
	NoHeader   bool     `name:"noHeaderLine" help:"CSV without the names of the fields."`
	JSONArray  bool     `name:"jsonArray" help:"Write one array instead of a line for each document."`
	Format     string   `name:"jsonFormat" enum:"relaxed,canonical" default:"relaxed" help:"Extended JSON: relaxed, or canonical, which keeps all types apart."`
	Quiet      bool     `help:"Do not say how much was written."`
}

// Run exports.
func (e *exportCmd) Run() (err error) {
	o := transfer.ExportOptions{
		Collection: e.Collection, Fields: e.Fields, Skip: e.Skip, Limit: e.Limit,
		CSV: e.Type == "csv", NoHeader: e.NoHeader, Array: e.JSONArray, Canonical: e.Format == "canonical",
	}
	if o.CSV && len(o.Fields) == 0 {
		return errors.New("CSV needs --fields")
	}
	if o.Query, err = parseFlag("--query", e.Query); err != nil {
		return err
	}
	if o.Sort, err = parseFlag("--sort", e.Sort); err != nil {
		return err
	}
	conn, db, err := e.Remote.dial(e.DB)
	if err != nil {
		return err
	}
	defer conn.Close()
	o.Database = db
	out := os.Stdout
	if e.Out != "" {
		if out, err = os.Create(e.Out); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, out.Close()) }()
	}
	n, err := transfer.Export(conn, out, o)
	if err == nil && !e.Quiet {
		fmt.Fprintf(os.Stderr, "exported %d document(s)\n", n)
	}
	return err
}

// parseFlag reads a document on the command line; nil if there is none.
func parseFlag(name, text string) (value.Doc, error) {
	if text == "" {
		return nil, nil
	}
	d, err := value.ParseJSON(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return d, nil
}
