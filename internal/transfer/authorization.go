package transfer

import (
	"errors"
	"fmt"

	"github.com/duskdb/duskdb/value"
)

// authorization are the users and roles of a dump. They are stored in collections of
// admin from which the server takes them over.
type authorization struct {
	collected map[kind]bool
}

// temporary names the collections.
var temporary = map[kind]string{users: "tempusers", roles: "temproles"}

// wantsAuthorization reports whether users and roles are restored: those of the whole
// dump with it, those of one database if they are asked for.
func (d *dump) wantsAuthorization(db, name string) bool {
	ofDatabase := name == usersOfDatabase || name == rolesOfDatabase
	switch d.Database {
	case "":
		return !ofDatabase
	case "admin":
		return db == "admin"
	}
	return d.UsersAndRoles && (ofDatabase || db == "admin")
}

// collect stores users or roles in their temporary collection.
func (a *authorization) collect(d *dump, k kind, source Source) error {
	if a.collected == nil {
		a.collected = map[kind]bool{}
	}
	var failed error
	_, err := Import(d.to, source, ImportOptions{
		Database: "admin", Collection: temporary[k], Drop: !a.collected[k], StopOnError: true, OnError: func(err error) { failed = err },
	})
	a.collected[k] = true
	if err = errors.Join(failed, err); err != nil {
		return fmt.Errorf("users and roles: %w", err)
	}
	return nil
}

// merge lets the server take users and roles over, and drops the temporary collections.
func (a *authorization) merge(d *dump) error {
	if len(a.collected) == 0 {
		return nil
	}
	db := d.Database
	if db == "admin" {
		db = ""
	}
	b := value.NewBuilder().Int32("_mergeAuthzCollections", 1)
	if a.collected[users] {
		b.String("tempUsersCollection", "admin."+temporary[users])
	}
	if a.collected[roles] {
		b.String("tempRolesCollection", "admin."+temporary[roles])
	}
	_, err := d.to.Run(b.Bool("drop", d.Drop).String("db", db).String("$db", "admin").Doc())
	for _, k := range []kind{users, roles} {
		if a.collected[k] {
			drop := importer{ImportOptions: ImportOptions{Database: "admin", Collection: temporary[k]}, to: d.to}
			err = errors.Join(err, drop.drop())
		}
	}
	if err != nil {
		return fmt.Errorf("users and roles: %w", err)
	}
	return nil
}
