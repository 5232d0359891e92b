package commands

import (
	"strings"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// names are those that the commands of a connection used last. Most use the
// same ones again and again, and a name that is known need neither be copied
// out of the message nor checked again.
type names struct {
	db    string            // has passed checkDatabase
	ns    storage.Namespace // has passed checkNamespace
	usage *collectionUsage  // of ns; nil if it has not been asked for
}

// lastNames are the names that are known, none outside of a connection.
func (c *Call) lastNames() *names {
	if c.work == nil {
		return &names{}
	}
	return &c.work.names
}

// setDatabase makes the database that the message names the command's.
func (c *Call) setDatabase(inMessage string) {
	if n := c.lastNames(); n.db == inMessage {
		c.DB = n.db
		return
	}
	c.DB = strings.Clone(inMessage)
}

// checkDatabase refuses names that MongoDB refuses.
func (c *Call) checkDatabase() error {
	n := c.lastNames()
	if c.DB == n.db && c.DB != "" {
		return nil
	}
	if err := checkDatabase(c.DB); err != nil {
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
		n.ns, n.usage = ns, nil
	}
}

// usage returns the counters of the collection that the command is about.
func (c *Call) usage() *collectionUsage {
	n := c.lastNames()
	_, v := c.Body.First()
	if c.cmd.name == "getMore" || v.Kind() != value.KindString || n.ns.Coll != v.Str() || n.ns.DB != c.DB {
		return c.svc.usage.of(operationNamespace(c.op))
	}
	if n.usage == nil {
		n.usage = c.svc.usage.of(n.ns.String())
	}
	return n.usage
}
