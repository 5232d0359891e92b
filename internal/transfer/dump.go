package transfer

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/value"
)

// DumpOptions say how a dump of mongodump is restored.
type DumpOptions struct {
	Database string // only this one; "": all but admin and config
	Drop     bool   // each collection of the dump, first

	OnError  func(error)
	Progress func(namespace string, documents int)
}

// skipped are databases of a dump that belong to the server that wrote it.
func (o *DumpOptions) skips(db string) bool {
	if o.Database != "" {
		return db != o.Database
	}
	return db == "admin" || db == "config" || db == "local"
}

// RestoreDump restores a dump directory: dir/DATABASE/COLLECTION.bson with
// COLLECTION.metadata.json beside it; both may end in .gz.
func RestoreDump(to Runner, dir string, o DumpOptions) (Result, error) {
	var sum Result
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.bson*"))
	if err != nil {
		return sum, err
	}
	if len(files) == 0 {
		return sum, fmt.Errorf("%s is not a dump: it has no DATABASE/COLLECTION.bson", dir)
	}
	for _, file := range files {
		base := strings.TrimSuffix(filepath.Base(file), ".gz")
		name, ok := strings.CutSuffix(base, ".bson")
		db := filepath.Base(filepath.Dir(file))
		if !ok || o.skips(db) {
			continue
		}
		if name, err = url.PathUnescape(name); err != nil {
			return sum, fmt.Errorf("%s: %w", file, err)
		}
		r, err := o.file(to, db, name, file)
		sum.Imported, sum.Failed = sum.Imported+r.Imported, sum.Failed+r.Failed
		if err != nil {
			return sum, fmt.Errorf("%s: %w", file, err)
		}
	}
	return sum, nil
}

// file restores one collection of a dump directory.
func (o *DumpOptions) file(to Runner, db, name, path string) (Result, error) {
	meta, err := readMetadata(path)
	if err != nil {
		return Result{}, err
	}
	c := &restored{to: to, o: o, db: db, name: name, meta: meta}
	if err := c.create(); err != nil {
		return Result{}, err
	}
	in, err := openFile(path)
	if err != nil {
		return Result{}, err
	}
	defer in.Close()
	res, err := c.load(NewBSON(in))
	if err != nil {
		return res, err
	}
	return res, c.createIndexes()
}

// readMetadata reads the file beside a .bson file; a dump may be without.
func readMetadata(path string) (value.Doc, error) {
	gz := ""
	if strings.HasSuffix(path, ".gz") {
		gz = ".gz"
	}
	in, err := openFile(strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".bson") + ".metadata.json" + gz)
	if errors.Is(err, os.ErrNotExist) {
		return value.EmptyDoc, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxText))
	if err != nil {
		return nil, err
	}
	meta, err := value.ParseJSON(string(text))
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	return meta, nil
}

// openFile opens a file that may be packed.
func openFile(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return f, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}

// restored is a collection that is being restored.
type restored struct {
	to       Runner
	o        *DumpOptions
	db, name string
	meta     value.Doc // {options: {...}, indexes: [...]}
}

// create makes the collection with its options. One that is there is used.
func (c *restored) create() error {
	if c.o.Drop {
		drop := importer{ImportOptions: ImportOptions{Database: c.db, Collection: c.target()}, to: c.to}
		if err := drop.drop(); err != nil {
			return err
		}
	}
	if c.meta.Lookup("type").Str() == "timeseries" || c.isBuckets() {
		return c.createSeries()
	}
	b := value.NewBuilder().String("create", c.name)
	for name, v := range c.meta.Lookup("options").Doc().All() {
		switch name {
		case "autoIndexId", "uuid": // of old servers, and of the other server
		default:
			b.Append(name, v)
		}
	}
	return existing(c.to.Run(b.String("$db", c.db).Doc()))
}

func (c *restored) isBuckets() bool { return reserved.IsBuckets(c.name) }

// target is the collection that clients see.
func (c *restored) target() string {
	if series, ok := reserved.Series(c.name); ok {
		return series
	}
	return c.name
}

// createSeries makes the collection whose buckets a dump has.
func (c *restored) createSeries() error {
	b := value.NewBuilder().String("create", c.target())
	for name, v := range c.meta.Lookup("options").Doc().All() {
		switch name {
		case "timeseries", "expireAfterSeconds", "storageEngine":
			b.Append(name, v)
		}
	}
	return existing(c.to.Run(b.String("$db", c.db).Doc()))
}

// existing ignores the error that a collection exists.
func existing(_ value.Doc, err error) error {
	const namespaceExists = 48
	var failed *CommandError
	if errors.As(err, &failed) && failed.Code == namespaceExists {
		return nil
	}
	return err
}

// load inserts the documents. A view has none.
func (c *restored) load(source Source) (Result, error) {
	if c.meta.Lookup("type").Str() == "view" {
		return Result{}, nil
	}
	return Import(c.to, source, ImportOptions{
		Database: c.db, Collection: c.name, OnError: c.failed,
		Progress: func(n int) {
			if c.o.Progress != nil {
				c.o.Progress(c.db+"."+c.name, n)
			}
		},
	})
}

func (c *restored) failed(err error) {
	if c.o.OnError != nil {
		c.o.OnError(fmt.Errorf("%s.%s: %w", c.db, c.name, err))
	}
}

// createIndexes makes the indexes after the documents are there, which is
// faster and lets TTL indexes see all of them.
func (c *restored) createIndexes() error {
	var list []value.Value
	for v := range c.meta.Lookup("indexes").Doc().Values() {
		b := value.NewBuilder()
		for name, field := range v.Doc().All() {
			if name != "ns" { // of old servers
				b.Append(name, field)
			}
		}
		if spec := b.Doc(); spec.Lookup("name").Str() != reserved.IDIndex && !spec.Lookup("clustered").Truthy() {
			list = append(list, value.Document(spec))
		}
	}
	if len(list) == 0 {
		return nil
	}
	_, err := c.to.Run(value.NewDoc("createIndexes", value.String(c.target()), "indexes", value.NewArray(list...), "$db", value.String(c.db)))
	return err
}
