package transfer

import (
	"crypto/sha1" // names files as mongodump does, protects nothing
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/value"
)

// A directory of mongodump has:
//
//	DATABASE/NAME.metadata.json       options and indexes of a collection, time series or view
//	DATABASE/NAME.bson                the documents of a collection
//	DATABASE/system.buckets.NAME.bson the buckets of a time series; from 8.3 on NAME.bson
//	DATABASE/$admin.system.users.bson users of a database that was dumped alone; also roles
//	oplog.bson                        what changed meanwhile
//	prelude.json                      versions; of a database that was dumped alone, below it
//
// All may end in .gz. Names are escaped as in the query of a URL, and cut if they are long.
const (
	dataEnding = ".bson"
	metaEnding = ".metadata.json"
	packed     = ".gz"
	prelude    = "prelude.json"
)

// RestoreDump restores a dump directory.
func RestoreDump(to Runner, dir string, o DumpOptions) (Result, error) {
	d := &dump{DumpOptions: o, to: to}
	err := d.directory(dir)
	return d.sum, err
}

// directory restores the databases and then the oplog.
func (d *dump) directory(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	oplogFile, known := "", 0
	for _, e := range entries {
		path, name := filepath.Join(dir, e.Name()), strings.TrimSuffix(e.Name(), packed)
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(name, "."), name == prelude: // mongodump writes no hidden files
			continue
		case info.IsDir():
			n, err := d.database(path, e.Name())
			if err != nil {
				return err
			}
			known += n
			continue
		case name == oplogName+dataEnding:
			oplogFile = path
		default:
			d.lost(fmt.Errorf("%s is in no database of the dump and is not restored%s", path, advice(name)))
		}
	}
	if known == 0 && oplogFile == "" {
		return fmt.Errorf("%s is not a dump: it has no DATABASE/COLLECTION.bson", dir)
	}
	if oplogFile != "" {
		if err := d.special(oplog, "", oplogName, oplogFile); err != nil {
			return err
		}
	}
	return d.end()
}

// advice is a hint for users who name the directory of one database.
func advice(name string) string {
	if strings.HasSuffix(name, dataEnding) || strings.HasSuffix(name, metaEnding) {
		return "; --dump takes the directory above those of the databases"
	}
	return ""
}

// pair is what a dump has of one collection.
type pair struct {
	meta value.Doc // nil: none
	data string    // the file of documents; "": none
}

// database restores the directory of one database, and returns the number of its files.
func (d *dump) database(dir, db string) (files int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	metas, datas := map[string]string{}, map[string]string{} // by their names without endings
	for _, e := range entries {
		path, name := filepath.Join(dir, e.Name()), strings.TrimSuffix(e.Name(), packed)
		meta, isMeta := strings.CutSuffix(name, metaEnding)
		data, isData := strings.CutSuffix(name, dataEnding)
		switch {
		case strings.HasPrefix(name, "."), name == prelude:
		case isMeta:
			metas[meta] = path
		case isData:
			datas[data] = path
		case !d.skips(db):
			d.lost(fmt.Errorf("%s is no file of a dump and is not restored", path))
		}
	}
	files = len(metas) + len(datas)
	if d.skips(db) {
		return files, d.adminUsers(db, datas)
	}
	d.found = d.found || files > 0
	pairs, err := match(metas, datas)
	if err != nil {
		return files, fmt.Errorf("%s: %w", dir, err)
	}
	inOrder := func(x, y string) int {
		a, b := restored{db: db, name: x, meta: pairs[x].meta}, restored{db: db, name: y, meta: pairs[y].meta}
		return a.order(&b)
	}
	for _, name := range slices.SortedFunc(maps.Keys(pairs), inOrder) {
		if err := d.files(db, name, pairs[name]); err != nil {
			return files, fmt.Errorf("%s: %s: %w", dir, name, err)
		}
	}
	return files, nil
}

// adminUsers restores the users and roles of one database from those of a whole dump.
func (d *dump) adminUsers(db string, datas map[string]string) error {
	if db != "admin" || !d.UsersAndRoles {
		return nil
	}
	for _, name := range []string{"system.users", "system.roles"} {
		if path := datas[name]; path != "" {
			if err := d.special(kindOf(db, name), db, name, path); err != nil {
				return err
			}
		}
	}
	return nil
}

