package auth

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Role is a built-in or custom role.
type Role struct {
	Name         Name
	Roles        []Name      // roles that it inherits
	Privileges   []Privilege // its own
	Restrictions value.Doc   // authenticationRestrictions, an array; nil for none
	Builtin      bool
}

// doc is the role as it is stored.
func (r *Role) doc() value.Doc {
	b := value.NewBuilder()
	b.String("_id", r.Name.ID()).String("role", r.Name.Name).String("db", r.Name.DB)
	AppendPrivileges(b, "privileges", r.Privileges)
	appendNames(b, "roles", r.Roles)
	if len(r.Restrictions) > 0 && !r.Restrictions.IsEmpty() {
		b.Array("authenticationRestrictions", r.Restrictions)
	}
	return b.Doc()
}

// roleOf reads a stored role. Privileges that cannot be read are left out:
// a damaged role grants less, never more.
func roleOf(d value.Doc) *Role {
	r := &Role{Name: Name{Name: d.Lookup("role").Clone().Str(), DB: d.Lookup("db").Clone().Str()}, Roles: storedNames(d.Lookup("roles").Doc())}
	var stored []Privilege
	for v := range d.Lookup("privileges").Doc().Values() {
		if p, _, err := parsePrivilege(v.Doc()); err == nil {
			stored = append(stored, p)
		}
	}
	r.Privileges = addPrivileges(nil, stored...)
	if v, ok := d.Get("authenticationRestrictions"); ok {
		r.Restrictions = v.Doc()
	}
	return r
}

// CreateRole validates and stores a new role.
func (c *Catalog) CreateRole(r *Role) error {
	switch {
	case r.Name.Name == "":
		return mongoerr.New(mongoerr.BadValue, "Role name must be non-empty")
	case r.Name.DB == "local":
		return mongoerr.New(mongoerr.BadValue, "Cannot create roles in the local database")
	case r.Name.DB == External:
		return mongoerr.New(mongoerr.BadValue, "Cannot create roles in the $external database")
	case builtin(r.Name) != nil:
		return mongoerr.New(mongoerr.BadValue, "Cannot create roles with the same name as a built-in role")
	}
	if err := c.checkRole(r, r.Roles, r.Privileges); err != nil {
		return err
	}
	if old, err := c.Role(r.Name); old != nil || err != nil {
		if err != nil {
			return err
		}
		return mongoerr.Newf(51002, "Role \"%s\" already exists", r.Name)
	}
	return c.put(rolesNS, r.doc())
}

// checkRole refuses privileges and roles that a role must not be granted.
func (c *Catalog) checkRole(r *Role, roles []Name, privileges []Privilege) error {
	if err := c.checkInheritance(r.Name, roles); err != nil {
		return err
	}
	if r.Name.DB == "admin" {
		return nil
	}
	for _, p := range privileges {
		if !p.On.within(r.Name.DB) {
			return mongoerr.Newf(mongoerr.InvalidRoleModification, "Roles on the '%s' database cannot be granted privileges that target other databases or the cluster", r.Name.DB)
		}
	}
	return nil
}

// checkInheritance refuses roles that do not exist, that belong to other
// databases, or that would make a cycle.
func (c *Catalog) checkInheritance(role Name, roles []Name) error {
	for _, n := range roles {
		if n == role {
			return mongoerr.Newf(mongoerr.InvalidRoleModification, "Cannot grant role %s to itself.", role)
		}
		if role.DB != "admin" && n.DB != role.DB {
			return mongoerr.Newf(mongoerr.InvalidRoleModification, "Roles on the '%s' database cannot be granted roles from other databases", role.DB)
		}
		found, err := c.Role(n)
		if err != nil {
			return err
		}
		if found == nil {
			return mongoerr.Newf(mongoerr.RoleNotFound, "Cannot grant roles to '%s': Could not find role: %s", role, n)
		}
		in, err := c.resolve(found.Roles)
		if err != nil {
			return err
		}
		for _, r := range in.roles {
			if r.Name == role {
				return mongoerr.Newf(mongoerr.InvalidRoleModification, "Granting %s to %s would introduce a cycle in the role graph.", n, role)
			}
		}
	}
	return nil
}

// customRole finds a role that may be changed.
func (c *Catalog) customRole(n Name) (*Role, error) {
	r, err := c.Role(n)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return nil, roleNotFound(n)
	case r.Builtin:
		return nil, mongoerr.Newf(mongoerr.InvalidRoleModification, "%s is a built-in role and cannot be modified.", n)
	}
	return r, nil
}

func roleNotFound(n Name) error {
	return mongoerr.Newf(mongoerr.RoleNotFound, "Could not find role: %s", n)
}

// RoleChange holds the parts that UpdateRole replaces; nil leaves a part
// unchanged.
type RoleChange struct {
	Roles        []Name
	Privileges   []Privilege
	Restrictions value.Doc
}

