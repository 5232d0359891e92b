package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/duskdb/duskdb/internal/transfer"
)

// importCmd reads documents from a file into a collection.
type importCmd struct {
	Remote     remote `embed:""`
	DB         string `name:"db" short:"d" help:"Database; default: that of the connection string, or test."`
	Collection string `name:"collection" short:"c" help:"Collection; default: the name of the file without its ending."`
	File       string `arg:"" optional:"" help:"The file; default: standard input."`
	FileFlag   string `name:"file" help:"The file; the same as the argument."`
	Type       string `name:"type" enum:"auto,json,csv,tsv,bson" default:"auto" help:"auto (by the ending of the file, before .gz), json (an array, or one document after another), csv, tsv or bson."`

	Fields       []string `name:"fields" short:"f" help:"Column names, comma separated, for files without a header line."`
	FieldFile    string   `name:"fieldFile" type:"existingfile" help:"File with the column names, one per line."`
	HeaderLine   bool     `name:"headerline" help:"The first line has the column names; the default without --fields."`
	Typed        bool     `name:"columnsHaveTypes" help:"Column names include types: born.date(2006-01-02)."`
	Grace        string   `name:"parseGrace" enum:"stop,skipRow,skipField,autoCast" default:"skipRow" help:"What to do with a field that does not have its column's type: stop the import, skip the record (which counts as failed), skip the field, or treat it as a column without a type."`
	Arrays       bool     `name:"useArrayIndexFields" help:"Columns a.0 and a.1 form an array."`
	IgnoreBlanks bool     `name:"ignoreBlanks" help:"Skip empty fields of CSV and TSV."`
	JSONArray    bool     `name:"jsonArray" help:"The JSON is one array. Without the flag, an array is detected."`

	Drop         bool     `help:"Drop the collection first."`
	Mode         string   `enum:"insert,upsert,merge,delete" default:"insert" help:"insert, upsert (replace), merge (set the fields) or delete."`
	UpsertFields []string `name:"upsertFields" help:"Fields to find stored documents by, comma separated; default _id. Implies --mode upsert."`
	StopOnError  bool     `name:"stopOnError" help:"Stop at the first document that fails."`

	Dump    string    `type:"existingdir" help:"Restore this directory of mongodump instead of a file."`
	Archive string    `help:"Restore this archive of mongodump instead of a file; - is standard input."`
	Restore dumpFlags `embed:""`
	Quiet   bool      `help:"Show no progress."`
}

// Run imports and prints a summary. It fails if any document failed.
func (i *importCmd) Run() error {
	if err := i.check(); err != nil {
		return usageError{err}
	}
	in, size, err := i.input()
	if err != nil {
		return err
	}
	defer in.Close()
	conn, db, err := i.Remote.dial(i.DB)
	if err != nil {
		return err
	}
	defer conn.Close()
	bar := newProgress(size, i.Quiet)
	res, err := i.transfer(conn, db, in, bar)
	bar.end()
	if err != nil && res == (transfer.Result{}) {
		return err // nothing has begun
	}
	fmt.Printf("%d document(s) imported successfully. %d document(s) failed to import.\n", res.Imported, res.Failed)
	if res.Left > 0 {
		fmt.Printf("%d part(s) of the dump were not restored.\n", res.Left)
	}
	if err == nil && res.Failed+res.Left > 0 {
		err = failures(res)
	}
	return err
}

// failures is the error of an import that has left something out.
func failures(res transfer.Result) error {
	var parts []string
	if res.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d document(s) failed", res.Failed))
	}
	if res.Left > 0 {
		parts = append(parts, fmt.Sprintf("%d part(s) of the dump were not restored", res.Left))
	}
	return errors.New(strings.Join(parts, ", "))
}

// check refuses flags that exclude each other.
func (i *importCmd) check() error {
	if _, err := i.Remote.address(i.DB); err != nil {
		return err
	}
	if i.FileFlag != "" && i.File != "" {
		return errors.New("the file is given twice")
	}
	i.File = cmp.Or(i.File, i.FileFlag)
	if i.File == "-" {
		i.File = ""
	}
	if i.Dump != "" && i.Archive != "" || (i.Dump != "" || i.Archive != "") && i.File != "" {
		return errors.New("give exactly one of a file, --dump and --archive")
	}
	if i.Dump != "" || i.Archive != "" {
		return i.checkDump()
	}
	if i.Restore != (dumpFlags{}) {
		return errors.New("--noIndexRestore, --noOptionsRestore, --convertLegacyIndexes, --bypassDocumentValidation and --restoreDbUsersAndRoles need --dump or --archive")
	}
	if i.Type == "auto" {
		i.Type = typeOf(i.File)
	}
	if err := i.checkColumns(); err != nil {
		return err
	}
	if i.Collection == "" {
		if i.File == "" {
			return errors.New("standard input needs --collection")
		}
		var err error
		if i.Collection, err = collectionOf(filepath.Base(i.File), i.Type); err != nil {
			return err
		}
	}
	if len(i.UpsertFields) > 0 && i.Mode == "insert" {
		i.Mode = "upsert"
	}
	return nil
}

// dumpFlags are those of mongorestore, for dumps alone.
type dumpFlags struct {
	NoIndexes        bool `name:"noIndexRestore" help:"Of a dump: make no indexes."`
	NoOptions        bool `name:"noOptionsRestore" help:"Of a dump: use no options of collections, except those that make a view, a time series, a queue, a capped or a clustered collection."`
	ConvertLegacy    bool `name:"convertLegacyIndexes" help:"Of a dump: make the keys of indexes valid that servers before 3.4 took, such as {a: true}."`
	BypassValidation bool `name:"bypassDocumentValidation" help:"Of a dump: documents need not satisfy the validators."`
	UsersAndRoles    bool `name:"restoreDbUsersAndRoles" help:"Of a dump: with --db, restore the users and roles of the database, too."`
}

