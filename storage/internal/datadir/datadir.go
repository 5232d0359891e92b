// Package datadir guards the data directories of the embedded engines: it locks
// them, and refuses those in which something else keeps its data.
package datadir

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// LockName is the file that is locked.
const LockName = "duskdb.lock"

// OwnFile is the mode of files that hold data: only their owner may read them.
const OwnFile os.FileMode = 0o600

// Mode returns the mode of a directory for files of the given mode: a user who
// may read the files may also enter the directory.
func Mode(files os.FileMode) os.FileMode { return files | files&0o444>>2 }

// ForeignError reports a directory that contains the data of another server or
// engine.
type ForeignError struct {
	Dir   string
	Owner string   // whose data they are
	Found []string // files that say so
}

// Error names the files found and what the operator can do.
func (e *ForeignError) Error() string {
	found := strings.Join(e.Found, ", ")
	if engine, ok := strings.CutPrefix(e.Owner, ownEngine); ok {
		return fmt.Sprintf("%s has data of the storage engine %s (%s); start with --storageEngine %s, or with another --dbpath and bring the data over with duskdb copy", e.Dir, engine, found, engine)
	}
	way := "start with another --dbpath"
	if e.Owner == mongoDB {
		way += ", and bring the data over from the running server, with mongodump and mongorestore"
	}
	return fmt.Sprintf("%s has data of %s (%s), which DuskDB can neither read nor repair; %s", e.Dir, e.Owner, found, way)
}

const (
	mongoDB   = "MongoDB"
	ownEngine = "DuskDB's engine "
)

// The files that say which engine's data a directory has.
const (
	Bunt   = "duskdb.bunt"
	Pebble = "duskdb.pebble"
)

// foreign are the files that engines and other servers have in their
// directories.
var foreign = []struct {
	owner string
	files []string
}{
	{ownEngine + "bunt", []string{Bunt}},
	{ownEngine + "pebble", []string{Pebble}},
	{mongoDB, []string{"WiredTiger", "WiredTiger.wt", "WiredTiger.turtle", "storage.bson", "mongod.lock", "local.ns"}},
	{"PostgreSQL", []string{"PG_VERSION"}},
	{"MySQL", []string{"ibdata1"}},
	{"Redis", []string{"dump.rdb", "appendonlydir"}},
	{"LevelDB or RocksDB", []string{"CURRENT"}},
	{"Badger", []string{"KEYREGISTRY"}},
}

// Check refuses a directory in which something else has its data and the engine
// with the given file has none.
func Check(dir, own string) error {
	if exists(filepath.Join(dir, own)) {
		return nil
	}
	for _, f := range foreign {
		found := slices.DeleteFunc(slices.Clone(f.files), func(name string) bool { return !exists(filepath.Join(dir, name)) })
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
