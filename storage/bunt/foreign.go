package bunt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ForeignError reports a directory that contains the data of another server.
type ForeignError struct {
	Dir   string
	Owner string   // whose data they are
	Found []string // files that say so
}

// Error names the files found and what the operator can do.
func (e *ForeignError) Error() string {
	way := "start with another --dbpath"
	if e.Owner == mongoDB {
		way += ", and bring the data over from the running server, with mongodump and mongorestore"
	}
	return fmt.Sprintf("%s has data of %s (%s), which DuskDB can neither read nor repair; %s", e.Dir, e.Owner, strings.Join(e.Found, ", "), way)
}

const mongoDB = "MongoDB"

// foreign are the files that other servers have in their directories.
var foreign = []struct {
	owner string
	files []string
}{
	{mongoDB, []string{"WiredTiger", "WiredTiger.wt", "WiredTiger.turtle", "storage.bson", "mongod.lock", "local.ns"}},
	{"PostgreSQL", []string{"PG_VERSION"}},
	{"MySQL", []string{"ibdata1"}},
	{"Redis", []string{"dump.rdb", "appendonlydir"}},
	{"LevelDB or RocksDB", []string{"CURRENT"}},
	{"Badger", []string{"KEYREGISTRY"}},
}

// checkForeign refuses a directory in which another server has its data and
// DuskDB has none.
func checkForeign(dir string) error {
	if exists(filepath.Join(dir, logName)) {
		return nil
	}
	for _, f := range foreign {
		var found []string
		for _, name := range f.files {
			if exists(filepath.Join(dir, name)) {
				found = append(found, name)
			}
		}
		if len(found) > 0 {
			return &ForeignError{Dir: dir, Owner: f.owner, Found: found}
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// FormatError reports a log of a format that this version does not know.
type FormatError struct {
	Path   string
	Format int // of the log
}

// newestFormat is the format that formatName names.
const newestFormat = 2

// Error says what is needed.
func (e *FormatError) Error() string {
	return fmt.Sprintf("%s has format %d, and this version reads formats up to %d: a newer version of DuskDB wrote it, and is needed to read it. The file was left as it is",
		e.Path, e.Format, newestFormat)
}

// formatPrefix begins the names of all formats; a number and a line feed
// follow.
const formatPrefix = "duskdb-bunt-"

// checkFormat refuses a log of a newer format. Every format has its name in
// the first bytes.
func checkFormat(f io.ReaderAt, path string) error {
	begin := make([]byte, tornHeader)
	n, err := f.ReadAt(begin, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, rest, ok := bytes.Cut(begin[:n], []byte(formatPrefix))
	number, _, ended := bytes.Cut(rest, []byte("\n"))
	if !ok || !ended {
		return nil
	}
	if format, err := strconv.Atoi(string(number)); err == nil && format > newestFormat {
		return &FormatError{Path: path, Format: format}
	}
	return nil
}
