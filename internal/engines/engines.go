// Package engines opens storage engines by name. It knows what the data
// directory of each looks like, so that no engine is let into the directory of
// another one, or of another server, and it copies data between engines.
//
// The package is for the rest of DuskDB: it may change with any version.
package engines

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// Memory is the path of data that are kept nowhere.
const Memory = ":memory:"

// Default is the name of the engine of a server that names none.
const Default = "bunt"

// Options open an engine. What an engine has no use for has no effect.
type Options struct {
	Path          string // of the data directory, or Memory
	Indexer       storage.Indexer
	Clock         clock.Clock // nil: the system's
	CacheBytes    int64       // memory for data that are read from disk; 0: the engine's default
	Repair        bool        // salvage what can be read of damaged data
	OrphanIndexes []storage.IndexSpec
	// CompactMinBytes is the least size at which a log is compacted in the
	// background; 0: the engine's default, negative: never.
	CompactMinBytes int64
	FileMode        os.FileMode                   // of new files; 0: 0600
	Progress        func(read, size int64)        // called while a log is read at the start; may be nil
	Indexing        func(done, total int64)       // called while the indexes are built after that; may be nil
	Fault           func(step, path string) error // makes operations on the disk fail in tests; may be nil
	Logger          func(format string, args ...any)
}

// Opened is an engine that is open.
type Opened struct {
	storage.Engine
	// Repaired describes, in lines of text, what Options.Repair salvaged and what
	// is lost; nil if the data needed no repair.
	Repaired []string
}

// engine is an entry of the table.
type engine struct {
	name  string
	marks []string // files that say that a directory holds data of the engine
	// cached reports whether the engine reads data from disk when they are needed,
	// through a cache.
	cached  bool
	open    func(Options) (Opened, error)
	check   func(dir string, ix storage.Indexer) (*storage.Report, error)
	restore func(from, to string, ix storage.Indexer) (*storage.Report, error)
}

// table has all engines.
var table = []*engine{&buntEngine, &pebbleEngine}

// Names are the names of the engines.
func Names() (names []string) {
	for _, e := range table {
		names = append(names, e.name)
	}
	return names
}

// named finds an engine.
func named(name string) (*engine, error) {
	i := slices.IndexFunc(table, func(e *engine) bool { return e.name == name })
	if i < 0 {
		return nil, fmt.Errorf("%q is no storage engine of this version, which has %s", name, strings.Join(Names(), ", "))
	}
	return table[i], nil
}

// HasCache reports whether Options.CacheBytes has an effect on an engine.
func HasCache(name string) bool {
	e, err := named(name)
	return err == nil && e.cached
}

// Open opens an engine over a directory, which it makes if it is missing.
// Nothing is changed in a directory that the engine cannot use.
func Open(name string, o Options) (Opened, error) {
	e, err := named(name)
	if err != nil {
		return Opened{}, err
	}
	if err := Usable(name, o.Path); err != nil {
		return Opened{}, err
	}
	opened, err := e.openAt(o)
	if err == nil && Wrap != nil {
		opened.Engine = Wrap(opened.Engine)
	}
	return opened, err
}

// openAt opens an engine over a directory that it may use.
func (e *engine) openAt(o Options) (Opened, error) {
	opened, err := e.open(o)
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
	r, err := e.check(dir, ix)
	return r, explain(dir, err)
}

// Restore checks a backup and copies it to a data directory, which must be
// empty or missing, for the same engine.
func Restore(from, to string, ix storage.Indexer) (*storage.Report, error) {
	e, err := ofDir(from)
	if err != nil {
		return nil, err
	}
	if _, err := emptyOrMissing(to); err != nil {
		return nil, err
	}
	return e.restore(from, to, ix)
}
