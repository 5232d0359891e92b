package users

import (
	"strings"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The authorization rules of the commands on users and roles. The right to change
// users does not include the right to grant roles: to grant or revoke a role, a user
// needs that privilege on the database of the role.

func unauthorized(format string, args ...any) error {
	return mongoerr.Newf(mongoerr.Unauthorized, format, args...)
}

func mayInDatabase(c *kernel.Call, db, action string) bool {
	return access.May(c, auth.Database(db), action)
}

// subject is the user or role that the command names.
func subject(c *kernel.Call) auth.Name {
	_, v := c.Body.First()
	return auth.Name{Name: v.Clone().Str(), DB: c.DB}
}

// eachRole calls fn with the roles that the command lists. It ignores invalid lists,
// because the command refuses them.
func eachRole(c *kernel.Call, fn func(auth.Name) error) error {
	for key, v := range c.Body.All() {
		if key != "roles" || v.Kind() != value.KindArray {
			continue
		}
		names, err := auth.ParseRoles("roles", v.Doc(), c.DB)
		if err != nil {
			return err
		}
		for _, n := range names {
			if err := fn(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// MayGrantRoles checks the privilege grantRole on the database of each role in the
// command.
func MayGrantRoles(c *kernel.Call) error {
	return eachRole(c, func(n auth.Name) error {
		if !mayInDatabase(c, n.DB, "grantRole") {
			return unauthorized("Not authorized to grant role: %s", n)
		}
		return nil
	})
}

// MayRevokeRoles checks the privilege revokeRole on the database of each role in the
// command.
func MayRevokeRoles(c *kernel.Call) error {
	return eachRole(c, func(n auth.Name) error {
		if !mayInDatabase(c, n.DB, "revokeRole") {
			return unauthorized("Not authorized to revoke role: %s", n)
		}
		return nil
	})
}

// MayGrantPrivileges checks the privilege grantRole on the database of each privilege
// in the command.
func MayGrantPrivileges(c *kernel.Call) error { return mayHandPrivileges(c, "grantRole", "grant") }

// MayRevokePrivileges checks the privilege revokeRole on the database of each
// privilege in the command.
func MayRevokePrivileges(c *kernel.Call) error { return mayHandPrivileges(c, "revokeRole", "revoke") }

// mayHandPrivileges checks the action on the database of each listed privilege's
// resource; for resources in several databases on admin.
func mayHandPrivileges(c *kernel.Call, action, verb string) error {
	for key, v := range c.Body.All() {
		if key != "privileges" || v.Kind() != value.KindArray {
			continue
		}
		list, err := auth.ParsePrivileges(v.Doc())
		if err != nil {
			return err
		}
		for _, p := range list {
			db, single := p.On.SingleDatabase()
			switch {
			case single && !mayInDatabase(c, db, action):
				return unauthorized("Not authorized to %s privileges on the %s database", verb, db)
			case !single && !mayInDatabase(c, "admin", action):
				return unauthorized("To %s privileges affecting multiple databases or the cluster, must be authorized to %s roles from the admin database", verb, verb)
			}
		}
	}
	return nil
}

// mayRestrict checks the privilege setAuthenticationRestriction if the command sets
// restrictions.
func mayRestrict(c *kernel.Call) error {
	if c.Body.Has("authenticationRestrictions") && !mayInDatabase(c, c.DB, "setAuthenticationRestriction") {
		return unauthorized("Unauthorized")
	}
	return nil
}

// MayCreateUser checks the privilege createUser, and those to grant the user's roles.
func MayCreateUser(c *kernel.Call) error {
	if !mayInDatabase(c, c.DB, "createUser") {
		return unauthorized("Not authorized to create users on db: %s", c.DB)
	}
	if err := MayGrantRoles(c); err != nil {
		return err
	}
	return mayRestrict(c)
}

// MayUpdateUser checks the privilege for each property that the command changes.
// Users may have the privilege to change their own password and customData.
func MayUpdateUser(c *kernel.Call) error {
	n := subject(c)
	own := c.User != nil && c.User.Name == n
	may := func(action, ownAction string) bool {
		return mayInDatabase(c, n.DB, action) || own && mayInDatabase(c, n.DB, ownAction)
	}
	password := may("changePassword", "changeOwnPassword")
	switch {
	case c.Body.Has("pwd") && !password:
		return unauthorized("Not authorized to change password of user: %s", n)
	case c.Body.Has("mechanisms") && !password:
		return unauthorized("Not authorized to change mechanisms of user: %s", n)
	case c.Body.Has("customData") && !may("changeCustomData", "changeOwnCustomData"):
		return unauthorized("Not authorized to change customData of user: %s", n)
	}
	if c.Body.Has("roles") {
		if !access.May(c, auth.AnyNormal(), "revokeRole") {
			return unauthorized("In order to use updateUser to set roles array, must be authorized to revoke any role in the system")
		}
		if err := MayGrantRoles(c); err != nil {
			return err
		}
	}
	return mayRestrict(c)
}

// MayDropUser checks the privilege dropUser on the database, also for
// dropAllUsersFromDatabase.
func MayDropUser(c *kernel.Call) error {
	if !mayInDatabase(c, c.DB, "dropUser") {
		return unauthorized("Not authorized to drop users from the %s database", c.DB)
	}
	return nil
}

// MayCreateRole checks the privilege createRole, and those to grant the role's roles
// and privileges.
func MayCreateRole(c *kernel.Call) error {
	if !mayInDatabase(c, c.DB, "createRole") {
		return unauthorized("Not authorized to create roles on db: %s", c.DB)
	}
	if err := MayGrantRoles(c); err != nil {
		return err
	}
	if err := MayGrantPrivileges(c); err != nil {
		return err
	}
	return mayRestrict(c)
}

// MayUpdateRole checks the privileges to revoke any role, and to grant the new roles
// and privileges.
func MayUpdateRole(c *kernel.Call) error {
	if !access.May(c, auth.AnyNormal(), "revokeRole") {
		return unauthorized("updateRole command required the ability to revoke any role in the system")
	}
	if err := MayGrantRoles(c); err != nil {
		return err
	}
	if err := MayGrantPrivileges(c); err != nil {
		return err
	}
	return mayRestrict(c)
}

// MayDropRole checks the privilege dropRole on the database.
func MayDropRole(c *kernel.Call) error {
	if !mayInDatabase(c, c.DB, "dropRole") {
		return unauthorized("Not authorized to drop roles from the %s database", c.DB)
	}
	return nil
}

// MayInvalidate checks the privilege invalidateUserCache.
func MayInvalidate(c *kernel.Call) error {
	if !access.May(c, auth.Cluster(), "invalidateUserCache") {
		return unauthorized("Not authorized to invalidate user cache")
	}
	return nil
}

// MayViewUsers checks the privilege viewUser on the database of each user; users may
// always view themselves.
func MayViewUsers(c *kernel.Call) error {
	_, v := c.Body.First()
	who, err := askedFor(c, "user", v)
	if err != nil {
		return err
	}
	if who.every {
		if !access.May(c, auth.Cluster(), "viewUser") {
			return unauthorized("Not authorized to view users from all databases")
		}
		return nil
	}
	if who.all && !mayInDatabase(c, c.DB, "viewUser") {
		return unauthorized("Not authorized to view users from the %s database", c.DB)
	}
	for _, n := range who.names {
		if (c.User == nil || c.User.Name != n) && !mayInDatabase(c, n.DB, "viewUser") {
			return unauthorized("Not authorized to view users from the %s database", c.DB)
		}
	}
	return nil
}

// MayViewRoles checks the privilege viewRole on the database of each role; users may
// always view the roles that they have.
func MayViewRoles(c *kernel.Call) error {
	_, v := c.Body.First()
	who, err := askedFor(c, "role", v)
	if err != nil {
		return err
	}
	if who.all && !mayInDatabase(c, c.DB, "viewRole") {
		return unauthorized("Not authorized to view roles from the %s database", c.DB)
	}
	for _, n := range who.names {
		if !c.User.HasRole(n) && !mayInDatabase(c, n.DB, "viewRole") {
			return unauthorized("Not authorized to view roles from the %s database", strings.Clone(n.DB))
		}
	}
	return nil
}
