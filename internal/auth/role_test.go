package auth

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// wantErr checks a code and a part of the message.
func wantErr(t *testing.T, err error, code mongoerr.Code, text string) {
	t.Helper()
	if e := mongoerr.From(err); err == nil || e.Code != code || !strings.Contains(e.Message, text) {
		t.Errorf("%v, want (%d) %s", err, code, text)
	}
}

const findShop = `[{"resource": {"db": "shop", "collection": ""}, "actions": ["find"]}]`

func TestBuiltinRolesExist(t *testing.T) {
	for _, line := range builtinRoles {
		for _, db := range []string{"admin", "shop"} {
			r := builtin(at(line.name, db))
			if (r != nil) != (db == "admin" || !line.adminOnly) {
				t.Errorf("%s@%s: %v", line.name, db, r)
			}
			if r == nil {
				continue
			}
			for _, in := range r.Roles {
				if builtin(in) == nil {
					t.Errorf("%s inherits %s, which does not exist", r.Name, in)
				}
			}
		}
	}
}

func TestCreateRole(t *testing.T) {
	f := newFixture(t)
	if err := f.role(at("seller", "shop"), findShop, at("readWrite", "shop")); err != nil {
		t.Fatal(err)
	}
	wantErr(t, f.role(at("seller", "shop"), `[]`), 51002, `Role "seller@shop" already exists`)
	wantErr(t, f.role(at("", "shop"), `[]`), 2, "Role name must be non-empty")
	wantErr(t, f.role(at("x", "local"), `[]`), 2, "Cannot create roles in the local database")
	wantErr(t, f.role(at("x", "$external"), `[]`), 2, "Cannot create roles in the $external database")
	wantErr(t, f.role(at("read", "shop"), `[]`), 2, "Cannot create roles with the same name as a built-in role")
	wantErr(t, f.role(at("x", "shop"), `[]`, at("missing", "shop")), 31, "Could not find role: missing@shop")
	wantErr(t, f.role(at("x", "shop"), `[]`, at("read", "other")), 49, "Roles on the 'shop' database cannot be granted roles from other databases")
	wantErr(t, f.role(at("x", "shop"), `[{"resource": {"cluster": true}, "actions": ["top"]}]`), 49, "cannot be granted privileges that target other databases or the cluster")
	wantErr(t, f.role(at("x", "other"), findShop), 49, "cannot be granted privileges that target other databases")
	if err := f.role(at("x", "admin"), findShop, at("read", "other")); err != nil {
		t.Errorf("roles of admin may have all: %v", err)
	}
}

func TestInheritanceHasNoCycles(t *testing.T) {
	f := newFixture(t)
	a, b, c := at("a", "shop"), at("b", "shop"), at("c", "shop")
	for _, r := range []struct {
		name Name
		in   []Name
	}{{a, nil}, {b, []Name{a}}, {c, []Name{b}}} {
		if err := f.role(r.name, `[]`, r.in...); err != nil {
			t.Fatal(err)
		}
	}
	grant := func(to Name, roles ...Name) error {
		return f.change(func(cat *Catalog) error { return cat.GrantRolesToRole(to, roles) })
	}
	wantErr(t, grant(a, a), 49, "Cannot grant role a@shop to itself.")
	wantErr(t, grant(a, c), 49, "Granting c@shop to a@shop would introduce a cycle in the role graph.")
	wantErr(t, grant(at("read", "shop"), a), 49, "read@shop is a built-in role and cannot be modified.")
	wantErr(t, grant(at("missing", "shop"), a), 31, "Could not find role: missing@shop")
	wantErr(t, f.change(func(cat *Catalog) error { return cat.UpdateRole(a, RoleChange{Roles: []Name{c}}) }), 49, "cycle")
	if err := grant(c, a, at("read", "shop")); err != nil {
		t.Error(err)
	}
}

func TestPrivilegesAreInherited(t *testing.T) {
	f := newFixture(t)
	base, mid := at("base", "shop"), at("mid", "shop")
	_ = f.role(base, findShop)
	_ = f.role(mid, `[]`, base)
	u := f.user(at("ann", "shop"), "p", mid)
	find, insert := MustAction("find"), MustAction("insert")
	orders := Namespace("shop", "orders")
	if !u.May(orders, find) || u.May(orders, insert) || !u.HasRole(base) || !slices.Equal(u.Roles, []Name{mid}) {
		t.Fatalf("%+v", u)
	}
	current := func() *User {
		now, err := f.Current(context.Background(), u)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	if one := current(); one != current() {
		t.Error("an unchanged user was compiled twice")
	}
	insertShop, _ := ParsePrivileges(value.MustJSON(`{"p": [{"resource": {"db": "shop", "collection": "orders"}, "actions": ["insert"]}]}`).Lookup("p").Doc())
	f.must(func(c *Catalog) error { return c.GrantPrivileges(base, insertShop) })
	if !current().May(orders, insert) {
		t.Error("a new privilege does not count")
	}
	f.must(func(c *Catalog) error { return c.RevokePrivileges(base, insertShop) })
	if current().May(orders, insert) {
		t.Error("a revoked privilege counts")
	}
	f.must(func(c *Catalog) error { return c.RevokeRolesFromRole(mid, []Name{base}) })
	if current().May(orders, find) {
		t.Error("a revoked role counts")
	}
	f.must(func(c *Catalog) error { return c.GrantRolesToRole(mid, []Name{base}) })
	f.must(func(c *Catalog) error { return c.DropRole(base) })
	if now := current(); now.May(orders, find) || now.HasRole(base) {
		t.Error("a dropped role counts")
	}
	if err := f.change(func(c *Catalog) error {
		r, err := c.Role(mid)
		if err == nil && len(r.Roles) != 0 {
			t.Errorf("a dropped role is still inherited: %v", r.Roles)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	f.must(func(c *Catalog) error {
		n, err := c.DropRoles("shop")
		if n != 1 {
			t.Errorf("%d roles dropped", n)
		}
		return err
	})
	if now := current(); len(now.Roles) != 0 {
		t.Errorf("roles of the user: %v", now.Roles)
	}
}

func TestDescribeRole(t *testing.T) {
	f := newFixture(t)
	_ = f.role(at("base", "shop"), findShop)
	_ = f.role(at("mid", "shop"), `[]`, at("base", "shop"))
	f.must(func(c *Catalog) error {
		roles, err := c.Roles("shop", true)
		if err != nil {
			return err
		}
		if len(roles) != 2+6 {
			t.Errorf("%d roles", len(roles))
		}
		r, _ := c.Role(at("mid", "shop"))
		d, err := c.DescribeRole(r, Shown{Privileges: true})
		want := `{ _id: "shop.mid", role: "mid", db: "shop", roles: [ { role: "base", db: "shop" } ], inheritedRoles: [ { role: "base", db: "shop" } ], isBuiltin: false, privileges: [], inheritedPrivileges: [ { resource: { db: "shop", collection: "" }, actions: [ "find" ] } ] }`
		if d.String() != want {
			t.Errorf("%s", d)
		}
		return err
	})
}
