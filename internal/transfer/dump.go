package transfer

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// DumpOptions say how a dump of mongodump is restored.
type DumpOptions struct {
	Database         string // only this one; "": all
	Drop             bool   // each collection of the dump, first
	StopOnError      bool   // at the first document that fails
	BypassValidation bool   // documents need not satisfy the validators
	NoIndexes        bool   // indexes are not made
	ConvertLegacy    bool   // the keys of indexes of old servers are made valid
	NoOptions        bool   // only the options that make a view, a time series or a queue are used
	UsersAndRoles    bool   // also those of Database

	OnError  func(error)  // called for what was not restored; may be nil
	OnNotice func(string) // called for what does not belong into another server; may be nil
}

// kind says what the documents of a dump are, beside those of collections.
type kind int

const (
	ordinary kind = iota
	foreign       // of the server that wrote the dump
	users
	roles
	oplog
)

// The special collections of a database, which a dump of this database alone has.
const (
	usersOfDatabase   = "$admin.system.users"
	rolesOfDatabase   = "$admin.system.roles"
	versionOfDatabase = "$admin.system.version"
)

// oplogName is the name of the oplog in a dump. It is in no database.
const oplogName = "oplog"

// kindOf says what a collection of a dump is.
func kindOf(db, name string) kind {
	switch {
	case db == "" && name == oplogName:
		return oplog
	case name == usersOfDatabase, db == "admin" && name == "system.users":
		return users
	case name == rolesOfDatabase, db == "admin" && name == "system.roles":
		return roles
	case name == versionOfDatabase, db == "config", db == "local", name == "system.profile",
		db == "admin" && strings.HasPrefix(name, "system."):
		return foreign
	}
	return ordinary
}

// dump is a dump that is being restored.
type dump struct {
	DumpOptions
	to    Runner
	sum   Result
	found bool // something of Database
	auth  authorization

	forwards []value.Doc // commands that set where queues forward to, once all exist
}

// skips reports whether a database was not asked for.
func (d *dump) skips(db string) bool { return d.Database != "" && db != d.Database }

// lost counts a part of the dump that was not restored.
func (d *dump) lost(err error) {
	d.sum.Left++
	if d.OnError != nil {
		d.OnError(err)
	}
}

func (d *dump) notice(format string, args ...any) {
	if d.OnNotice != nil {
		d.OnNotice(fmt.Sprintf(format, args...))
	}
}

// add adds what one collection's import did.
func (d *dump) add(r Result) {
	d.sum.Imported, d.sum.Failed = d.sum.Imported+r.Imported, d.sum.Failed+r.Failed
}

// load imports the documents of a source that are not those of a collection.
func (d *dump) load(k kind, db, name string, source Source) error {
	switch k {
	case users, roles:
		if !d.wantsAuthorization(db, name) {
			d.notice("%s.%s: not restored without --restoreDbUsersAndRoles", db, name)
			return nil
		}
		return d.auth.collect(d, k, source)
	case oplog:
		if d.Database != "" {
			d.notice("the oplog is not replayed, because only the database %s is restored", d.Database)
			return nil
		}
		return d.replay(source)
	}
	if name == "system.version" || name == versionOfDatabase {
		return nil // of the form of the users, which the server finds out itself
	}
	d.notice("%s.%s: not restored: it belongs to the server that wrote the dump", db, name)
	return nil
}

// end completes the restore.
func (d *dump) end() error {
	if d.Database != "" && !d.found {
		return fmt.Errorf("the dump has no database %s", d.Database)
	}
	for _, set := range d.forwards {
		if _, err := d.to.Run(set); err != nil {
			return fmt.Errorf("%s.%s: %w", set.Lookup("$db").Str(), set.Lookup("collMod").Str(), err)
		}
	}
	return d.auth.merge(d)
}

// parseMetadata reads the text of a collection's metadata.
func parseMetadata(text []byte) (value.Doc, error) {
	if err := checkJSON(text); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
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
	if err != nil || !strings.HasSuffix(path, packed) {
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
