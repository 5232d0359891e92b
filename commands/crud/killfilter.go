package crud

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/value"
)

// digest identifies a user in the ids of sessions.
type digest = [sha256.Size]byte

// killFilter says which sessions a command kills: those that fit one of the patterns, all if
// there are none. It can be stored, for other servers over the same data.
type killFilter []killPattern

// killPattern fits a session if all of it fits. What is nil fits all.
type killPattern struct {
	record value.Doc // the key of its record
	id     *[16]byte
	users  [][]digest // its user is in each of the lists
	roles  []auth.Name
}

// match returns the function that reports whether a session of this server fits. It looks up
// the patterns that name a session or a user instead of trying all.
func (f killFilter) match(s *kernel.Service, ctx context.Context) (func(*session.Session) bool, error) {
	type fits = func(*session.Session) bool
	records, ids, users, others := map[string][]fits{}, map[[16]byte][]fits{}, map[digest][]fits{}, []fits(nil)
	for _, p := range f {
		one, err := p.match(s, ctx)
		if err != nil {
			return nil, err
		}
		switch {
		case p.record != nil:
			records[string(p.record)] = append(records[string(p.record)], one)
		case p.id != nil:
			ids[*p.id] = append(ids[*p.id], one)
		case len(p.users) > 0:
			for _, u := range p.users[0] {
				users[u] = append(users[u], one)
			}
		default:
			others = append(others, one)
		}
	}
	return func(ss *session.Session) bool {
		any := func(list []fits) bool {
			return slices.ContainsFunc(list, func(one fits) bool { return one(ss) })
		}
		if len(f) == 0 || any(others) || any(ids[ss.Key.ID]) || any(users[ss.Record.UID]) {
			return true
		}
		return len(records) > 0 && any(records[string(ss.Record.Doc())])
	}, nil
}

func (p *killPattern) match(s *kernel.Service, ctx context.Context) (func(*session.Session) bool, error) {
	having := map[string]bool{}
	if p.roles != nil {
		var err error
		if having, err = sessionsWithRole(s, ctx, p.roles); err != nil {
			return nil, err
		}
	}
	users := make([]map[digest]bool, len(p.users))
	for i, list := range p.users {
		users[i] = make(map[digest]bool, len(list))
		for _, u := range list {
			users[i][u] = true
		}
	}
	return func(ss *session.Session) bool {
		for _, list := range users {
			if !list[ss.Record.UID] {
				return false
			}
		}
		return (p.record == nil || string(p.record) == string(ss.Record.Doc())) && (p.id == nil || ss.Key.ID == *p.id) && (p.roles == nil || having[ss.Key.User])
	}, nil
}

// sessionsWithRole returns the users of the present sessions, as their keys name
// them, that have one of the roles.
func sessionsWithRole(s *kernel.Service, ctx context.Context, roles []auth.Name) (map[string]bool, error) {
	having := map[string]bool{}
	for _, ss := range s.Sessions.List() {
		name, err := auth.ParseID(ss.Key.User)
		if _, known := having[ss.Key.User]; known || err != nil { // not the name of a user
			continue
		}
		user, err := s.Auth.Find(ctx, name)
		if err != nil {
			return nil, err
		}
		having[ss.Key.User] = slices.ContainsFunc(roles, user.HasRole)
	}
	return having, nil
}

// doc returns the filter as it is stored.
func (f killFilter) doc() value.Doc {
	b := value.NewBuilder()
	b.StartArray("patterns")
	for _, p := range f {
		b.StartDocument("")
		if p.record != nil {
			b.Document("record", p.record)
		}
		if p.id != nil {
			b.Append("id", value.Binary(4, p.id[:]))
		}
		b.StartArray("users")
		for _, list := range p.users {
			b.StartArray("")
			for _, d := range list {
				b.Append("", value.Binary(0, d[:]))
			}
			b.End()
		}
		b.End()
		if p.roles != nil {
			b.StartArray("roles")
			for _, r := range p.roles {
				b.StartDocument("").String("role", r.Name).String("db", r.DB).End()
			}
			b.End()
		}
		b.End()
	}
	return b.End().Doc()
}

// readKillFilter reads a filter that was stored.
func readKillFilter(d value.Doc) (f killFilter) {
	for v := range d.Lookup("patterns").Doc().Values() {
		stored, p := v.Doc(), killPattern{}
		if r := stored.Lookup("record"); !r.IsMissing() {
			p.record = r.Doc()
		}
		if _, id := stored.Lookup("id").Binary(); len(id) == 16 {
			p.id = (*[16]byte)(id)
		}
		for list := range stored.Lookup("users").Doc().Values() {
			users := []digest{}
			for u := range list.Doc().Values() {
				_, b := u.Binary()
				users = append(users, digest(b))
			}
			p.users = append(p.users, users)
		}
		if roles := stored.Lookup("roles"); !roles.IsMissing() {
			p.roles = []auth.Name{}
			for r := range roles.Doc().Values() {
				p.roles = append(p.roles, auth.Name{Name: r.Doc().Lookup("role").Str(), DB: r.Doc().Lookup("db").Str()})
			}
		}
		f = append(f, p)
	}
	return f
}