// UpdateRole replaces parts of a role.
func (c *Catalog) UpdateRole(n Name, change RoleChange) error {
	if change.Roles == nil && change.Privileges == nil && change.Restrictions == nil {
		return mongoerr.New(mongoerr.BadValue, "Must specify at least one field to update in updateRole")
	}
	r, err := c.customRole(n)
	if err != nil {
		return err
	}
	if err := c.checkRole(r, change.Roles, change.Privileges); err != nil {
		return err
	}
	if change.Roles != nil {
		r.Roles = change.Roles
	}
	if change.Privileges != nil {
		r.Privileges = change.Privileges
	}
	if change.Restrictions != nil {
		r.Restrictions = change.Restrictions
	}
	return c.put(rolesNS, r.doc())
}

// GrantPrivileges adds privileges to a role.
func (c *Catalog) GrantPrivileges(n Name, privileges []Privilege) error {
	return c.changeRole(n, func(r *Role) error {
		r.Privileges = addPrivileges(r.Privileges, privileges...)
		return c.checkRole(r, nil, privileges)
	})
}

// RevokePrivileges takes privileges from a role.
func (c *Catalog) RevokePrivileges(n Name, privileges []Privilege) error {
	return c.changeRole(n, func(r *Role) error {
		r.Privileges = removePrivileges(r.Privileges, privileges)
		return nil
	})
}

// GrantRolesToRole makes a role inherit others.
func (c *Catalog) GrantRolesToRole(n Name, roles []Name) error {
	return c.changeRole(n, func(r *Role) error {
		r.Roles = union(r.Roles, roles)
		return c.checkInheritance(n, roles)
	})
}

// RevokeRolesFromRole ends the inheritance.
func (c *Catalog) RevokeRolesFromRole(n Name, roles []Name) error {
	return c.changeRole(n, func(r *Role) error {
		r.Roles = without(r.Roles, roles)
		return nil
	})
}

func (c *Catalog) changeRole(n Name, change func(*Role) error) error {
	r, err := c.customRole(n)
	if err != nil {
		return err
	}
	if err := change(r); err != nil {
		return err
	}
	return c.put(rolesNS, r.doc())
}

// DropRole removes a role, also from all users and roles that have it.
func (c *Catalog) DropRole(n Name) error {
	if _, err := c.customRole(n); err != nil {
		return err
	}
	_, err := c.dropRoles(func(m Name) bool { return m == n })
	return err
}

// DropRoles removes all roles of a database and returns their number.
func (c *Catalog) DropRoles(db string) (int64, error) {
	return c.dropRoles(func(m Name) bool { return m.DB == db && builtin(m) == nil })
}

// dropRoles removes the matching roles, and removes them from all users and
// roles that have them.
func (c *Catalog) dropRoles(match func(Name) bool) (n int64, err error) {
	if err := c.removeGrants(usersNS, match); err != nil {
		return 0, err
	}
	if err := c.removeGrants(rolesNS, match); err != nil {
		return 0, err
	}
	err = c.each(rolesNS, func(d value.Doc) error {
		r := roleOf(d)
		if !match(r.Name) {
			return nil
		}
		n++
		return c.remove(rolesNS, r.Name)
	})
	return n, err
}

// removeGrants takes roles out of the roles arrays of a collection.
func (c *Catalog) removeGrants(ns namespace, match func(Name) bool) error {
	return c.each(ns, func(d value.Doc) error {
		names := storedNames(d.Lookup("roles").Doc())
		kept := names[:0:0]
		for _, n := range names {
			if !match(n) {
				kept = append(kept, n)
			}
		}
		if len(kept) == len(names) {
			return nil
		}
		return c.put(ns, withRoles(d, kept))
	})
}

// withRoles replaces the roles of a user's or role's document.
func withRoles(d value.Doc, roles []Name) value.Doc {
	b := value.NewBuilder()
	for it := d.Iter(); it.Next(); {
		if it.Key() == "roles" {
			continue
		}
		b.Raw(it.Element())
	}
	appendNames(b, "roles", roles)
	return b.Doc()
}

// union adds names that are not yet in the list.
func union(list, more []Name) []Name {
	out := append([]Name(nil), list...)
	seen := setOf(list)
	for _, n := range more {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

func setOf(list []Name) map[Name]bool {
	set := make(map[Name]bool, len(list))
	for _, n := range list {
		set[n] = true
	}
	return set
}

// without leaves out some names.
func without(list, less []Name) []Name {
	out := []Name{}
	gone := setOf(less)
	for _, n := range list {
		if !gone[n] {
			out = append(out, n)
		}
	}
	return out
}

func contains(list []Name, n Name) bool {
	for _, m := range list {
		if m == n {
			return true
		}
	}
	return false
}
