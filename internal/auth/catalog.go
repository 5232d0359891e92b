package auth

import (
	"slices"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// namespace is one of the collections that hold users and roles.
type namespace = storage.Namespace

var (
	usersNS   = namespace{DB: "admin", Coll: "system.users"}
	rolesNS   = namespace{DB: "admin", Coll: "system.roles"}
	versionNS = namespace{DB: "admin", Coll: "system.version"}
)

// schemaVersion is mongod's version number of the document format.
const schemaVersion = 5

// Catalog gives access to users and roles within one transaction.
type Catalog struct {
	tx  storage.Tx
	now int64
}

// find reads the document of a user or role, or nil.
func (c *Catalog) find(ns namespace, n Name) (value.Doc, error) {
	return serverdocs.Get(c.tx, ns, value.String(n.ID()))
}

// put stores a document, or replaces the one with its _id. With the first user or role it
// also stores the schema version of the documents.
func (c *Catalog) put(ns namespace, d value.Doc) error {
	e, err := serverdocs.Find(c.tx, ns, d.Lookup("_id"))
	if err != nil {
		return err
	}
	if e.IsFirst() {
		note := value.NewDoc("_id", value.String("authSchema"), "currentVersion", value.Int32(schemaVersion))
		if err := serverdocs.Put(c.tx, versionNS, note, c.now); err != nil {
			return err
		}
	}
	return e.Put(d, c.now)
}

func (c *Catalog) remove(ns namespace, n Name) error {
	e, err := serverdocs.Find(c.tx, ns, value.String(n.ID()))
	if err != nil {
		return err
	}
	return e.Delete()
}

// each calls fn with the documents of a collection as they were at the
// beginning.
func (c *Catalog) each(ns namespace, fn func(value.Doc) error) error {
	docs, err := serverdocs.All(c.tx, ns)
	if err != nil {
		return err
	}
	for _, d := range docs {
		if err := fn(d); err != nil {
			return err
		}
	}
	return nil
}

// HasUsers reports whether any user exists.
func (c *Catalog) HasUsers() (bool, error) { return serverdocs.Any(c.tx, usersNS) }

// User reads the document of a user, or nil.
func (c *Catalog) User(n Name) (value.Doc, error) { return c.find(usersNS, n) }

// Users lists the documents of the users of a database, of all for "",
// ordered by name.
func (c *Catalog) Users(db string) (docs []value.Doc, err error) {
	err = c.each(usersNS, func(d value.Doc) error {
		if db == "" || d.Lookup("db").Str() == db {
			docs = append(docs, d)
		}
		return nil
	})
	slices.SortFunc(docs, func(a, b value.Doc) int { return userName(a).compare(userName(b)) })
	return docs, err
}

// Role finds a built-in or custom role, or nil.
func (c *Catalog) Role(n Name) (*Role, error) {
	if r := builtin(n); r != nil {
		return r, nil
	}
	d, err := c.find(rolesNS, n)
	if d == nil || err != nil {
		return nil, err
	}
	return roleOf(d), nil
}

// Roles lists the roles of a database by name, the built-in ones if they are
// wanted.
func (c *Catalog) Roles(db string, withBuiltin bool) (roles []*Role, err error) {
	err = c.each(rolesNS, func(d value.Doc) error {
		if d.Lookup("db").Str() == db {
			roles = append(roles, roleOf(d))
		}
		return nil
	})
	if withBuiltin {
		roles = append(roles, builtinsOf(db)...)
	}
	slices.SortFunc(roles, func(a, b *Role) int { return a.Name.compare(b.Name) })
	return roles, err
}

// inherited is the combined content of a set of roles.
type inherited struct {
	roles        []*Role // direct and inherited roles
	privileges   []Privilege
	restrictions []value.Doc // those of the roles that have some
}

// resolve collects roles and everything that they inherit. It skips roles that
// do not exist.
func (c *Catalog) resolve(names []Name) (in inherited, err error) {
	seen := map[Name]bool{}
	var all []Privilege
	queue := append([]Name(nil), names...)
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if seen[n] {
			continue
		}
		seen[n] = true
		r, err := c.Role(n)
		if err != nil {
			return in, err
		}
		if r == nil {
			continue
		}
		in.roles = append(in.roles, r)
		queue = append(queue, r.Roles...)
		all = append(all, r.Privileges...)
		if r.Restrictions != nil {
			in.restrictions = append(in.restrictions, r.Restrictions)
		}
	}
	in.privileges = addPrivileges(nil, all...)
	return in, nil
}

func (in *inherited) names() []Name {
	out := make([]Name, 0, len(in.roles))
	for _, r := range in.roles {
		out = append(out, r.Name)
	}
	return out
}
