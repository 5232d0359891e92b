package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/transfer"
	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/value"
)

// backupCmd makes a running server write a copy of its data.
type backupCmd struct {
	URI     string        `name:"uri" default:"mongodb://127.0.0.1:27017" help:"Connection string: mongodb://user:password@host:port/?options."`
	Out     string        `required:"" help:"Directory to write to, on the server's machine, which must not exist; or - to write the backup to standard output."`
	Timeout time.Duration `default:"1h" help:"Timeout."`
}

// connectTime bounds the time to connect, whatever the time for the backup is.
const connectTime = 10 * time.Second

// Run asks the server for the backup.
func (b *backupCmd) Run() error {
	if b.Out == "-" {
		return b.toStdout()
	}
	out, err := filepath.Abs(b.Out)
	if err != nil {
		return err
	}
	reply, err := ask(b.URI, b.Timeout, value.NewDoc("duskBackup", value.Int32(1), "path", value.String(out), "$db", value.String("admin")))
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d collections, %d documents, %d bytes\n", out,
		reply.Lookup("collections").Int64(), reply.Lookup("records").Int64(), reply.Lookup("bytes").Int64())
	return nil
}

// toStdout writes the backup to standard output. A file or pipe that ends is an error.
func (b *backupCmd) toStdout() error {
	if term.IsTerminal(int(os.Stdout.Fd())) {
		return usageError{errors.New("a backup is not written to a terminal: redirect standard output to a file")}
	}
	conn, err := transfer.Dial(b.URI, min(b.Timeout, connectTime))
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(clock.System().Now().Add(b.Timeout)); err != nil {
		return err
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	if err := transfer.Backup(conn, out); err != nil {
		return err
	}
	return errors.Join(out.Flush(), os.Stdout.Close())
}

// ask runs one command on a server and returns a reply that says ok.
func ask(uri string, timeout time.Duration, command value.Doc) (value.Doc, error) {
	conn, err := transfer.Dial(uri, min(timeout, connectTime))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(clock.System().Now().Add(timeout)); err != nil {
		return nil, err
	}
	return conn.Run(command)
}

// restoreCmd creates a data directory from a backup.
type restoreCmd struct {
	From   string `arg:"" help:"Directory of the backup, or - to read one from standard input."`
	DBPath string `name:"dbpath" default:"duskdb-data" help:"Data directory to create; it must be empty or missing."`
	Engine string `name:"storageEngine" default:"bunt" help:"Storage engine of the data directory, if the backup is read from standard input."`
}

// Run checks the backup and copies it.
func (r *restoreCmd) Run() error {
	if !slices.Contains(server.StorageEngines(), r.Engine) {
		return usageError{fmt.Errorf("--storageEngine must be one of %s but got %q", strings.Join(server.StorageEngines(), ", "), r.Engine)}
	}
	if r.From == "-" {
		return r.fromStdin()
	}
	if info, err := os.Stat(r.From); err != nil {
		return usageError{err}
	} else if !info.IsDir() {
		return usageError{fmt.Errorf("%s is no directory; a backup in a file is read from standard input: duskdb restore - <%s", r.From, r.From)}
	}
	report, err := server.Restore(r.From, r.DBPath)
	if report != nil {
		printReport(os.Stdout, report)
	}
	return err
}

// fromStdin restores a backup that standard input has.
func (r *restoreCmd) fromStdin() error {
	in, err := standardInput("a backup")
	if err != nil {
		return err
	}
	done, err := server.RestoreStream(context.Background(), bufio.NewReaderSize(in, 1<<20), r.Engine, r.DBPath, func(int64) {})
	if err == nil {
		fmt.Printf("%s: %d collections, %d documents, %d bytes of documents\n", r.DBPath, done.Collections, done.Records, done.Bytes)
	}
	return err
}

// checkCmd checks the data of a server that is not running.
type checkCmd struct {
	DBPath     string `name:"dbpath" default:"duskdb-data" help:"Data directory, or a backup."`
	StorageURI string `name:"storageURI" env:"-" help:"Refused: data in a database are checked with the command validate, and with its own tools."`
}

var errCheckDatabase = usageError{errors.New("data in a database cannot be checked without a server: run the command validate on one, and the database's own tools, such as pg_amcheck; \"duskdb copy\" to a directory reads everything")}

// Run reads everything and fails if something is wrong.
func (c *checkCmd) Run() error {
	if c.StorageURI != "" {
		return errCheckDatabase
	}
	report, err := server.Check(c.DBPath)
	if errors.Is(err, fs.ErrNotExist) {
		return usageError{fmt.Errorf("%w; name the data directory with --dbpath", err)}
	}
	if err != nil {
		return err
	}
	printReport(os.Stdout, report)
	if !report.Sound() {
		return fmt.Errorf("%d problems", len(report.Problems))
	}
	return nil
}

// printReport prints the results of a check.
func printReport(w io.Writer, r *server.Report) {
	for _, c := range r.Collections {
		fmt.Fprintf(w, "%s: %d documents, %d bytes, %d indexes, %d entries\n", c.Namespace, c.Records, c.Bytes, c.Indexes, c.Entries)
	}
	fmt.Fprintf(w, "storage engine %s: ", r.Engine)
	if r.Commits > 0 {
		fmt.Fprintf(w, "%d commits, ", r.Commits)
	}
	fmt.Fprintf(w, "%d bytes", r.Bytes)
	if r.TornBytes > 0 {
		fmt.Fprintf(w, ", and %d bytes of a commit that was not finished", r.TornBytes)
	}
	fmt.Fprintln(w)
	if r.Unclosed {
		fmt.Fprintln(w, "the data were not closed properly: the server was killed, or is running, or the end of the log is missing")
	}
	for _, path := range r.Kept {
		fmt.Fprintf(w, "kept: %s, what an earlier start has cut off a damaged log; commits in it are lost\n", path)
	}
	for _, p := range r.Problems {
		fmt.Fprintln(w, "problem:", p)
	}
	if r.Sound() {
		fmt.Fprintln(w, "everything is sound")
	}
}