// match finds the files of each collection by its name. The buckets of a time series
// belong to the metadata with the name of the series.
func match(metas, datas map[string]string) (map[string]pair, error) {
	pairs, named, err := described(metas)
	if err != nil {
		return nil, err
	}
	for _, file := range slices.Sorted(maps.Keys(datas)) {
		path := datas[file]
		name, ok := named[file]
		if !ok {
			var err error
			if name, err = nameOf(file, value.EmptyDoc); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		p := pairs[name]
		if p.data != "" {
			return nil, fmt.Errorf("%s and %s both have documents of %s", p.data, path, name)
		}
		p.data = path
		pairs[name] = p
	}
	return pairs, nil
}

// described reads the metadata: of each collection, and to which collection a file of
// documents belongs, by its name.
func described(metas map[string]string) (pairs map[string]pair, named map[string]string, err error) {
	pairs, named = map[string]pair{}, map[string]string{}
	for _, file := range slices.Sorted(maps.Keys(metas)) {
		meta, err := readMetadata(metas[file])
		if err != nil {
			return nil, nil, err
		}
		name, err := nameOf(file, meta)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", metas[file], err)
		}
		pairs[name] = pair{meta: meta}
		named[file] = name
	}
	for name, p := range pairs {
		if c := (restored{meta: p.meta}); c.isSeries() && !reserved.IsBuckets(name) {
			named[fileName(reserved.Buckets(name))] = name
			delete(pairs, reserved.Buckets(name))
		}
	}
	return pairs, named, nil
}

// Long names of files are cut to this number of bytes and end with a hash.
const (
	longestName = 238
	uncut       = 208
	cutMark     = "%24"
)

// fileName is the name of the files of a collection, without endings.
func fileName(collection string) string {
	escaped := url.QueryEscape(collection)
	if len(escaped) <= longestName {
		return escaped
	}
	hash := sha1.Sum([]byte(collection))
	return escaped[:uncut] + cutMark + base64.RawURLEncoding.EncodeToString(hash[:])
}

// nameOf is the name of the collection of a file. One that was cut is in the metadata.
func nameOf(file string, meta value.Doc) (string, error) {
	if len(file) != longestName || !strings.Contains(file, cutMark) {
		return url.QueryUnescape(file)
	}
	name := meta.Lookup("collectionName").Str()
	if name == "" {
		return "", errors.New("the name of the collection was cut, and no metadata have it")
	}
	return name, nil
}

// files restores one collection of a database.
func (d *dump) files(db, name string, p pair) error {
	if k := kindOf(db, name); k != ordinary {
		if p.data == "" {
			return nil
		}
		return d.special(k, db, name, p.data)
	}
	c := &restored{d: d, db: db, name: name, meta: value.EmptyDoc}
	if p.meta != nil {
		c.meta = p.meta
	}
	if err := c.asSeries(); err != nil {
		d.lost(err)
		return nil
	}
	if err := c.create(); err != nil {
		return err
	}
	if err := d.documents(c, p.data); err != nil {
		return err
	}
	c.createIndexes()
	return nil
}

// documents loads the file of a collection. A view has none.
func (d *dump) documents(c *restored, path string) error {
	if path == "" {
		if !c.isView() && !c.isSeries() && c.deadLetterOf() == "" {
			d.lost(fmt.Errorf("%s: the dump has options and indexes, but no file of documents", c.ns()))
		}
		return nil
	}
	in, err := openFile(path)
	if err != nil {
		return err
	}
	defer in.Close()
	res, err := c.load(NewBSON(in))
	d.add(res)
	return err
}

// special restores the file of something that is no collection.
func (d *dump) special(k kind, db, name, path string) error {
	in, err := openFile(path)
	if err != nil {
		return err
	}
	defer in.Close()
	return d.load(k, db, name, NewBSON(in))
}

// readMetadata reads a file of metadata.
func readMetadata(path string) (value.Doc, error) {
	in, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxText+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxText {
		return nil, fmt.Errorf("%s has more than %d bytes", path, maxText)
	}
	return parseMetadata(text)
}
