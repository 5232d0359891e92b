// Package engines opens storage engines by name. It knows what the data
// directory of each looks like, so that no engine is let into the directory of
// another one, or of another server, and it copies data between engines.
//
// The package is for the rest of DuskDB: it may change with any version.
package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/bunt"
)

// Memory is the path of data that are kept nowhere.
const Memory = ":memory:"

// Default is the name of the engine of a server that names none.
const Default = "bunt"

// Options open an engine. What an engine has no use for has no effect.
type Options struct {
	Path          string        // data directory, or Memory
	URI           string        // database of a remote engine
	MustExist     bool          // fail if that database has no data of the engine
	Patience      time.Duration // how long a copy waits for that database; 0: as long as it takes
	Indexer       storage.Indexer
	Clock         clock.Clock // nil: the system's
	CacheBytes    int64       // memory for data that are read from disk; 0: the engine's default
	Repair        bool        // salvage what can be read of damaged data
	OrphanIndexes []storage.IndexSpec
	// CompactMinBytes is the least size at which a log is compacted in the
	// background; 0: the engine's default, negative: never.
	CompactMinBytes int64
	FileMode        os.FileMode                   // mode of new files; 0: 0600
	Version         string                        // version of DuskDB, which is noted in the directory; "": it is not
	Progress        func(read, size int64)        // called while a log is read at the start; may be nil
	Indexing        func(done, total int64)       // called while the indexes are built after that; may be nil
	Fault           func(step, path string) error // makes operations on the disk fail in tests; may be nil
	Logger          func(format string, args ...any)
}

// Opened is an engine that is open.
type Opened struct {
	storage.Engine
	// Repaired describes, in lines of text, what Options.Repair salvaged and what
	// is lost, also of an engine that goes on without that; nil if the data needed no repair.
	Repaired []string
}

// Implementation is the code of an engine.
type Implementation struct {
	Open    func(context.Context, Options) (Opened, error)
	Check   func(dir string, ix storage.Indexer) (*storage.Report, error)
	Restore func(from, to string, ix storage.Indexer) (*storage.Report, error)
	// Target makes Options.URI the target of a copy, if the engine is remote.
	Target func(context.Context, Options) (Target, error)
}

// Target is where data are copied to. Until Finish nobody else can use it.
type Target interface {
	Open(context.Context) (storage.Engine, error)
	Held(context.Context) error   // fails if it does not belong to this process any more
	Finish(context.Context) error // makes it like any other data
	Close() error                 // gives up what is not finished; after Finish it does nothing
}

// engine is an entry of the table.
type engine struct {
	name  string
	marks []string // files that say that a directory holds data of the engine
	// cached reports whether the engine reads data from disk when they are needed,
	// through a cache.
	cached bool
	remote bool // the data are in a database, which Options.URI names
	code   Implementation
	link   string // the package whose import links the code, if that is not here
}

// table has all engines.
var table = []*engine{
	{name: Default, marks: []string{bunt.LogName, bunt.StateName}, code: buntCode},
	{name: "pebble", marks: []string{"duskdb.pebble", "pebble/marker.manifest.*"}, cached: true, link: "github.com/duskdb/duskdb/server/pebble"},
	{name: "postgres", remote: true, link: "github.com/duskdb/duskdb/server/postgres"},
}

// Link adds the code of an engine that is not part of every program. Packages call
// it when they are initialized.
func Link(name string, code Implementation) {
	i := slices.IndexFunc(table, func(e *engine) bool { return e.name == name })
	table[i].code = code
}

// Names are the names of the engines that the program has.
func Names() (names []string) {
	for _, e := range table {
		if e.linked() {
			names = append(names, e.name)
		}
	}
	return names
}

func (e *engine) linked() bool { return e.code.Open != nil }

// usable returns an error if the program does not have the code of the engine.
func (e *engine) usable() error {
	if e.linked() {
		return nil
	}
	return fmt.Errorf("this program does not include the storage engine %s: import %s", e.name, e.link)
}

// named finds an engine that the program has.
func named(name string) (*engine, error) {
	i := slices.IndexFunc(table, func(e *engine) bool { return e.name == name })
	if i < 0 {
		return nil, fmt.Errorf("%q is no storage engine of this version, which has %s", name, strings.Join(Names(), ", "))
	}
	return table[i], table[i].usable()
}

// HasCache reports whether Options.CacheBytes has an effect on an engine.
func HasCache(name string) bool {
	e, err := named(name)
	return err == nil && e.cached
}

// Remote reports whether an engine has its data in a database instead of a directory.
func Remote(name string) bool {
	e, err := named(name)
	return err == nil && e.remote
}

// Open opens an engine over a directory, which it makes if it is missing.
// Nothing is changed in a directory that the engine cannot use.
func Open(name string, o Options) (Opened, error) {
	e, err := named(name)
	if err != nil {
		return Opened{}, err
	}
	if e.remote {
		if o.URI == "" && TestURI != nil {
			o.URI = TestURI(o.Path)
		}
	} else if err := Usable(name, o.Path); err != nil {
		return Opened{}, err
	}
	opened, err := e.openAt(context.Background(), o)
	if err == nil && !e.remote && o.Path != Memory {
		if err := storage.NoteVersion(o.Path, o.Version, o.FileMode); err != nil && o.Logger != nil {
			o.Logger("storage: %v", err) // no data depend on it
		}
	}
	if err == nil && Wrap != nil {
		opened.Engine = Wrap(opened.Engine)
	}
	return opened, err
}

// openAt opens an engine over a directory that it may use. The context ends the wait for a
// database.
func (e *engine) openAt(ctx context.Context, o Options) (Opened, error) {
	opened, err := e.code.Open(ctx, o)
	if err != nil && e.remote {
		return Opened{}, err
	}
	if err != nil {
		return Opened{}, explain(o.Path, err)
	}
	return opened, nil
}

// Check reads the data in a directory, or a backup, without changing them.
func Check(dir string, ix storage.Indexer) (*storage.Report, error) {
	e, err := ofDir(dir)
	if err != nil {
		return nil, err
	}
	r, err := e.code.Check(dir, ix)
	return r, explain(dir, err)
}

// Restore checks a backup and copies it to a data directory, which must be
// empty or missing, or have what is left of an earlier attempt, for the same engine.
func Restore(from, to string, ix storage.Indexer) (*storage.Report, error) {
	e, err := ofDir(from)
	if err != nil {
		return nil, err
	}
	marker, err := beginCopy(from, to, restoring)
	if err != nil {
		return nil, err
	}
	r, err := e.code.Restore(from, to, ix)
	if err != nil {
		return r, errors.Join(err, giveUp(to, marker))
	}
	if err := removeLocked(marker); err != nil {
		return r, err
	}
	return r, syncDir(to)
}