// checkDump refuses flags that a dump does not use.
func (i *importCmd) checkDump() error {
	switch {
	case i.Collection != "" || i.Mode != "insert" || len(i.UpsertFields) > 0:
		return errors.New("--collection, --mode and --upsertFields cannot be used with a dump")
	case i.Type != "auto" || i.HeaderLine || len(i.Fields) > 0 || i.FieldFile != "" || i.Typed || i.Arrays || i.IgnoreBlanks || i.JSONArray:
		return errors.New("flags for JSON, CSV and TSV cannot be used with a dump")
	case i.Restore.UsersAndRoles && i.DB == "":
		return errors.New("--restoreDbUsersAndRoles needs --db; a whole dump is restored with its users")
	}
	return nil
}

// collectionOf is the collection of a file by its name. A .bson file of mongodump has the
// whole name, escaped.
func collectionOf(file, kind string) (string, error) {
	if kind != "bson" {
		name, _, _ := strings.Cut(file, ".")
		return name, nil
	}
	name, err := url.QueryUnescape(strings.TrimSuffix(strings.TrimSuffix(file, ".gz"), ".bson"))
	if err == nil && (strings.HasPrefix(name, "system.") || strings.HasPrefix(name, "$")) {
		err = fmt.Errorf("%s is no collection of its own: restore the whole dump with --dump, or name the collection with --collection", file)
	}
	return name, err
}

// checkColumns refuses flags for columns that do not fit the type of the file.
func (i *importCmd) checkColumns() (err error) {
	if i.Fields, err = fieldsOf(i.Fields, i.FieldFile); err != nil {
		return err
	}
	table := i.Type == "csv" || i.Type == "tsv"
	switch {
	case i.HeaderLine && len(i.Fields) > 0:
		return errors.New("--headerline cannot be used with --fields or --fieldFile")
	case i.JSONArray && i.Type != "json":
		return fmt.Errorf("--jsonArray needs a JSON file, not %s", i.Type)
	case !table && (i.HeaderLine || len(i.Fields) > 0 || i.Typed || i.IgnoreBlanks || i.Arrays):
		return fmt.Errorf("a file of type %s has no columns", i.Type)
	}
	return nil
}

// typeOf is the type of a file by its name, which may end in .gz.
func typeOf(file string) string {
	switch strings.ToLower(filepath.Ext(strings.TrimSuffix(strings.ToLower(file), ".gz"))) {
	case ".csv":
		return "csv"
	case ".tsv", ".tab":
		return "tsv"
	case ".bson":
		return "bson"
	}
	return "json"
}

// input opens the file that is imported; a dump is a directory, which is read by its name.
func (i *importCmd) input() (io.ReadCloser, int64, error) {
	switch {
	case i.Dump != "":
		return io.NopCloser(strings.NewReader("")), -1, nil
	case i.Archive == "-":
		return open("", "an archive")
	case i.Archive != "":
		return open(i.Archive, "")
	case i.Type == "bson":
		return open(i.File, "BSON")
	}
	return open(i.File, "")
}

// transfer imports what the flags say.
func (i *importCmd) transfer(conn *transfer.Conn, db string, in io.Reader, bar *progress) (transfer.Result, error) {
	if i.Dump != "" {
		return transfer.RestoreDump(conn, i.Dump, i.dumpOptions(bar))
	}
	in = io.TeeReader(in, bar)
	if i.Archive != "" {
		return transfer.RestoreArchive(conn, in, i.dumpOptions(bar))
	}
	source, err := i.source(in)
	if err != nil {
		return transfer.Result{}, err
	}
	return transfer.Import(conn, source, transfer.ImportOptions{
		Database: db, Collection: i.Collection, Drop: i.Drop, Mode: transfer.Mode(i.Mode), UpsertFields: i.UpsertFields,
		StopOnError: i.StopOnError, OnError: func(err error) { bar.complain(cmp.Or(i.File, "stdin"), err) },
	})
}

// source returns the reader for the type of the file.
func (i *importCmd) source(file io.Reader) (transfer.Source, error) {
	if i.Type == "bson" {
		r, err := transfer.Decompress(file)
		return transfer.NewBSON(r), err
	}
	r, err := transfer.Text(file)
	if err != nil {
		return nil, err
	}
	if i.Type == "csv" || i.Type == "tsv" {
		return transfer.NewTable(r, transfer.Table{
			Tabs: i.Type == "tsv", Fields: i.Fields, Typed: i.Typed, Arrays: i.Arrays,
			Grace: transfer.Grace(i.Grace), IgnoreBlanks: i.IgnoreBlanks,
		})
	}
	if i.JSONArray {
		return transfer.NewJSONArray(r), nil
	}
	return transfer.NewJSON(r), nil
}

func (i *importCmd) dumpOptions(bar *progress) transfer.DumpOptions {
	return transfer.DumpOptions{
		Database: i.DB, Drop: i.Drop, StopOnError: i.StopOnError, BypassValidation: i.Restore.BypassValidation,
		NoIndexes: i.Restore.NoIndexes, NoOptions: i.Restore.NoOptions, ConvertLegacy: i.Restore.ConvertLegacy, UsersAndRoles: i.Restore.UsersAndRoles,
		OnError:  func(err error) { bar.complain(cmp.Or(i.Dump, i.Archive), err) },
		OnNotice: func(text string) { bar.complain(cmp.Or(i.Dump, i.Archive), errors.New(text)) },
	}
}
