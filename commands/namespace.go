package commands

import (
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// The limits of MongoDB 8.0 on names.
const (
	maxDatabaseName  = 63
	maxNamespaceName = 255
)

// checkDatabase refuses names that MongoDB refuses.
func checkDatabase(db string) error {
	if db == "" || len(db) > maxDatabaseName || strings.ContainsAny(db, "/\\. \"$\x00") {
		return mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid database name: '%s'", db)
	}
	return nil
}

// validCollection reports whether a collection may be called that, however long.
func validCollection(coll string) bool {
	return coll != "" && coll[0] != '.' && strings.IndexByte(coll, 0) < 0 && (!strings.Contains(coll, "$") || strings.HasPrefix(coll, "$cmd") || strings.HasPrefix(coll, "system."))
}

// checkNamespace refuses collection names that no command may address.
func checkNamespace(ns storage.Namespace) error {
	switch {
	case !validCollection(ns.Coll):
		return mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid namespace specified '%s'", ns)
	case len(ns.DB)+1+len(ns.Coll) > maxNamespaceName:
		return mongoerr.Newf(mongoerr.InvalidNamespace, "Fully qualified namespace is too long. Namespace: %s Max: %d", ns, maxNamespaceName)
	}
	return nil
}

// namespace reads the collection a command names with its first field.
func (c *Call) namespace() (storage.Namespace, error) {
	_, v := c.Body.First()
	return c.namespaceOf(v)
}

func (c *Call) namespaceOf(v value.Value) (storage.Namespace, error) {
	if v.Kind() != value.KindString {
		return storage.Namespace{}, mongoerr.Newf(mongoerr.InvalidNamespace, "collection name has invalid type %s", v.Kind())
	}
	if ns, known := c.knownNamespace(v.Str()); known {
		return ns, nil
	}
	ns := storage.Namespace{DB: c.DB, Coll: strings.Clone(v.Str())}
	if err := checkNamespace(ns); err != nil {
		return ns, err
	}
	c.knows(ns)
	return ns, nil
}

// literalNamespace is namespaceOf for commands that look a name up as it is:
// one that no collection can have is not found.
func (c *Call) literalNamespace(v value.Value) (storage.Namespace, error) {
	ns := storage.Namespace{DB: c.DB, Coll: strings.Clone(v.Str())}
	if strings.Contains(ns.Coll, "$") && validCollection(strings.ReplaceAll(ns.Coll, "$", "x")) || len(ns.String()) > maxNamespaceName {
		return ns, nil
	}
	return c.namespaceOf(v)
}

// errIsView refuses to do to a view what needs a collection.
func errIsView(ns storage.Namespace) error {
	return mongoerr.Newf(mongoerr.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", ns)
}

// parseNamespace splits "db.coll".
func parseNamespace(full string) (storage.Namespace, error) {
	db, coll, _ := strings.Cut(full, ".")
	ns := storage.Namespace{DB: db, Coll: coll}
	if err := checkDatabase(db); err != nil {
		return ns, mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid namespace specified '%s'", full)
	}
	return ns, checkNamespace(ns)
}

// systemCollections are the collections below "system." that clients may
// create or write to.
var systemCollections = map[string]bool{
	"system.js": true, "system.users": true, "system.roles": true, "system.profile": true, "system.views": true,
	"system.version": true, "system.buckets": true,
}

// checkUserNamespace refuses to create collections whose names are reserved.
func checkUserNamespace(ns storage.Namespace) error {
	if err := checkNamespace(ns); err != nil {
		return err
	}
	if strings.HasPrefix(ns.Coll, "system.") && !systemCollections[ns.Coll] && !strings.HasPrefix(ns.Coll, bucketsPrefix) {
		return mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid system namespace: %s", ns)
	}
	return nil
}

// writeNamespace is namespaceOf for the commands that write documents.
func (c *Call) writeNamespace(v value.Value) (storage.Namespace, error) {
	ns, err := c.namespaceOf(v)
	if err != nil {
		return ns, err
	}
	return ns, c.checkWriteNamespace(ns)
}

// checkDatabaseCase refuses a new database whose name differs from that of
// another only in case: not every file system could tell them apart.
func checkDatabaseCase(tx storage.Tx, db string) error {
	if len(tx.Collections(db)) > 0 {
		return nil
	}
	for _, info := range tx.Collections("") {
		if other := info.Namespace.DB; other != db && strings.EqualFold(other, db) {
			return mongoerr.Newf(mongoerr.DatabaseDifferCase, "db already exists with different case already have: [%s] trying to create [%s]", other, db)
		}
	}
	return nil
}

// checkWriteNamespace refuses writes to collections that the server alone
// writes to, and in transactions those to most of its own.
func (c *Call) checkWriteNamespace(ns storage.Namespace) error {
	if ns.Coll == "system.profile" || ns.Coll == "system.views" || ns == oplogNS {
		return mongoerr.Newf(mongoerr.InvalidNamespace, "cannot write to %s", ns)
	}
	if c.generic.autocommit != nil && isSystem(ns.Coll) && !isBuckets(ns.Coll) && !isPrivileges(ns) {
		return mongoerr.Newf(50791, "Cannot write to system collection %s within a transaction.", ns)
	}
	return nil
}

// isPrivileges tells the collections of users and roles.
func isPrivileges(ns storage.Namespace) bool {
	return ns.DB == "admin" && (ns.Coll == "system.users" || ns.Coll == "system.roles")
}
