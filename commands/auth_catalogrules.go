package commands

import (
	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// The rules for the commands on collections and views.

// mayCreate lets who may insert create collections, too, but not views.
func mayCreate(c *Call) error {
	ns := c.target()
	if given(c.Body, "capped") {
		if err := c.need(pattern(ns), "convertToCapped"); err != nil {
			return err
		}
	}
	if !c.may(pattern(ns), "createCollection") && (c.Body.Has("viewOn") || !c.may(pattern(ns), "insert")) {
		return errNotAuthorized
	}
	if err := c.mayMoveExpired(ns); err != nil {
		return err
	}
	return c.mayDefineView(ns)
}

// mayMoveExpired asks for the right to write where onExpire moves the documents
// of a collection: the server does it later in the name of nobody.
func (c *Call) mayMoveExpired(from storage.Namespace) error {
	for name, v := range c.Body.Lookup("onExpire").Doc().All() {
		if name == "deadLetterTo" {
			if err := c.mayMove(from, storage.Namespace{DB: c.DB, Coll: v.Clone().Str()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayMove asks for the right to have documents moved. Who may not read them
// must not have them moved to where he may.
func (c *Call) mayMove(from, to storage.Namespace) error {
	if err := c.need(pattern(to), "insert"); err != nil || !c.may(pattern(to), "find") {
		return err
	}
	return c.need(pattern(from), "find")
}

func mayCollMod(c *Call) error {
	ns := c.target()
	if err := c.need(pattern(ns), "collMod"); err != nil {
		return err
	}
	if err := c.mayMoveExpired(ns); err != nil {
		return err
	}
	// What a view reads is only known from both.
	if c.svc.options.Security.Auth && c.Body.Lookup("viewOn").IsNullish() != c.Body.Lookup("pipeline").IsNullish() {
		return mongoerr.New(mongoerr.InvalidOptions, "Must specify both 'viewOn' and 'pipeline' when modifying a view and auth is enabled")
	}
	return c.mayDefineView(ns)
}

// mayDefineView asks for the right to read all that a view shows. Who may not
// read the view itself gains nothing by defining it, and may do so, as who
// restores a dump.
func (c *Call) mayDefineView(view storage.Namespace) error {
	on := c.Body.Lookup("viewOn")
	if on.Kind() != value.KindString || !c.may(pattern(view), "find") {
		return nil
	}
	ns := storage.Namespace{DB: c.DB, Coll: on.Clone().Str()}
	return c.mayRunPipeline(ns, c.Body.Lookup("pipeline").Doc())
}

func mayRename(c *Call) error {
	from, to := splitNamespace(c.Body.Lookup("renameCollection").Str()), splitNamespace(c.Body.Lookup("to").Str())
	drop := given(c.Body, "dropTarget")
	if from.DB == to.DB && c.may(auth.Database(from.DB), "renameCollectionSameDB") {
		// Who may not read the source must not move it to where he may.
		if c.may(pattern(from), "find") || !c.may(pattern(to), "find") {
			if !drop {
				return nil
			}
			return c.need(pattern(to), "dropCollection")
		}
	}
	if err := c.need(pattern(from), "find", "dropCollection"); err != nil {
		return err
	}
	if drop {
		if err := c.need(pattern(to), "dropCollection"); err != nil {
			return err
		}
	}
	if err := c.need(pattern(to), "insert", "createIndex"); err != nil {
		return err
	}
	return c.mayCarryExpiry(from, to)
}

// mayCarryExpiry asks for the right to write to the collection of the other
// database that documents will be moved to when they have expired.
func (c *Call) mayCarryExpiry(from, to storage.Namespace) error {
	if from.DB == to.DB {
		return nil
	}
	info, err := c.lookup(from)
	if err != nil || info == nil {
		return err
	}
	if dead := info.Options.Lookup("onExpire").Doc().Lookup("deadLetterTo"); dead.Kind() == value.KindString {
		return c.mayMove(to, storage.Namespace{DB: to.DB, Coll: dead.Clone().Str()})
	}
	return nil
}

func mayCloneAsCapped(c *Call) error {
	if err := c.need(pattern(c.target()), "find"); err != nil {
		return err
	}
	to := auth.Namespace(c.DB, c.Body.Lookup("toCollection").Clone().Str())
	return c.need(to, "insert", "createIndex", "convertToCapped")
}
