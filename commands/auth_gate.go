package commands

import (
	"errors"
	"strings"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// errNotAuthorized is turned into the message that names the command.
var errNotAuthorized = errors.New("not authorized")

// authorize decides whether the client may run the command. Without access
// control everybody may run everything.
func (c *Call) authorize() error {
	if !c.svc.options.Security.Auth {
		return nil
	}
	u, err := c.svc.auth.Current(c.ctx, c.conn.user)
	if err != nil {
		return err
	}
	c.conn.user, c.user = u, u
	if c.cmd.flags&preAuth != 0 {
		return nil
	}
	if u == nil {
		if c.user, err = c.visitor(); err != nil {
			return err
		}
		if c.user == nil {
			return mongoerr.Newf(mongoerr.Unauthorized, "Command %s requires authentication", c.cmd.name)
		}
	}
	if err := c.authorizeCommand(); err != nil {
		if errors.Is(err, errNotAuthorized) || mongoerr.Is(err, mongoerr.Unauthorized) {
			return mongoerr.Newf(mongoerr.Unauthorized, "not authorized on %s to execute command %s", c.DB, c.shown())
		}
		return err
	}
	return nil
}

// visitor is who comes from this machine before there is any user: he may
// make the first one, and set up the replica set.
func (c *Call) visitor() (*auth.User, error) {
	if !auth.IsLocal(c.conn.Remote) || !c.svc.params.bool("enableLocalhostAuthBypass") {
		return nil, nil
	}
	any, err := c.svc.auth.HasUsers(c.ctx)
	if any || err != nil {
		return nil, err
	}
	return visitor, nil
}

var visitor = auth.Visitor(
	auth.Grant(auth.Database("admin"), "createUser grantRole"),
	auth.Grant(auth.Database("$external"), "createUser"),
	auth.Grant(auth.Cluster(), "replSetConfigure replSetGetStatus"),
)

// may tells whether the client may do something.
func (c *Call) may(on auth.Pattern, action string) bool {
	if !c.svc.options.Security.Auth {
		return true
	}
	g := grant{on, auth.MustAction(action)}
	if !c.user.May(g.on, g.action) {
		return false
	}
	if c.granted != nil {
		*c.granted = append(*c.granted, g)
	}
	return true
}

// grant is an action that a command was allowed.
type grant struct {
	on     auth.Pattern
	action auth.Action
}

// grants lists what the command was allowed, so that its cursor can be asked
// for the same later. It asks again, since few commands leave a cursor.
func (c *Call) grants() (list []grant) {
	if !c.svc.options.Security.Auth || c.cmd.flags&preAuth != 0 {
		return nil
	}
	again := *c
	again.granted = &list
	_ = again.authorizeCommand() // the user is the one that was asked before
	return list
}

// stillMayRead reports whether the client may still do what the command did
// that made the cursor.
func (c *Call) stillMayRead(cur *cursor) bool {
	if c.user == cur.asked || !c.svc.options.Security.Auth {
		return true
	}
	for _, g := range cur.grants {
		if !c.user.May(g.on, g.action) {
			return false
		}
	}
	cur.asked = c.user
	return true
}

// need is the error of not being allowed to do one of the actions.
func (c *Call) need(on auth.Pattern, actions ...string) error {
	for _, action := range actions {
		if !c.may(on, action) {
			return errNotAuthorized
		}
	}
	return nil
}

// authorizeCommand asks for the privileges of the command: those of the
// command table, unless it has rules of its own.
func (c *Call) authorizeCommand() error {
	if c.cmd.rule != nil {
		return c.cmd.rule(c)
	}
	if c.cmd.action == "" {
		return nil
	}
	return c.need(c.resource(), c.cmd.action)
}

// resource is what the command works on, according to the command table.
func (c *Call) resource() auth.Pattern {
	switch c.cmd.on {
	case onCollection:
		return pattern(c.target())
	case onDatabase:
		return auth.Database(c.DB)
	}
	return auth.Cluster()
}

// target is the collection that the first field names. What is not a name is
// the command's to refuse.
func (c *Call) target() storage.Namespace {
	_, v := c.Body.First()
	name := ""
	if v.Kind() == value.KindString {
		name = strings.Clone(v.Str())
	}
	if strings.HasPrefix(c.cmd.name, "mq") {
		if ref, err := queue.ParseRef(c.DB, name, ""); err == nil {
			return ref.Namespace
		}
	}
	return storage.Namespace{DB: c.DB, Coll: name}
}

func pattern(ns storage.Namespace) auth.Pattern { return auth.Namespace(ns.DB, ns.Coll) }

// splitNamespace reads "db.coll" without judging it.
func splitNamespace(full string) storage.Namespace {
	db, coll, _ := strings.Cut(full, ".")
	return storage.Namespace{DB: strings.Clone(db), Coll: strings.Clone(coll)}
}
