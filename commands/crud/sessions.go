package crud

import (
	"context"
	"time"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func runStartSession(c *kernel.Call) error {
	key := session.Key{ID: catalog.NewUUID(), User: access.UserName(c)}
	if _, err := c.Svc.Sessions.Use(key, c.Svc.Real.Now()); err != nil {
		return err
	}
	c.Reply.StartDocument("id")
	c.Reply.Append("id", value.Binary(4, key.ID[:]))
	c.Reply.End()
	c.Reply.Int32("timeoutMinutes", int32(session.Timeout/time.Minute))
	return nil
}

// looseSessionCommands take fields that they do not know.
var looseSessionCommands = map[string]bool{"killSessions": true, "killAllSessions": true}

// sessionList reads the only argument of a command about sessions: an array of
// documents. Errors name the command, and its elements, as mongod's parsers do.
func sessionList(c *kernel.Call, name, elements string) (list []value.Doc, err error) {
	for field, v := range c.Body.All() {
		switch {
		case field == c.Cmd.Name && (v.Kind() == value.KindNull || v.Kind() == value.KindUndefined):
			return nil, mongoerr.MissingField(name + "." + field)
		case field == c.Cmd.Name && v.Kind() != value.KindArray:
			return nil, args.WrongType(name, field, v, "array")
		case field == c.Cmd.Name:
			if list, err = args.ArrayDocs(name, elements, args.Array(v.Doc())); err != nil {
				return nil, err
			}
		case !args.IsGeneric(field) && !looseSessionCommands[c.Cmd.Name]:
			return nil, mongoerr.UnknownField(name + "." + field)
		}
	}
	return list, nil
}

// sessionKeys reads the ids that most of them take.
func sessionKeys(c *kernel.Call, name, elements string) ([]session.Key, error) {
	list, err := sessionList(c, name, elements)
	if err != nil {
		return nil, err
	}
	keys := make([]session.Key, len(list))
	for i, d := range list {
		if keys[i], err = transaction.LSID(c, d, name+"."+elements, "killAnySession"); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// among matches the sessions with one of the keys.
func among(keys []session.Key) func(*session.Session) bool {
	records := map[session.RecordKey]bool{}
	for _, k := range keys {
		records[k.Record()] = true
	}
	return func(s *session.Session) bool { return records[s.Record] }
}

func runEndSessions(c *kernel.Call) error {
	keys, err := sessionKeys(c, "endSessions", "endSessionsFromClient")
	if err != nil {
		return err
	}
	endSessions(c, among(keys))
	for _, k := range keys { // other servers may have them
		c.Svc.Snapshots.Leave(k, c.Svc.Real)
	}
	return nil
}

func runRefreshSessions(c *kernel.Call) error {
	keys, err := sessionKeys(c, "refreshSessions", "refreshSessionsFromClient")
	if err != nil {
		return err
	}
	for i := range keys {
		if _, err := c.Svc.Sessions.Use(keys[i], c.Svc.Real.Now()); err != nil {
			return err
		}
	}
	return nil
}

func runKillSessions(c *kernel.Call) error {
	keys, err := sessionKeys(c, "KillSessionsCmd", "killSessions")
	if err != nil {
		return err
	}
	var f killFilter
	for _, k := range keys {
		f = append(f, killPattern{record: k.Record().Doc()})
	}
	if len(f) == 0 {
		f = killFilter{{users: [][]digest{{session.Key{User: access.UserName(c)}.Digest()}}}}
	}
	return killSessions(c, f)
}

type sessionUserArgs struct {
	User string `arg:"user,required"`
	DB   string `arg:"db,required"`
}

type sessionRoleArgs struct {
	Role string `arg:"role,required"`
	DB   string `arg:"db,required"`
}

type sessionPatternArgs struct {
	LSID  value.Doc   `arg:"lsid"`
	UID   value.Value `arg:"uid"`
	Users args.Array  `arg:"users"`
	Roles args.Array  `arg:"roles"`
}

var (
	sessionUserSpec    = args.New[sessionUserArgs]("KillAllSessionsUser")
	sessionRoleSpec    = args.New[sessionRoleArgs]("KillAllSessionsRole")
	sessionPatternSpec = args.New[sessionPatternArgs]("KillAllSessionsByPattern")
)

func runKillAllSessions(c *kernel.Call) error {
	list, err := sessionList(c, "KillAllSessionsCmd", "killAllSessions")
	if err != nil {
		return err
	}
	users, err := sessionUsers("KillAllSessionsCmd.killAllSessions", list)
	if err != nil {
		return err
	}
	if len(users) == 0 {
		return killSessions(c, nil)
	}
	return killSessions(c, killFilter{{users: [][]digest{users}}})
}

// sessionUsers reads the digests of users.
func sessionUsers(prefix string, list []value.Doc) ([]digest, error) {
	users := []digest{}
	for _, d := range list {
		var a sessionUserArgs
		if err := sessionUserSpec.DecodeNested(prefix, d, &a); err != nil {
			return nil, err
		}
		users = append(users, transaction.UserKey(d).Digest())
	}
	return users, nil
}

func runKillAllSessionsByPattern(c *kernel.Call) error {
	const name = "KillAllSessionsByPatternCmd"
	list, err := sessionList(c, name, c.Cmd.Name)
	if err != nil {
		return err
	}
	var f killFilter
	for _, d := range list {
		p, err := sessionPattern(c, name+"."+c.Cmd.Name, d)
		if err != nil {
			return err
		}
		f = append(f, p)
	}
	return killSessions(c, f)
}

// sessionPattern reads a pattern of killAllSessionsByPattern. A session matches if all
// given fields match: its id, the digest of its user, a list of users, a list of roles.
func sessionPattern(c *kernel.Call, prefix string, d value.Doc) (p killPattern, err error) {
	var a sessionPatternArgs
	if err := sessionPatternSpec.DecodeNested(prefix, d, &a); err != nil {
		return p, err
	}
	if (a.Users != nil || a.Roles != nil) && !access.May(c, auth.Cluster(), "impersonate") {
		return p, mongoerr.New(mongoerr.Unauthorized, "Not authorized to impersonate in killAllSessionsByPattern")
	}
	if a.LSID != nil {
		key, err := transaction.LSID(c, a.LSID, prefix+".lsid", "killAnySession")
		if err != nil {
			return p, err
		}
		if !a.LSID.Has("uid") {
			return p, mongoerr.MissingField(prefix + ".lsid.uid")
		}
		p.id = &key.ID
		p.users = append(p.users, []digest{key.Digest()})
	}
	if !a.UID.IsMissing() {
		user, err := session.ReadDigest(a.UID, prefix+".uid")
		if err != nil {
			return p, err
		}
		p.users = append(p.users, []digest{user})
	}
	return p, sessionOwners(prefix, &a, &p)
}

// sessionOwners reads the fields of a pattern that are about users.
func sessionOwners(prefix string, a *sessionPatternArgs, p *killPattern) error {
	if a.Users != nil {
		list, err := args.ArrayDocs(prefix, "users", a.Users)
		if err != nil {
			return err
		}
		users, err := sessionUsers(prefix+".users", list)
		if err != nil {
			return err
		}
		p.users = append(p.users, users)
	}
	if a.Roles == nil {
		return nil
	}
	list, err := args.ArrayDocs(prefix, "roles", a.Roles)
	if err != nil {
		return err
	}
	p.roles = make([]auth.Name, len(list))
	for i, d := range list {
		var r sessionRoleArgs
		if err := sessionRoleSpec.DecodeNested(prefix+".roles", d, &r); err != nil {
			return err
		}
		p.roles[i] = auth.Name{Name: r.Role, DB: r.DB}
	}
	return nil
}

// endSessions forgets sessions with their transactions and cursors.
func endSessions(c *kernel.Call, match func(*session.Session) bool) {
	ended := map[*session.Session]bool{}
	for _, s := range c.Svc.Sessions.End(match) {
		ended[s] = true
	}
	if len(ended) > 0 {
		c.Svc.Cursors.KillWhere(func(cur *kernel.Cursor) bool { return ended[cur.Session] })
	}
}

// killSessions ends what runs in sessions, on all servers over the same data: commands,
// transactions and cursors. The sessions themselves go on.
func killSessions(c *kernel.Call, f killFilter) error {
	match, err := f.match(c.Svc, c.Ctx)
	if err != nil {
		return err
	}
	if err := killHere(c.Svc, c.Ctx, c.Op.ID, match); err != nil {
		return err
	}
	return killElsewhere(c, f)
}

// killHere ends what runs in sessions of this server, except an operation.
func killHere(s *kernel.Service, ctx context.Context, except int32, match func(*session.Session) bool) error {
	killed := map[*session.Session]bool{}
	sessions := s.Sessions.List()
	for _, ss := range sessions {
		killed[ss] = match(ss)
	}
	s.Ops.Kill(kernel.ErrKilled, func(op *kernel.Operation) bool { return op.Session != nil && op.ID != except && killed[op.Session] })
	for _, ss := range sessions {
		if t := ss.Txn.Load(); t != nil && killed[ss] {
			if err := ss.CheckOut(ctx); err != nil {
				return err
			}
			transaction.AbortIfOpen(s, ss, t)
			ss.CheckIn()
		}
	}
	s.Cursors.KillWhere(func(cur *kernel.Cursor) bool { return cur.Session != nil && killed[cur.Session] })
	return nil
}

// runRefreshSessionCache writes the sessions down, as happens from time to time.
func runRefreshSessionCache(c *kernel.Call) error { return housekeeping.KeepSessions(c.Svc, c.Ctx) }

// runReapSessionCache removes the records of sessions that have ended.
func runReapSessionCache(c *kernel.Call) error {
	housekeeping.LogHousekeeping(c.Svc)
	return nil
}
