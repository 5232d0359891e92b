package applyops

import (
	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// demands returns the privileges that the entries need, including those of nested lists.
// It refuses entries that no applyOps may contain.
func demands(a *arguments, depth int) (demand demand, err error) {
	ops, err := entries(a)
	if err != nil {
		return 0, err
	}
	if len(ops) == 0 {
		return superuser, nil
	}
	for i := range ops {
		e := &ops[i]
		name := ""
		if e.Op == "c" {
			name, _ = e.O.First()
		}
		if hasUUID(e.Doc) || name != "" && hasUUID(e.O) {
			demand = max(demand, useUUID)
			if name == "create" {
				demand = max(demand, forceUUID)
			}
		}
		switch {
		case len(ops) > 1 && (name == "create" || name == "renameCollection"), e.Doc.Has("versionContext"):
			demand = superuser
		case name == "dropDatabase" && depth > 0:
			return demand, mongoerr.New(9585500, "dropDatabase is not allowed inside nested applyOps")
		case name == "applyOps" && depth == MaxDepth:
			return demand, mongoerr.New(mongoerr.FailedToParse, "Too many nested applyOps")
		case name == "applyOps":
			within, err := a.Nested(e.O)
			if err != nil {
				return demand, err
			}
			deeper, err := demands(within, depth+1)
			if err != nil {
				return demand, err
			}
			demand = max(demand, deeper)
		}
	}
	return demand, nil
}

// May checks the privileges for all entries, as if the client sent each of them
// as a command of its own.
func May(c *kernel.Call) error {
	if err := access.Need(c, auth.Cluster(), "applyOps"); err != nil {
		return err
	}
	var a arguments
	if err := argumentsSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	demand, err := demands(&a, 0)
	if err != nil {
		return err
	}
	switch demand {
	case superuser:
		if !c.User.MayEverything() {
			return access.ErrNotAuthorized
		}
		return nil
	case forceUUID:
		err = access.Need(c, auth.Cluster(), "forceUUID", "useUUID")
	case useUUID:
		err = access.Need(c, auth.Cluster(), "useUUID")
	}
	if err != nil {
		return err
	}
	return mayApplyAll(c, &a)
}

// mayApplyAll checks the privileges for each entry.
func mayApplyAll(c *kernel.Call, a *arguments) error {
	ops, err := entries(a)
	if err != nil {
		return err
	}
	for i := range ops {
		if err := mayApplyEntry(c, a, &ops[i]); err != nil {
			return err
		}
	}
	return nil
}

func mayApplyEntry(c *kernel.Call, a *arguments, e *entry) error {
	ns := access.SplitNamespace(e.NS)
	switch e.Op {
	case "n":
		return access.Need(c, auth.Cluster(), "appendOplogNote")
	case "c":
		return mayApplyCommand(c, a, ns.DB, e)
	}
	if err := c.View(func(tx storage.Tx) error {
		if named, err := e.Collection(tx, ns); err == nil { // else it cannot be applied
			ns = named
		}
		return nil
	}); err != nil {
		return err
	}
	return mayApplyTo(c, a, e, ns)
}

// mayApplyCommand checks the privileges that the logged command needs.
func mayApplyCommand(c *kernel.Call, a *arguments, db string, e *entry) error {
	name, _ := e.O.First()
	form := loggedCommands[name]
	switch {
	case form == nil:
		return mongoerr.New(mongoerr.FailedToParse, "Unrecognized command in op")
	case name == "applyOps":
		inner, err := a.Nested(e.O)
		if err != nil {
			return err
		}
		return mayApplyAll(c, inner)
	case name == "renameCollection":
		db = "admin"
	}
	sub := *c
	sub.DB, sub.Body, sub.Sequences = db, form(e.O), nil
	first, _ := sub.Body.First()
	if sub.Cmd = c.Svc.Table[first]; sub.Cmd == nil {
		return mongoerr.New(mongoerr.FailedToParse, "Unrecognized command in op")
	}
	return access.AuthorizeCommand(&sub)
}
