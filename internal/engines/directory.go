package engines

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/duskdb/duskdb/storage"
)

// A data directory is looked at before any file in it is opened for writing,
// and a directory that is refused stays as it was.

// MismatchError reports a directory with data of another engine of DuskDB.
type MismatchError struct {
	Dir   string
	Has   string   // the engine whose data they are
	Want  string   // the engine that was asked for
	Found []string // files that say so
}

// Error names the files found and both ways out.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s has data of the storage engine %s (%s), not of %s: start the server with --storageEngine %s, or copy the data to a new directory with \"duskdb copy %s:%s %s:NEW\". Nothing was changed",
		e.Dir, e.Has, strings.Join(e.Found, ", "), e.Want, e.Has, e.Has, e.Dir, e.Want)
}

// ForeignError reports a directory that contains the data of another server.
type ForeignError struct {
	Dir   string
	Owner string   // name of the engine whose data they are
	Found []string // files that say so
}

// Error names the files found and what the operator can do.
func (e *ForeignError) Error() string {
	way := "start with another --dbpath"
	if e.Owner == mongoDB {
		way += ", and bring the data over from the running server, with mongodump and mongorestore"
	}
	return fmt.Sprintf("%s has data of %s (%s), which DuskDB can neither read nor repair; %s. Nothing was changed", e.Dir, e.Owner, strings.Join(e.Found, ", "), way)
}

const mongoDB = "MongoDB"

// foreign are the files that other servers have in their directories, as
// patterns.
var foreign = []struct {
	owner string
	files []string
}{
	{mongoDB, []string{"WiredTiger", "WiredTiger.wt", "WiredTiger.turtle", "storage.bson", "mongod.lock", "local.ns"}},
	{"PostgreSQL", []string{"PG_VERSION"}},
	{"MySQL", []string{"ibdata1"}},
	{"Redis", []string{"dump.rdb", "appendonlydir"}},
	{"LevelDB or RocksDB", []string{"CURRENT"}},
	{"another program that uses Pebble", []string{"marker.manifest.*", "marker.format-version.*"}},
	{"Badger", []string{"KEYREGISTRY"}},
}

// Usable returns an error unless an engine may open a path: it is missing,
// empty or has data of the engine.
func Usable(name, path string) error {
	if e, err := named(name); err != nil || path == Memory || e.remote {
		return err
	}
	has, found, err := contents(path)
	if err != nil || has == nil || has.name == name {
		return err
	}
	return &MismatchError{Dir: path, Has: has.name, Want: name, Found: found}
}

// ofDir returns the engine whose data a directory has, if the program has its code.
func ofDir(dir string) (*engine, error) {
	has, _, err := contents(dir)
	if err != nil {
		return nil, err
	}
	if has == nil {
		if _, err := os.ReadDir(dir); err != nil {
			return nil, cannotRead(dir, err)
		}
		return nil, fmt.Errorf("%s has no data of DuskDB: no %s", dir, strings.Join(allMarks(), ", no "))
	}
	return has, has.usable()
}

func allMarks() (marks []string) {
	for _, e := range table {
		if !e.remote {
			marks = append(marks, e.marks[0])
		}
	}
	return marks
}

// contents finds out which engine has data in a directory; nil if it has no data. Data of
// another server, of two engines or of an unfinished copy are an error.
func contents(dir string) (has *engine, found []string, err error) {
	if st, err := os.Stat(dir); err == nil && !st.IsDir() {
		return nil, nil, fmt.Errorf("%s is a file, and should be a directory: name the directory of the data with --dbpath", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, explain(dir, err)
	}
	if exists(dir, unfinishedName) {
		return nil, nil, &UnfinishedError{Dir: dir, By: markedBy(dir)}
	}
	for _, e := range table {
		files := present(dir, e.marks)
		if len(files) > 0 && has != nil {
			return nil, nil, fmt.Errorf("%s has data of two storage engines, %s (%s) and %s (%s): move the files of one of them to another directory. Nothing was changed",
				dir, has.name, strings.Join(found, ", "), e.name, strings.Join(files, ", "))
		}
		if len(files) > 0 {
			has, found = e, files
		}
	}
	if has != nil {
		return has, found, nil
	}
	for _, f := range foreign {
		if files := present(dir, f.files); len(files) > 0 {
			return nil, nil, &ForeignError{Dir: dir, Owner: f.owner, Found: files}
		}
	}
	return nil, nil, nil
}

// present lists the files of a directory that fit patterns, which may name a directory in it. If a
// directory cannot be read, the engine that opens it reports why.
func present(dir string, patterns []string) (names []string) {
	for _, p := range patterns {
		below, pattern := path.Split(p)
		entries, _ := os.ReadDir(filepath.Join(dir, below))
		for _, e := range entries {
			if ok, _ := path.Match(pattern, e.Name()); ok {
				names = append(names, below+e.Name())
			}
		}
	}
	return names
}

func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// emptyOrMissing refuses a directory that has something in it.
func emptyOrMissing(dir string) (missing bool, err error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case errors.Is(err, syscall.ENOTDIR):
		return false, fmt.Errorf("%s is a file, and should be a directory that is empty or missing", dir)
	case err != nil:
		return false, explain(dir, err)
	case len(entries) > 0:
		return false, fmt.Errorf("%s: %w and is not empty (%s): name a directory that is empty or missing", dir, storage.ErrPathExists, entries[0].Name())
	}
	return false, nil
}

// cannotRead is the error of a directory whose data are only to be read.
func cannotRead(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("cannot read the data directory %s: %w%s", dir, err, mustBeAble("read"))
	}
	return err
}

// mustBeAble names the user of the process, where users have numbers, and what he must be able to do.
func mustBeAble(what string) string {
	if uid := os.Getuid(); uid >= 0 {
		return fmt.Sprintf("; this user (%d) must be able to %s it", uid, what)
	}
	return "; this user must be able to " + what + " it"
}

// explain adds to an error of the system or an engine what can be done.
func explain(dir string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, storage.ErrLocked):
		return fmt.Errorf("%w; stop it with \"duskdb --shutdown --dbpath %s\", or use another directory", err, dir)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("cannot use the data directory %s: %w%s", dir, err, mustBeAble("read and write"))
	}
	return err
}
