package commands

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func sessionCommands() []command {
	forTests := func(s *Service) bool { return s.params.bool("enableTestCommands") }
	return []command{
		{name: "startSession", run: runStartSession, help: "start a logical session"},
		{name: "endSessions", run: runEndSessions, flags: noSession | preAuth, help: "end logical sessions"},
		{name: "refreshSessions", run: runRefreshSessions, flags: noSession, help: "keep logical sessions alive"},
		{name: "killSessions", run: runKillSessions, flags: noSession, help: "end what runs in sessions"},
		{name: "killAllSessions", run: runKillAllSessions, flags: noSession, action: "killAnySession", on: onCluster, help: "end what runs in the sessions of some or all users"},
		{name: "killAllSessionsByPattern", run: runKillAllSessionsByPattern, flags: noSession, action: "killAnySession", on: onCluster, help: "end what runs in the sessions that match a pattern"},
		{name: "refreshLogicalSessionCacheNow", run: runRefreshSessionCache, enabled: forTests, help: "write the sessions down at once"},
		{name: "reapLogicalSessionCacheNow", run: runReapSessionCache, enabled: forTests, help: "forget at once what ended sessions have left"},
	}
}

func runStartSession(c *Call) error {
	key := sessionKey{id: newUUID(), user: c.userName()}
	c.svc.sessions.use(key, c.svc.real.Now())
	c.reply.StartDocument("id")
	c.reply.Append("id", value.Binary(4, key.id[:]))
	c.reply.End()
	c.reply.Int32("timeoutMinutes", int32(sessionTimeout/time.Minute))
	return nil
}

// looseSessionCommands take fields that they do not know.
var looseSessionCommands = map[string]bool{"killSessions": true, "killAllSessions": true}

// sessionList are the arguments of a command about sessions: an array of
// documents, which is all there may be.
func (c *Call) sessionList(name string) (list []value.Doc, err error) {
	for field, v := range c.Body.All() {
		switch {
		case field == c.cmd.name && (v.Kind() == value.KindNull || v.Kind() == value.KindUndefined):
			return nil, mongoerr.Newf(mongoerr.IDLFailedToParse, "BSON field '%s.%s' is missing but a required field", name, field)
		case field == c.cmd.name && v.Kind() != value.KindArray:
			return nil, wrongType(name, field, v, "array")
		case field == c.cmd.name:
			if list, err = arrayDocs(name, field, array(v.Doc())); err != nil {
				return nil, err
			}
		case !genericArgs[field] && !looseSessionCommands[c.cmd.name]:
			return nil, mongoerr.Newf(mongoerr.IDLUnknownField, "BSON field '%s.%s' is an unknown field.", name, field)
		}
	}
	return list, nil
}

