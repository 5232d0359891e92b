package kernel

import (
	"strings"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Namespace reads the collection a command names with its first field.
func (c *Call) Namespace() (storage.Namespace, error) {
	_, v := c.Body.First()
	return c.NamespaceOf(v)
}

// NamespaceOf reads the name of a collection in the database of the command and refuses
// invalid names.
func (c *Call) NamespaceOf(v value.Value) (storage.Namespace, error) {
	if v.Kind() != value.KindString {
		return storage.Namespace{}, mongoerr.Newf(mongoerr.InvalidNamespace, "collection name has invalid type %s", v.Kind())
	}
	if ns, known := c.knownNamespace(v.Str()); known {
		return ns, nil
	}
	ns := storage.Namespace{DB: c.DB, Coll: strings.Clone(v.Str())}
	if err := catalog.CheckNamespace(ns); err != nil {
		return ns, err
	}
	c.knows(ns)
	return ns, nil
}

// LiteralNamespace is [Call.NamespaceOf] for commands that do not check names: they do not
// find a collection with an invalid name.
func (c *Call) LiteralNamespace(v value.Value) (storage.Namespace, error) {
	ns := storage.Namespace{DB: c.DB, Coll: strings.Clone(v.Str())}
	if strings.Contains(ns.Coll, "$") && catalog.ValidCollection(strings.ReplaceAll(ns.Coll, "$", "x")) || len(ns.String()) > catalog.MaxNamespaceName {
		return ns, nil
	}
	return c.NamespaceOf(v)
}

// WriteNamespace is [Call.NamespaceOf] for the commands that write documents.
func (c *Call) WriteNamespace(v value.Value) (storage.Namespace, error) {
	ns, err := c.NamespaceOf(v)
	if err != nil {
		return ns, err
	}
	return ns, c.CheckWriteNamespace(ns)
}

// CheckWriteNamespace refuses writes to collections that only the server writes to, and to
// names below "system." that MongoDB does not know. In transactions it refuses writes to most
// of the server's own collections.
func (c *Call) CheckWriteNamespace(ns storage.Namespace) error {
	if c.Svc.IsMadeOnRead(ns) {
		return catalog.NotOnView(ns)
	}
	if ns.Coll == "system.profile" || ns.Coll == catalog.SystemViews || ns == oplog.Namespace {
		return mongoerr.Newf(mongoerr.InvalidNamespace, "cannot write to %s", ns)
	}
	if c.Generic.Autocommit != nil && catalog.IsSystem(ns.Coll) && !reserved.IsBuckets(ns.Coll) && !catalog.IsPrivilegeCollection(ns) {
		return mongoerr.Newf(50791, "Cannot write to system collection %s within a transaction.", ns)
	}
	return catalog.CheckSystemName(ns)
}

// ExpectUUID returns an error unless the collection exists and has the UUID that the client
// expects.
func (c *Call) ExpectUUID(ns storage.Namespace, u args.UUID) error {
	if !u.Given() {
		return nil
	}
	return c.View(func(tx storage.Tx) error { return catalog.CheckUUID(tx, ns, u) })
}

// names are the names that the last command of a connection used. Most commands use the
// same ones again. A known name need not be copied from the message or checked again. The
// database admin is always known, so that a commit, which goes to it, does not take the
// place of the database that the statements of transactions use.
type names struct {
	db    string                   // a name accepted by CheckDatabase
	ns    storage.Namespace        // a name accepted by catalog.CheckNamespace
	full  string                   // ns as one string; "" until it is first requested
	usage *observe.CollectionUsage // the counters of ns; nil until a command has used it
}

// lastNames returns the known names; they are empty without a connection.
func (c *Call) lastNames() *names {
	if c.Work == nil {
		return &names{}
	}
	return &c.Work.names
}

// SetDatabase sets the database of the command to the one in the message.
func (c *Call) SetDatabase(inMessage string) {
	switch n := c.lastNames(); inMessage {
	case n.db:
		c.DB = n.db
	case adminDB:
		c.DB = adminDB
	default:
		c.DB = strings.Clone(inMessage)
	}
}

const adminDB = "admin"

// CheckDatabase refuses names that MongoDB refuses.
func (c *Call) CheckDatabase() error {
	n := c.lastNames()
	if c.DB == n.db && c.DB != "" || c.DB == adminDB {
		return nil
	}
	if err := catalog.CheckDatabase(c.DB); err != nil {
		if c.DB == "$external" {
			return nil
		}
		return err
	}
	n.db = c.DB
	return nil
}

// knownNamespace returns the namespace of a collection in the command's
// database if it is the one that was used last.
func (c *Call) knownNamespace(coll string) (storage.Namespace, bool) {
	n := c.lastNames()
	return n.ns, n.ns.Coll == coll && n.ns.DB == c.DB && coll != ""
}

// knows remembers a namespace that has been checked.
func (c *Call) knows(ns storage.Namespace) {
	if n := c.lastNames(); n.ns != ns {
		n.ns, n.full, n.usage = ns, "", nil
	}
}

// FullName returns db.collection, which is made once while the commands of a connection are
// about the same collection.
func (c *Call) FullName(ns storage.Namespace) string {
	n := c.lastNames()
	if n.ns != ns {
		return ns.String()
	}
	if n.full == "" {
		n.full = ns.String()
	}
	return n.full
}
