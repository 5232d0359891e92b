package commands

import (
	"crypto/rand"
	"time"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func sessionCommands() []command {
	return []command{
		{name: "startSession", run: runStartSession, help: "start a logical session"},
		{name: "endSessions", run: runEndSessions, flags: noSession | preAuth, help: "end logical sessions"},
		{name: "refreshSessions", run: runRefreshSessions, flags: noSession, help: "keep logical sessions alive"},
		{name: "killSessions", run: runKillSessions, flags: noSession, help: "end sessions and what runs in them"},
		{name: "killAllSessions", run: runKillAllSessions, flags: noSession, action: "killAnySession", on: onCluster, help: "end the sessions of some or all users"},
		{name: "killAllSessionsByPattern", run: runKillAllSessionsByPattern, flags: noSession, action: "killAnySession", on: onCluster, help: "end the sessions that match a pattern"},
	}
}

func runStartSession(c *Call) error {
	var key sessionKey
	if _, err := rand.Read(key.id[:]); err != nil {
		return err
	}
	key.id[6] = key.id[6]&0x0f | 0x40
	key.id[8] = key.id[8]&0x3f | 0x80
	key.user = c.userName()
	c.svc.sessions.use(key, c.svc.real.Now())
	c.reply.StartDocument("id")
	c.reply.Append("id", value.Binary(4, key.id[:]))
	c.reply.End()
	c.reply.Int32("timeoutMinutes", int32(sessionTimeout/time.Minute))
	return nil
}

// sessionKeys reads the array of lsids that most session commands take.
func (c *Call) sessionKeys() (map[sessionKey]bool, error) {
	_, list := c.Body.First()
	if list.Kind() != value.KindArray {
		return nil, wrongType(c.cmd.name, c.cmd.name, list, "array")
	}
	keys := map[sessionKey]bool{}
	for v := range list.Doc().Values() {
		key, err := parseLSID(v.Doc(), c.userName())
		if err != nil {
			return nil, err
		}
		keys[key] = true
	}
	return keys, nil
}

func runEndSessions(c *Call) error {
	keys, err := c.sessionKeys()
	if err != nil {
		return err
	}
	c.endSessions(func(s *session) bool { return keys[s.key] })
	return nil
}

func runRefreshSessions(c *Call) error {
	keys, err := c.sessionKeys()
	if err != nil {
		return err
	}
	for key := range keys {
		c.svc.sessions.use(key, c.svc.real.Now())
	}
	return nil
}

func runKillSessions(c *Call) error {
	keys, err := c.sessionKeys()
	if err != nil {
		return err
	}
	match := func(s *session) bool { return keys[s.key] }
	if len(keys) == 0 {
		user := c.userName()
		match = func(s *session) bool { return s.key.user == user }
	}
	c.killSessions(match)
	return nil
}

func runKillAllSessions(c *Call) error {
	_, list := c.Body.First()
	if list.Kind() != value.KindArray {
		return wrongType(c.cmd.name, c.cmd.name, list, "array")
	}
	users := map[string]bool{}
	for v := range list.Doc().Values() {
		users[v.Doc().Lookup("db").Str()+"."+v.Doc().Lookup("user").Str()] = true
	}
	c.killSessions(func(s *session) bool { return len(users) == 0 || users[s.key.user] })
	return nil
}

func runKillAllSessionsByPattern(c *Call) error {
	_, list := c.Body.First()
	if list.Kind() != value.KindArray {
		return wrongType(c.cmd.name, c.cmd.name, list, "array")
	}
	keys, users := map[sessionKey]bool{}, map[string]bool{}
	all := list.Doc().IsEmpty()
	for v := range list.Doc().Values() {
		for name, part := range v.Doc().All() {
			switch name {
			case "lsid":
				key, err := parseLSID(part.Doc(), c.userName())
				if err != nil {
					return err
				}
				keys[key] = true
			case "users":
				for u := range part.Doc().Values() {
					users[u.Doc().Lookup("db").Str()+"."+u.Doc().Lookup("user").Str()] = true
				}
			case "uid", "roles":
				return mongoerr.Newf(mongoerr.BadValue, "killAllSessionsByPattern by %s is not supported", name)
			default:
				return mongoerr.Newf(40415, "BSON field 'KillAllSessionsByPattern.%s' is an unknown field.", name)
			}
		}
	}
	c.killSessions(func(s *session) bool { return all || keys[s.key] || users[s.key.user] })
	return nil
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

// killSessions also ends the commands that run in the sessions.
func (c *Call) killSessions(match func(*session) bool) {
	c.svc.ops.kill(errKilled, func(op *operation) bool { return op.session != nil && op.id != c.op.id && match(op.session) })
	c.endSessions(match)
}
