package access

import (
	"errors"
	"iter"
	"strings"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// ErrNotAuthorized is turned into the message that names the command.
var ErrNotAuthorized = errors.New("not authorized")

// Authorize decides whether the client may run the command. Without access
// control everybody may run everything.
func Authorize(c *kernel.Call) error {
	if !c.Svc.Options.Security.Auth {
		return nil
	}
	u, err := c.Svc.Auth.Current(c.Ctx, c.Conn.User)
	if err != nil {
		return err
	}
	c.Conn.SetUser(u)
	c.User = u
	if c.Cmd.Has(kernel.PreAuth) {
		return nil
	}
	if u == nil {
		if c.User, err = userOf(c); err != nil {
			return err
		}
		if c.User == nil && c.Cmd.Name == "buildInfo" && c.Svc.Params.Value(kernel.BuildInfoMode).Str() != kernel.NeedsLogin {
			return nil
		}
		if c.User == nil {
			return mongoerr.Newf(mongoerr.Unauthorized, "Command %s requires authentication", c.Cmd.Name)
		}
	}
	if err := AuthorizeCommand(c); err != nil {
		if errors.Is(err, ErrNotAuthorized) || mongoerr.Is(err, mongoerr.Unauthorized) {
			return mongoerr.Newf(mongoerr.Unauthorized, "not authorized on %s to execute command %s", c.DB, Shown(c))
		}
		return err
	}
	return nil
}

// userOf returns the user of a client. A client on this machine that connects before
// there are users may create the first one and set up the replica set (MongoDB's
// localhost exception). The exception does not hold on the port for load balancers, where
// the address is the one that the other side claims.
func userOf(c *kernel.Call) (*auth.User, error) {
	if c.Conn.FromBalancer || !auth.IsLocal(c.Conn.Remote) || !c.Svc.Params.Bool("enableLocalhostAuthBypass") {
		return nil, nil
	}
	any, err := c.Svc.Auth.HasUsers(c.Ctx)
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

// May reports whether the client has a privilege.
func May(c *kernel.Call, on auth.Pattern, action string) bool {
	if !c.Svc.Options.Security.Auth {
		return true
	}
	g := session.Grant{On: on, Action: auth.MustAction(action)}
	if !c.User.May(g.On, g.Action) {
		return false
	}
	if c.Granted != nil {
		*c.Granted = append(*c.Granted, g)
	}
	return true
}

// Grants returns the privileges that the command needed, so that StillMayRead can check
// them when its cursor is used. It authorizes the command a second time to find them:
// few commands leave a cursor.
func Grants(c *kernel.Call) (list []session.Grant) {
	if !c.Svc.Options.Security.Auth || c.Cmd.Has(kernel.PreAuth) {
		return nil
	}
	again := *c
	again.Granted = &list
	_ = AuthorizeCommand(&again) // it succeeded before, for the same user
	return list
}

// StillMayRead reports whether the client still has the privileges of the command that
// made the cursor.
func StillMayRead(c *kernel.Call, cur *kernel.Cursor) bool {
	if c.User == cur.CheckedUser || !c.Svc.Options.Security.Auth {
		return true
	}
	for _, g := range cur.Grants {
		if !c.User.May(g.On, g.Action) {
			return false
		}
	}
	cur.CheckedUser = c.User
	return true
}

// Need returns ErrNotAuthorized unless the client has the privileges for all the actions.
func Need(c *kernel.Call, on auth.Pattern, actions ...string) error {
	for _, action := range actions {
		if !May(c, on, action) {
			return ErrNotAuthorized
		}
	}
	return nil
}

// AuthorizeCommand checks the privileges that the command needs: those in the command
// table, or those of its own rule.
func AuthorizeCommand(c *kernel.Call) error {
	if c.Cmd.Rule != nil {
		return c.Cmd.Rule(c)
	}
	if c.Cmd.Action == "" {
		return nil
	}
	return Need(c, resource(c), c.Cmd.Action)
}

// resource returns the resource of the command, as the command table defines it.
func resource(c *kernel.Call) auth.Pattern {
	switch c.Cmd.On {
	case kernel.OnCollection:
		return Pattern(Target(c))
	case kernel.OnDatabase:
		return auth.Database(c.DB)
	}
	return auth.Cluster()
}

// Target returns the collection that the first field names. If the value is not a name,
// the command itself refuses it.
func Target(c *kernel.Call) storage.Namespace {
	_, v := c.Body.First()
	name := ""
	if v.Kind() == value.KindString {
		name = strings.Clone(v.Str())
	}
	if strings.HasPrefix(c.Cmd.Name, "mq") {
		if ref, err := queue.ParseRef(c.DB, name, ""); err == nil {
			return ref.Namespace
		}
	}
	return storage.Namespace{DB: c.DB, Coll: name}
}

// Pattern is the resource of a collection.
func Pattern(ns storage.Namespace) auth.Pattern { return auth.Namespace(ns.DB, ns.Coll) }

// SplitNamespace splits "db.coll" without checking the names.
func SplitNamespace(full string) storage.Namespace {
	db, coll, _ := strings.Cut(full, ".")
	return storage.Namespace{DB: strings.Clone(db), Coll: strings.Clone(coll)}
}

// DatabaseOr returns db, or otherwise if db is empty.
func DatabaseOr(db, otherwise string) string {
	if db == "" {
		return otherwise
	}
	return db
}

// Statements yields the documents of an array argument, from the body of the message or
// from a document sequence.
func Statements(c *kernel.Call, name string) iter.Seq[value.Doc] {
	return func(yield func(value.Doc) bool) {
		for key, v := range c.Body.All() {
			if key != name {
				continue
			}
			for e := range v.Doc().Values() {
				if e.Kind() == value.KindDocument && !yield(e.Doc()) {
					return
				}
			}
		}
		for _, s := range c.Sequences {
			if s.ID != name {
				continue
			}
			list := args.DocList{Sequence: s.Docs}
			for _, d := range list.All() {
				if !yield(d) {
					return
				}
			}
		}
	}
}

// Owner is the namespace of a cursor and the user it belongs to.
func Owner(r *kernel.Cursors, id int64) (ns storage.Namespace, user string, ok bool) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	c := r.Open[id]
	if c == nil {
		return storage.Namespace{}, "", false
	}
	return c.NS, c.User, true
}

// ListsCollection reports whether a listing shows a collection.
func ListsCollection(c *kernel.Call, ns storage.Namespace) bool {
	return !c.AuthorizedOnly || c.User.MayAnything(Pattern(ns))
}

// ListsDatabase reports whether a listing shows a database.
func ListsDatabase(c *kernel.Call, db string) bool { return !c.AuthorizedOnly || c.User.MayIn(db) }

// UserName is the authenticated user as "db.name", or "".
func UserName(c *kernel.Call) string {
	if c.Conn == nil || c.Conn.User == nil {
		return ""
	}
	return c.Conn.User.Name.ID()
}

// BeginOperation describes a command that is about to run.
func BeginOperation(op *kernel.Operation, c *kernel.Call) {
	op.Conn, op.Started, op.Name, op.Body, op.Cancel = c.Conn, c.Now, c.Cmd.Name, Shown(c), c.Kill
	op.Session, op.User = c.Session, UserName(c)
	op.Killed.Store(false)
	op.Plan.Store(nil)
}
