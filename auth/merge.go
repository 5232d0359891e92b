package auth

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// MergeUsers takes over users from elsewhere, in the place of those with the
// same name: the way users are restored from a dump. With a database only
// its users are taken over. With drop, users that are not among docs go.
func (c *Catalog) MergeUsers(docs []value.Doc, db string, drop bool) error {
	return c.merge(usersNS, "user", docs, db, drop)
}

// MergeRoles does the same for roles.
func (c *Catalog) MergeRoles(docs []value.Doc, db string, drop bool) error {
	return c.merge(rolesNS, "role", docs, db, drop)
}

func (c *Catalog) merge(ns namespace, key string, docs []value.Doc, db string, drop bool) error {
	kept := map[Name]bool{}
	for _, d := range docs {
		n := Name{Name: d.Lookup(key).Clone().Str(), DB: d.Lookup("db").Clone().Str()}
		if n.Name == "" || n.DB == "" || d.Lookup("_id").Str() != n.ID() || d.Lookup("roles").Kind() != value.KindArray {
			return mongoerr.Newf(mongoerr.BadValue, "%s is not the document of a %s", d.Lookup("_id"), key)
		}
		if db != "" && n.DB != db {
			continue
		}
		kept[n] = true
		if err := c.put(ns, d); err != nil {
			return err
		}
	}
	if !drop {
		return nil
	}
	return c.each(ns, func(d value.Doc) error {
		n := Name{Name: d.Lookup(key).Clone().Str(), DB: d.Lookup("db").Clone().Str()}
		if kept[n] || db != "" && n.DB != db {
			return nil
		}
		return c.remove(ns, n)
	})
}
