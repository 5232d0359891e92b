package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
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

// newCounter counts documents, of which nobody knows how many will come.
func newCounter(quiet bool) *progress {
	if quiet || !term.IsTerminal(int(os.Stderr.Fd())) {
		return &progress{}
	}
	return &progress{progressbar.Default(-1)}
}

// count says how many documents there have been.
func (p *progress) count(documents int) {
	if p.bar != nil {
		_ = p.bar.Set(documents)
	}
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

// fieldsOf is the names of fields, from the flag or from the lines of a file.
func fieldsOf(names []string, file string) ([]string, error) {
	if file == "" {
		return names, nil
	}
	if len(names) > 0 {
		return nil, errors.New("--fields and --fieldFile exclude each other")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if name := strings.TrimSpace(line); name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}
