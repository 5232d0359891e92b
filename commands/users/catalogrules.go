package users

import (
	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/queue"
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
	if err := mayPassMessages(c, ns); err != nil {
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

// mayPassMessages checks the privileges for what the server does with messages later: a
// subscription gets those of its topic, and a queue forwards its own. As for views, users who
// cannot read what gets the messages need not be able to read the topic.
func mayPassMessages(c *kernel.Call, ns storage.Namespace) error {
	topic, err := selectsFrom(c, ns)
	if err != nil {
		return err
	}
	if topic != "" {
		if err := mayGet(c, storage.Namespace{DB: c.DB, Coll: topic}, ns); err != nil {
			return err
		}
	}
	for _, option := range []string{queue.Option, queue.SubscriptionOption} {
		for name, v := range c.Body.Lookup(option).Doc().All() {
			if (name != "forwardTo" && name != "forwardDeadLetteredMessagesTo") || v.Kind() != value.KindString || v.Str() == "" {
				continue
			}
			to := storage.Namespace{DB: c.DB, Coll: v.Clone().Str()}
			if err := access.Need(c, access.Pattern(to), "insert"); err != nil {
				return err
			}
			if err := mayGet(c, ns, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// selectsFrom returns the topic of the subscription that the command makes, or whose choice of
// messages it changes; "" if it does neither.
func selectsFrom(c *kernel.Call, ns storage.Namespace) (topic string, err error) {
	option := c.Body.Lookup(queue.SubscriptionOption).Doc()
	if v := option.Lookup("topic"); v.Kind() == value.KindString {
		return v.Clone().Str(), nil
	}
	if !option.Has("rules") && !option.Has("deadLetteringOnFilterEvaluationExceptions") {
		return "", nil
	}
	info, err := exec.Lookup(c, ns)
	if err != nil || info == nil {
		return "", err
	}
	_, is := queue.KindOf(info.Options)
	return is.Lookup("topic").Str(), nil
}

// mayGet checks that users can read where messages come from, if they can read any of the
// collections to which the messages may get.
func mayGet(c *kernel.Call, from, to storage.Namespace) error {
	if !c.Svc.Options.Security.Auth || access.May(c, access.Pattern(from), "find") {
		return nil
	}
	names, err := c.Svc.Queues.Reach(c.Ctx, kernel.CallStore{Call: c}, to, c.Now)
	if err != nil {
		return err
	}
	for _, name := range names {
		if access.May(c, access.Pattern(storage.Namespace{DB: to.DB, Coll: name}), "find") {
			return access.ErrNotAuthorized
		}
	}
	return nil
}

// mayMove checks the privileges for moving documents. Users who cannot read the
// source must not move its documents to where they can read them.
func mayMove(c *kernel.Call, from, to storage.Namespace) error {
	if err := access.Need(c, access.Pattern(to), "insert"); err != nil {
		return err
	}
	return mayGet(c, from, to)
}

// MayCollMod checks the privilege collMod, and those for moving expired documents
// and for defining views.
func MayCollMod(c *kernel.Call) error {
	ns := access.Target(c)
	if err := access.Need(c, access.Pattern(ns), "collMod"); err != nil {
		return err
	}
	if err := mayMoveExpired(c, ns); err != nil {
		return err
	}
	if err := mayPassMessages(c, ns); err != nil {
		return err
	}
	// Only both options together determine what the view reads.
	if c.Svc.Options.Security.Auth && c.Body.Lookup("viewOn").IsNullish() != c.Body.Lookup("pipeline").IsNullish() {
		return mongoerr.New(mongoerr.InvalidOptions, "Must specify both 'viewOn' and 'pipeline' when modifying a view and auth is enabled")
	}
	return mayDefineView(c, ns)
}

// mayDefineView checks the privileges to read everything that a view shows. They are
// not required from users who cannot read the view itself: otherwise these could not
// restore a dump.
func mayDefineView(c *kernel.Call, view storage.Namespace) error {
	on := c.Body.Lookup("viewOn")
	if on.Kind() != value.KindString || !access.May(c, access.Pattern(view), "find") {
		return nil
	}
	ns := storage.Namespace{DB: c.DB, Coll: on.Clone().Str()}
	return mayRunPipeline(c, ns, c.Body.Lookup("pipeline").Doc())
}

// MayRename checks the privilege renameCollectionSameDB within a database, otherwise
// the privileges to read and drop the source and to write to the target.
func MayRename(c *kernel.Call) error {
	from, to := access.SplitNamespace(c.Body.Lookup("renameCollection").Str()), access.SplitNamespace(c.Body.Lookup("to").Str())
	drop := Given(c.Body, "dropTarget")
	if from.DB == to.DB && access.May(c, auth.Database(from.DB), "renameCollectionSameDB") {
		// Users who cannot read the source must not rename it to a name that they
		// can read.
		reads, err := readsMore(c, from, to)
		if err != nil {
			return err
		}
		if !reads {
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

// readsMore reports whether the client could read a collection by its new name alone, or the
// dead-letter queue that is renamed with it.
func readsMore(c *kernel.Call, from, to storage.Namespace) (bool, error) {
	if access.May(c, access.Pattern(from), "find") {
		return false, nil
	}
	if access.May(c, access.Pattern(to), "find") {
		return true, nil
	}
	info, err := exec.Lookup(c, from)
	if err != nil || info == nil || !queue.IsQueue(info.Options) {
		return false, err
	}
	from.Coll, to.Coll = queue.DeadLetterName(from.Coll), queue.DeadLetterName(to.Coll)
	return access.May(c, access.Pattern(to), "find") && !access.May(c, access.Pattern(from), "find"), nil
}

// mayCarryExpiry checks the privilege to write to the dead-letter collection in the
// other database.
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

// MayCloneAsCapped checks the privilege find on the source, and insert, createIndex
// and convertToCapped on the target.
func MayCloneAsCapped(c *kernel.Call) error {
	if err := access.Need(c, access.Pattern(access.Target(c)), "find"); err != nil {
		return err
	}
	to := auth.Namespace(c.DB, c.Body.Lookup("toCollection").Clone().Str())
	return access.Need(c, to, "insert", "createIndex", "convertToCapped")
}
