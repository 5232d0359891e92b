package catalog

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
)

// The limits of MongoDB 8.0 on names.
const (
	MaxDatabaseName  = 63
	MaxNamespaceName = 255
)

// CheckDatabase refuses names that MongoDB refuses.
func CheckDatabase(db string) error {
	if db == "" || len(db) > MaxDatabaseName || strings.ContainsAny(db, "/\\. \"$\x00") {
		return mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid database name: '%s'", db)
	}
	return nil
}

// ValidCollection reports whether a collection may be called that, however long.
func ValidCollection(coll string) bool {
	return coll != "" && coll[0] != '.' && strings.IndexByte(coll, 0) < 0 && (!strings.Contains(coll, "$") || strings.HasPrefix(coll, "$cmd") || strings.HasPrefix(coll, "system."))
}

// CheckNamespace refuses collection names that no command may address.
func CheckNamespace(ns storage.Namespace) error {
	switch {
	case !ValidCollection(ns.Coll):
		return mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid namespace specified '%s'", ns)
	case len(ns.DB)+1+len(ns.Coll) > MaxNamespaceName:
		return mongoerr.Newf(mongoerr.InvalidNamespace, "Fully qualified namespace is too long. Namespace: %s Max: %d", ns, MaxNamespaceName)
	}
	return nil
}

// NotOnView is the error (CommandNotSupportedOnView, 166) for a command that needs a
// collection and found a view.
func NotOnView(ns storage.Namespace) error {
	return mongoerr.Newf(mongoerr.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", ns)
}

// ParseNamespace splits "db.coll".
func ParseNamespace(full string) (storage.Namespace, error) {
	db, coll, _ := strings.Cut(full, ".")
	ns := storage.Namespace{DB: db, Coll: coll}
	if err := CheckDatabase(db); err != nil {
		return ns, mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid namespace specified '%s'", full)
	}
	return ns, CheckNamespace(ns)
}

// systemCollections are the collections below "system." that clients may name in
// commands that create or write: in each database (""), or in one.
var systemCollections = map[storage.Namespace]bool{
	{Coll: "system.js"}: true, {Coll: "system.users"}: true, {Coll: "system.profile"}: true, {Coll: SystemViews}: true,
	{DB: "admin", Coll: "system.roles"}: true, {DB: "admin", Coll: "system.version"}: true, {DB: "admin", Coll: "system.keys"}: true,
	{DB: "admin", Coll: "system.backup_users"}: true, {DB: "admin", Coll: "system.new_users"}: true,
	{DB: "config", Coll: "system.sessions"}: true, {DB: "config", Coll: "system.indexBuilds"}: true, {DB: "config", Coll: "system.preimages"}: true,
	{DB: "config", Coll: "system.sharding_ddl_coordinators"}: true, {DB: "config", Coll: "system.configsvr_coordinators"}: true,
	{DB: "local", Coll: "system.replset"}: true, {DB: "local", Coll: "system.healthlog"}: true,
}

// CheckUserNamespace refuses to create collections whose names are reserved.
func CheckUserNamespace(ns storage.Namespace) error {
	if err := CheckNamespace(ns); err != nil {
		return err
	}
	return CheckSystemName(ns)
}

// CheckSystemName refuses a collection below "system." that MongoDB does not know.
func CheckSystemName(ns storage.Namespace) error {
	if !strings.HasPrefix(ns.Coll, "system.") || systemCollections[ns] || systemCollections[storage.Namespace{Coll: ns.Coll}] || reserved.IsBuckets(ns.Coll) {
		return nil
	}
	return mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid system namespace: %s", ns)
}

// CheckDatabaseCase refuses a new database whose name differs from that of
// another only in case: not every file system could tell them apart.
func CheckDatabaseCase(tx storage.Tx, db string) error {
	there := false
	if err := tx.Databases(db, func(first string) bool { there = first == db; return false }); err != nil || there {
		return err
	}
	same := ""
	if err := tx.Databases("", func(other string) bool { same = other; return !strings.EqualFold(other, db) }); err != nil {
		return err
	}
	if strings.EqualFold(same, db) {
		return mongoerr.Newf(mongoerr.DatabaseDifferCase, "db already exists with different case already have: [%s] trying to create [%s]", same, db)
	}
	return nil
}

// IsPrivilegeCollection reports whether ns holds the users or the roles.
func IsPrivilegeCollection(ns storage.Namespace) bool {
	return ns.DB == "admin" && (ns.Coll == "system.users" || ns.Coll == "system.roles")
}

// IsSystem reports whether a collection's name begins with "system.", which MongoDB
// reserves.
func IsSystem(coll string) bool { return len(coll) > 7 && coll[:7] == "system." }
