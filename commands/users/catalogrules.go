package users

import (
	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// The rules for the commands on collections and views.

// MayCreate allows users with the privilege insert to create collections, but not views.
func MayCreate(c *kernel.Call) error {
	ns := access.Target(c)
	if Given(c.Body, "capped") {
		if err := access.Need(c, access.Pattern(ns), "convertToCapped"); err != nil {
			return err
		}
	}
	if !access.May(c, access.Pattern(ns), "createCollection") && (c.Body.Has("viewOn") || !access.May(c, access.Pattern(ns), "insert")) {
		return access.ErrNotAuthorized
	}
	if err := mayMoveExpired(c, ns); err != nil {
		return err
	}
	return mayDefineView(c, ns)
}

// mayMoveExpired checks the privilege to write to the target of onExpire, since the server
// itself moves the documents later.
func mayMoveExpired(c *kernel.Call, from storage.Namespace) error {
	for name, v := range c.Body.Lookup("onExpire").Doc().All() {
		if name == "deadLetterTo" {
			if err := mayMove(c, from, storage.Namespace{DB: c.DB, Coll: v.Clone().Str()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayMove asks for the right to have documents moved. Users who cannot read the
// source must not move its documents to a collection that they can read.
func mayMove(c *kernel.Call, from, to storage.Namespace) error {
	if err := access.Need(c, access.Pattern(to), "insert"); err != nil || !access.May(c, access.Pattern(to), "find") {
		return err
	}
	return access.Need(c, access.Pattern(from), "find")
}

// MayCollMod asks for collMod, and for the rights that moving expired documents
// and defining views need.
func MayCollMod(c *kernel.Call) error {
	ns := access.Target(c)
	if err := access.Need(c, access.Pattern(ns), "collMod"); err != nil {
		return err
	}
	if err := mayMoveExpired(c, ns); err != nil {
		return err
	}
	// What a view reads is only known from both.
	if c.Svc.Options.Security.Auth && c.Body.Lookup("viewOn").IsNullish() != c.Body.Lookup("pipeline").IsNullish() {
		return mongoerr.New(mongoerr.InvalidOptions, "Must specify both 'viewOn' and 'pipeline' when modifying a view and auth is enabled")
	}
	return mayDefineView(c, ns)
}

// mayDefineView asks for the right to read all that a view shows. Users who cannot
// read the view itself gain nothing by defining it, and need no more: restoring a
// dump depends on that.
func mayDefineView(c *kernel.Call, view storage.Namespace) error {
	on := c.Body.Lookup("viewOn")
	if on.Kind() != value.KindString || !access.May(c, access.Pattern(view), "find") {
		return nil
	}
	ns := storage.Namespace{DB: c.DB, Coll: on.Clone().Str()}
	return mayRunPipeline(c, ns, c.Body.Lookup("pipeline").Doc())
}

// MayRename asks for renameCollectionSameDB within a database, else for the rights
// to read and drop the source and to write to the target.
func MayRename(c *kernel.Call) error {
	from, to := access.SplitNamespace(c.Body.Lookup("renameCollection").Str()), access.SplitNamespace(c.Body.Lookup("to").Str())
	drop := Given(c.Body, "dropTarget")
	if from.DB == to.DB && access.May(c, auth.Database(from.DB), "renameCollectionSameDB") {
		// Who may not read the source must not move it to where he may.
		if access.May(c, access.Pattern(from), "find") || !access.May(c, access.Pattern(to), "find") {
			if !drop {
				return nil
			}
			return access.Need(c, access.Pattern(to), "dropCollection")
		}
	}
	if err := access.Need(c, access.Pattern(from), "find", "dropCollection"); err != nil {
		return err
	}
	if drop {
		if err := access.Need(c, access.Pattern(to), "dropCollection"); err != nil {
			return err
		}
	}
	if err := access.Need(c, access.Pattern(to), "insert", "createIndex"); err != nil {
		return err
	}
	return mayCarryExpiry(c, from, to)
}

// mayCarryExpiry asks for the right to write to the collection of the other
// database that documents will be moved to when they have expired.
func mayCarryExpiry(c *kernel.Call, from, to storage.Namespace) error {
	if from.DB == to.DB {
		return nil
	}
	info, err := exec.Lookup(c, from)
	if err != nil || info == nil {
		return err
	}
	if dead := info.Options.Lookup("onExpire").Doc().Lookup("deadLetterTo"); dead.Kind() == value.KindString {
		return mayMove(c, to, storage.Namespace{DB: to.DB, Coll: dead.Clone().Str()})
	}
	return nil
}

// MayCloneAsCapped asks for find on the source, and for insert, createIndex and
// convertToCapped on the target.
func MayCloneAsCapped(c *kernel.Call) error {
	if err := access.Need(c, access.Pattern(access.Target(c)), "find"); err != nil {
		return err
	}
	to := auth.Namespace(c.DB, c.Body.Lookup("toCollection").Clone().Str())
	return access.Need(c, to, "insert", "createIndex", "convertToCapped")
}