// sessionKeys reads the ids that most of them take.
func (c *Call) sessionKeys(name string) ([]sessionKey, error) {
	list, err := c.sessionList(name)
	if err != nil {
		return nil, err
	}
	keys := make([]sessionKey, len(list))
	for i, d := range list {
		if keys[i], err = c.lsid(d, fmt.Sprintf("%s.%s.%d", name, c.cmd.name, i), "killAnySession"); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// among matches the sessions with one of the keys.
func among(keys []sessionKey) func(*session) bool {
	records := map[recordKey]bool{}
	for _, k := range keys {
		records[k.record()] = true
	}
	return func(s *session) bool { return records[s.record] }
}

func runEndSessions(c *Call) error {
	keys, err := c.sessionKeys("EndSessionsCmdFromClient")
	if err != nil {
		return err
	}
	c.endSessions(among(keys))
	return nil
}

func runRefreshSessions(c *Call) error {
	keys, err := c.sessionKeys("RefreshSessionsCmdFromClient")
	if err != nil {
		return err
	}
	for i := range keys {
		c.svc.sessions.use(keys[i], c.svc.real.Now())
	}
	return nil
}

func runKillSessions(c *Call) error {
	keys, err := c.sessionKeys("KillSessionsCmd")
	if err != nil {
		return err
	}
	if len(keys) > 0 {
		return c.killSessions(among(keys))
	}
	user := c.userName()
	return c.killSessions(func(s *session) bool { return s.key.user == user })
}

// userKey is the key of the sessions of {user, db}.
func userKey(d value.Doc) sessionKey {
	return sessionKey{user: auth.Name{Name: d.Lookup("user").Str(), DB: d.Lookup("db").Str()}.ID()}
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
	Users array       `arg:"users"`
	Roles array       `arg:"roles"`
}

var (
	sessionUserSpec    = newArgs[sessionUserArgs]("KillAllSessionsUser")
	sessionRoleSpec    = newArgs[sessionRoleArgs]("KillAllSessionsRole")
	sessionPatternSpec = newArgs[sessionPatternArgs]("KillAllSessionsByPattern")
)

func runKillAllSessions(c *Call) error {
	list, err := c.sessionList("KillAllSessionsCmd")
	if err != nil {
		return err
	}
	users, err := sessionUsers("KillAllSessionsCmd.killAllSessions", list)
	if err != nil {
		return err
	}
	return c.killSessions(func(s *session) bool { return len(users) == 0 || users[s.record.uid] })
}

// sessionUsers reads the digests of users.
func sessionUsers(prefix string, list []value.Doc) (map[[sha256.Size]byte]bool, error) {
	users := map[[sha256.Size]byte]bool{}
	for i, d := range list {
		var a sessionUserArgs
		if err := sessionUserSpec.decodeNested(fmt.Sprintf("%s.%d", prefix, i), d, &a); err != nil {
			return nil, err
		}
		users[userKey(d).digest()] = true
	}
	return users, nil
}

func runKillAllSessionsByPattern(c *Call) error {
	const name = "KillAllSessionsByPatternCmd"
	list, err := c.sessionList(name)
	if err != nil {
		return err
	}
	var patterns []func(*session) bool
	for i, d := range list {
		match, err := c.sessionPattern(fmt.Sprintf("%s.%s.%d", name, c.cmd.name, i), d)
		if err != nil {
			return err
		}
		patterns = append(patterns, match)
	}
	return c.killSessions(func(s *session) bool {
		for _, match := range patterns {
			if match(s) {
				return true
			}
		}
		return len(patterns) == 0
	})
}

// sessionPattern reads a pattern, whose fields must all fit: the session, the
// digest of its user, its user among some, one of some roles that the user has.
func (c *Call) sessionPattern(prefix string, d value.Doc) (func(*session) bool, error) {
	var a sessionPatternArgs
	if err := sessionPatternSpec.decodeNested(prefix, d, &a); err != nil {
		return nil, err
	}
	if (a.Users != nil || a.Roles != nil) && !c.may(auth.Cluster(), "impersonate") {
		return nil, mongoerr.New(mongoerr.Unauthorized, "Not authorized to impersonate in killAllSessionsByPattern")
	}
	var all []func(*session) bool
	if a.LSID != nil {
		key, err := c.lsid(a.LSID, prefix+".lsid", "killAnySession")
		if err != nil {
			return nil, err
		}
		all = append(all, func(s *session) bool {
			return s.key.id == key.id && (!a.LSID.Has("uid") || s.record.uid == key.digest())
		})
	}
	if !a.UID.IsMissing() {
		digest, err := readDigest(a.UID, prefix+".uid")
		if err != nil {
			return nil, err
		}
		all = append(all, func(s *session) bool { return s.record.uid == digest })
	}
	owners, err := c.sessionOwners(prefix, &a)
	if err != nil {
		return nil, err
	}
	return func(s *session) bool {
		for _, fits := range append(all, owners...) {
			if !fits(s) {
				return false
			}
		}
		return true
	}, nil
}

// sessionOwners reads the fields of a pattern that are about users.
func (c *Call) sessionOwners(prefix string, a *sessionPatternArgs) (all []func(*session) bool, err error) {
	if a.Users != nil {
		list, err := arrayDocs(prefix, "users", a.Users)
		if err != nil {
			return nil, err
		}
		users, err := sessionUsers(prefix+".users", list)
		if err != nil {
			return nil, err
		}
		all = append(all, func(s *session) bool { return users[s.record.uid] })
	}
	if a.Roles == nil {
		return all, nil
	}
	list, err := arrayDocs(prefix, "roles", a.Roles)
	if err != nil {
		return nil, err
	}
	roles := make([]auth.Name, len(list))
	for i, d := range list {
		var r sessionRoleArgs
		if err := sessionRoleSpec.decodeNested(fmt.Sprintf("%s.roles.%d", prefix, i), d, &r); err != nil {
			return nil, err
		}
		roles[i] = auth.Name{Name: r.Role, DB: r.DB}
	}
	return append(all, func(s *session) bool { return c.hasRole(s.key, roles) }), nil
}

// hasRole tells whether the user of a session has one of the roles.
func (c *Call) hasRole(key sessionKey, roles []auth.Name) bool {
	name, err := auth.ParseID(key.user)
	if err != nil {
		return false
	}
	user, err := c.svc.auth.Find(c.ctx, name)
	for _, r := range roles {
		if err == nil && user.HasRole(r) {
			return true
		}
	}
	return false
}

// endSessions forgets sessions with their transactions and cursors.
func (c *Call) endSessions(match func(*session) bool) {
	ended := map[*session]bool{}
	for _, s := range c.svc.sessions.end(match) {
		ended[s] = true
	}
	if len(ended) > 0 {
		c.svc.cursors.killWhere(func(cur *cursor) bool { return ended[cur.session] })
	}
}

// killSessions ends what runs in sessions: commands, transactions and cursors.
// The sessions themselves go on.
func (c *Call) killSessions(match func(*session) bool) error {
	killed := map[*session]bool{}
	for _, s := range c.svc.sessions.list() {
		killed[s] = match(s)
	}
	c.svc.ops.kill(errKilled, func(op *operation) bool { return op.session != nil && op.id != c.op.id && killed[op.session] })
	for s, is := range killed {
		if t := s.txn.Load(); t != nil && is {
			if err := s.checkOut(c.ctx); err != nil {
				return err
			}
			c.svc.abortIfOpen(s, t)
			s.checkIn()
		}
	}
	c.svc.cursors.killWhere(func(cur *cursor) bool { return cur.session != nil && killed[cur.session] })
	return nil
}

// runRefreshSessionCache writes the sessions down, as happens from time to time.
func runRefreshSessionCache(c *Call) error { return c.svc.keepSessions(c.ctx) }

// runReapSessionCache removes the records of sessions that have ended.
func runReapSessionCache(c *Call) error {
	c.svc.logHousekeeping()
	return nil
}
