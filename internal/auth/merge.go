package auth

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// MergeUsers restores users from a dump and replaces those with the same name.
// With a database it restores only its users. With drop it removes users that
// are not among docs.
func (c *Catalog) MergeUsers(docs []value.Doc, db string, drop bool) error {
	return c.merge(usersNS, "user", docs, db, drop)
}

// MergeRoles does the same for roles.
func (c *Catalog) MergeRoles(docs []value.Doc, db string, drop bool) error {
	return c.merge(rolesNS, "role", docs, db, drop)
}

// merge stores the documents of a database over those with the same name, and
// with drop removes the others.
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
