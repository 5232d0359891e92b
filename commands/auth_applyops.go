package commands

import (
	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// applyDemand is what a list of oplog entries asks for beside the privileges
// of each of them. Higher demands include the lower ones.
type applyDemand uint8

const (
	applyPlain     applyDemand = iota
	applyUseUUID               // an entry names a collection by its UUID
	applyForceUUID             // an entry chooses the UUID of a new collection
	applySuperuser             // only who may do everything
)

// maxApplyDepth bounds applyOps within applyOps.
const maxApplyDepth = 10

// demands finds what the entries demand, those of lists within them too, and
// refuses what no applyOps may hold.
func (a *applyOpsArgs) demands(depth int) (demand applyDemand, err error) {
	ops, err := a.entries()
	if err != nil {
		return 0, err
	}
	if len(ops) == 0 {
		return applySuperuser, nil
	}
	for i := range ops {
		e := &ops[i]
		name := ""
		if e.Op == "c" {
			name, _ = e.O.First()
		}
		if hasUUID(e.doc) || name != "" && hasUUID(e.O) {
			demand = max(demand, applyUseUUID)
			if name == "create" {
				demand = max(demand, applyForceUUID)
			}
		}
		switch {
		case len(ops) > 1 && (name == "create" || name == "renameCollection"), e.doc.Has("versionContext"):
			demand = applySuperuser
		case name == "dropDatabase" && depth > 0:
			return demand, mongoerr.New(9585500, "dropDatabase is not allowed inside nested applyOps")
		case name == "applyOps" && depth == maxApplyDepth:
			return demand, mongoerr.New(mongoerr.FailedToParse, "Too many nested applyOps")
		case name == "applyOps":
			within, err := a.nested(e.O)
			if err != nil {
				return demand, err
			}
			deeper, err := within.demands(depth + 1)
			if err != nil {
				return demand, err
			}
			demand = max(demand, deeper)
		}
	}
	return demand, nil
}

// hasUUID reports whether a field of the document itself is a UUID.
func hasUUID(d value.Doc) bool {
	for _, v := range d.All() {
		if v.Kind() != value.KindBinary {
			continue
		}
		if subtype, _ := v.Binary(); subtype == 4 {
			return true
		}
	}
	return false
}

// mayApplyOps asks for all that the entries do, as if the client sent each of
// them as a command of its own.
func mayApplyOps(c *Call) error {
	if err := c.need(auth.Cluster(), "applyOps"); err != nil {
		return err
	}
	var a applyOpsArgs
	if err := applyOpsSpec.decode(c.Body, &a); err != nil {
		return err
	}
	demand, err := a.demands(0)
	if err != nil {
		return err
	}
	switch demand {
	case applySuperuser:
		if !c.user.MayEverything() {
			return errNotAuthorized
		}
		return nil
	case applyForceUUID:
		err = c.need(auth.Cluster(), "forceUUID", "useUUID")
	case applyUseUUID:
		err = c.need(auth.Cluster(), "useUUID")
	}
	if err != nil {
		return err
	}
	return c.mayApplyAll(&a)
}

// mayApplyAll asks for the privileges of each entry.
func (c *Call) mayApplyAll(a *applyOpsArgs) error {
	ops, err := a.entries()
	if err != nil {
		return err
	}
	for i := range ops {
		if err := c.mayApplyEntry(a, &ops[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Call) mayApplyEntry(a *applyOpsArgs, e *oplogEntryArgs) error {
	ns := splitNamespace(e.NS)
	switch e.Op {
	case "n":
		return c.need(auth.Cluster(), "appendOplogNote")
	case "c":
		return c.mayApplyCommand(a, ns.DB, e)
	}
	if err := c.view(func(tx storage.Tx) error {
		if named, err := e.collection(tx, ns); err == nil { // else it cannot be applied
			ns = named
		}
		return nil
	}); err != nil {
		return err
	}
	return c.mayApplyTo(a, e, ns)
}

// mayApplyTo asks for what an entry does to the documents of a collection.
func (c *Call) mayApplyTo(a *applyOpsArgs, e *oplogEntryArgs, ns storage.Namespace) error {
	var actions []string
	switch e.Op {
	case "i":
		actions = []string{"insert"}
	case "u":
		actions = []string{"update"}
		if e.upserts() {
			actions = append(actions, "insert")
		}
	case "d":
		actions = []string{"remove"}
	default:
		return mongoerr.New(mongoerr.FailedToParse, "Unrecognized opType")
	}
	if a.Bypass && e.Op != "d" {
		actions = append(actions, "bypassDocumentValidation")
	}
	return c.need(pattern(ns), actions...)
}

// mayApplyCommand asks for what the logged command asks for.
func (c *Call) mayApplyCommand(a *applyOpsArgs, db string, e *oplogEntryArgs) error {
	name, _ := e.O.First()
	form := loggedCommands[name]
	switch {
	case form == nil:
		return mongoerr.New(mongoerr.FailedToParse, "Unrecognized command in op")
	case name == "applyOps":
		inner, err := a.nested(e.O)
		if err != nil {
			return err
		}
		return c.mayApplyAll(inner)
	case name == "renameCollection":
		db = "admin"
	}
	sub := *c
	sub.DB, sub.Body, sub.sequences = db, form(e.O), nil
	first, _ := sub.Body.First()
	if sub.cmd = c.svc.table[first]; sub.cmd == nil {
		return mongoerr.New(mongoerr.FailedToParse, "Unrecognized command in op")
	}
	return sub.authorizeCommand()
}
