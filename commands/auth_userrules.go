package commands

import (
	"strings"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The rules for the commands on users and roles. Whoever may change users
// may still grant no more than what he may grant: the right goes with the
// database of the role.

func unauthorized(format string, args ...any) error {
	return mongoerr.Newf(mongoerr.Unauthorized, format, args...)
}

func (c *Call) mayInDatabase(db, action string) bool { return c.may(auth.Database(db), action) }

// subject is the user or role that the command names.
func (c *Call) subject() auth.Name {
	_, v := c.Body.First()
	return auth.Name{Name: v.Clone().Str(), DB: c.DB}
}

// eachRole calls fn with the roles that the command lists. Lists that cannot
// be read are the command's to refuse.
func (c *Call) eachRole(fn func(auth.Name) error) error {
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

func mayGrantRoles(c *Call) error {
	return c.eachRole(func(n auth.Name) error {
		if !c.mayInDatabase(n.DB, "grantRole") {
			return unauthorized("Not authorized to grant role: %s", n)
		}
		return nil
	})
}

func mayRevokeRoles(c *Call) error {
	return c.eachRole(func(n auth.Name) error {
		if !c.mayInDatabase(n.DB, "revokeRole") {
			return unauthorized("Not authorized to revoke role: %s", n)
		}
		return nil
	})
}

func mayGrantPrivileges(c *Call) error { return c.mayHandPrivileges("grantRole", "grant") }

func mayRevokePrivileges(c *Call) error { return c.mayHandPrivileges("revokeRole", "revoke") }

// mayHandPrivileges asks, for each privilege listed, for the right over the
// database of its resource; for resources of several over admin.
func (c *Call) mayHandPrivileges(action, verb string) error {
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
			case single && !c.mayInDatabase(db, action):
				return unauthorized("Not authorized to %s privileges on the %s database", verb, db)
			case !single && !c.mayInDatabase("admin", action):
				return unauthorized("To %s privileges affecting multiple databases or the cluster, must be authorized to %s roles from the admin database", verb, verb)
			}
		}
	}
	return nil
}

func (c *Call) mayRestrict() error {
	if c.Body.Has("authenticationRestrictions") && !c.mayInDatabase(c.DB, "setAuthenticationRestriction") {
		return unauthorized("Unauthorized")
	}
	return nil
}

func mayCreateUser(c *Call) error {
	if !c.mayInDatabase(c.DB, "createUser") {
		return unauthorized("Not authorized to create users on db: %s", c.DB)
	}
	if err := mayGrantRoles(c); err != nil {
		return err
	}
	return c.mayRestrict()
}

func mayUpdateUser(c *Call) error {
	n := c.subject()
	own := c.user != nil && c.user.Name == n
	may := func(action, ownAction string) bool {
		return c.mayInDatabase(n.DB, action) || own && c.mayInDatabase(n.DB, ownAction)
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
		if !c.may(auth.AnyNormal(), "revokeRole") {
			return unauthorized("In order to use updateUser to set roles array, must be authorized to revoke any role in the system")
		}
		if err := mayGrantRoles(c); err != nil {
			return err
		}
	}
	return c.mayRestrict()
}

func mayDropUser(c *Call) error {
	if !c.mayInDatabase(c.DB, "dropUser") {
		return unauthorized("Not authorized to drop users from the %s database", c.DB)
	}
	return nil
}

func mayCreateRole(c *Call) error {
	if !c.mayInDatabase(c.DB, "createRole") {
		return unauthorized("Not authorized to create roles on db: %s", c.DB)
	}
	if err := mayGrantRoles(c); err != nil {
		return err
	}
	if err := mayGrantPrivileges(c); err != nil {
		return err
	}
	return c.mayRestrict()
}

func mayUpdateRole(c *Call) error {
	if !c.may(auth.AnyNormal(), "revokeRole") {
		return unauthorized("updateRole command required the ability to revoke any role in the system")
	}
	if err := mayGrantRoles(c); err != nil {
		return err
	}
	if err := mayGrantPrivileges(c); err != nil {
		return err
	}
	return c.mayRestrict()
}

func mayDropRole(c *Call) error {
	if !c.mayInDatabase(c.DB, "dropRole") {
		return unauthorized("Not authorized to drop roles from the %s database", c.DB)
	}
	return nil
}

func mayInvalidate(c *Call) error {
	if !c.may(auth.Cluster(), "invalidateUserCache") {
		return unauthorized("Not authorized to invalidate user cache")
	}
	return nil
}

// mayViewUsers lets everyone see himself.
func mayViewUsers(c *Call) error {
	_, v := c.Body.First()
	who, err := c.askedFor("user", v)
	if err != nil {
		return err
	}
	if who.every {
		if !c.may(auth.Cluster(), "viewUser") {
			return unauthorized("Not authorized to view users from all databases")
		}
		return nil
	}
	if who.all && !c.mayInDatabase(c.DB, "viewUser") {
		return unauthorized("Not authorized to view users from the %s database", c.DB)
	}
	for _, n := range who.names {
		if (c.user == nil || c.user.Name != n) && !c.mayInDatabase(n.DB, "viewUser") {
			return unauthorized("Not authorized to view users from the %s database", c.DB)
		}
	}
	return nil
}

// mayViewRoles lets everyone see the roles he has.
func mayViewRoles(c *Call) error {
	_, v := c.Body.First()
	who, err := c.askedFor("role", v)
	if err != nil {
		return err
	}
	if who.all && !c.mayInDatabase(c.DB, "viewRole") {
		return unauthorized("Not authorized to view roles from the %s database", c.DB)
	}
	for _, n := range who.names {
		if !c.user.HasRole(n) && !c.mayInDatabase(n.DB, "viewRole") {
			return unauthorized("Not authorized to view roles from the %s database", strings.Clone(n.DB))
		}
	}
	return nil
}
