package commands

import (
	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

type createRoleArgs struct {
	Role         string `arg:"createRole,required"`
	Privileges   array  `arg:"privileges,required"`
	Roles        array  `arg:"roles,required"`
	Restrictions array  `arg:"authenticationRestrictions"`
}

type updateRoleArgs struct {
	Role         string `arg:"updateRole,required"`
	Privileges   array  `arg:"privileges"`
	Roles        array  `arg:"roles"`
	Restrictions array  `arg:"authenticationRestrictions"`
}

var (
	createRoleSpec = newArgs[createRoleArgs]("createRole")
	updateRoleSpec = newArgs[updateRoleArgs]("updateRole")
)

func runCreateRole(c *Call) error {
	var a createRoleArgs
	if err := createRoleSpec.decode(c.Body, &a); err != nil {
		return err
	}
	r := auth.Role{Name: auth.Name{Name: a.Role, DB: c.DB}, Restrictions: value.Doc(a.Restrictions)}
	var err error
	if r.Privileges, err = auth.ParsePrivileges(value.Doc(a.Privileges)); err != nil {
		return err
	}
	if r.Roles, err = auth.ParseRoles("roles", value.Doc(a.Roles), c.DB); err != nil {
		return err
	}
	if err := auth.CheckRestrictions(r.Restrictions); err != nil {
		return err
	}
	return c.changeAuth(func(cat *auth.Catalog) error { return cat.CreateRole(&r) })
}

func runUpdateRole(c *Call) error {
	var a updateRoleArgs
	if err := updateRoleSpec.decode(c.Body, &a); err != nil {
		return err
	}
	change := auth.RoleChange{Restrictions: value.Doc(a.Restrictions)}
	var err error
	if a.Privileges != nil {
		if change.Privileges, err = auth.ParsePrivileges(value.Doc(a.Privileges)); err != nil {
			return err
		}
	}
	if a.Roles != nil {
		if change.Roles, err = auth.ParseRoles("roles", value.Doc(a.Roles), c.DB); err != nil {
			return err
		}
	}
	if err := auth.CheckRestrictions(change.Restrictions); err != nil {
		return err
	}
	return c.changeAuth(func(cat *auth.Catalog) error { return cat.UpdateRole(auth.Name{Name: a.Role, DB: c.DB}, change) })
}

type dropRoleArgs struct {
	Role string `arg:"dropRole,required"`
}

type dropAllRolesArgs struct {
	All value.Value `arg:"dropAllRolesFromDatabase,required"`
}

var (
	dropRoleSpec     = newArgs[dropRoleArgs]("dropRole")
	dropAllRolesSpec = newArgs[dropAllRolesArgs]("dropAllRolesFromDatabase")
)

func runDropRole(c *Call) error {
	var a dropRoleArgs
	if err := dropRoleSpec.decode(c.Body, &a); err != nil {
		return err
	}
	return c.changeAuth(func(cat *auth.Catalog) error { return cat.DropRole(auth.Name{Name: a.Role, DB: c.DB}) })
}

func runDropAllRoles(c *Call) error {
	var a dropAllRolesArgs
	if err := dropAllRolesSpec.decode(c.Body, &a); err != nil {
		return err
	}
	var n int64
	err := c.changeAuth(func(cat *auth.Catalog) (err error) {
		n, err = cat.DropRoles(c.DB)
		return err
	})
	if err == nil {
		c.reply.Int64("n", n)
	}
	return err
}

type rolePrivilegesArgs struct {
	Grant      string `arg:"grantPrivilegesToRole"`
	Revoke     string `arg:"revokePrivilegesFromRole"`
	Privileges array  `arg:"privileges,required"`
}

var (
	grantPrivilegesSpec  = newArgs[rolePrivilegesArgs]("grantPrivilegesToRole")
	revokePrivilegesSpec = newArgs[rolePrivilegesArgs]("revokePrivilegesFromRole")
)

func runGrantPrivileges(c *Call) error {
	var a rolePrivilegesArgs
	if err := grantPrivilegesSpec.decode(c.Body, &a); err != nil {
		return err
	}
	privileges, err := c.somePrivileges(a.Privileges)
	if err != nil {
		return err
	}
	return c.changeAuth(func(cat *auth.Catalog) error {
		return cat.GrantPrivileges(auth.Name{Name: a.Grant, DB: c.DB}, privileges)
	})
}

func runRevokePrivileges(c *Call) error {
	var a rolePrivilegesArgs
	if err := revokePrivilegesSpec.decode(c.Body, &a); err != nil {
		return err
	}
	privileges, err := c.somePrivileges(a.Privileges)
	if err != nil {
		return err
	}
	return c.changeAuth(func(cat *auth.Catalog) error {
		return cat.RevokePrivileges(auth.Name{Name: a.Revoke, DB: c.DB}, privileges)
	})
}

// somePrivileges reads a list of privileges that must not be empty.
func (c *Call) somePrivileges(a array) ([]auth.Privilege, error) {
	list, err := auth.ParsePrivileges(value.Doc(a))
	if err == nil && len(list) == 0 {
		err = mongoerr.Newf(mongoerr.BadValue, "%s command requires a non-empty \"privileges\" array", c.cmd.name)
	}
	return list, err
}

type roleRolesArgs struct {
	Grant  string `arg:"grantRolesToRole"`
	Revoke string `arg:"revokeRolesFromRole"`
	Roles  array  `arg:"roles,required"`
}

var (
	grantRoleSpec  = newArgs[roleRolesArgs]("grantRolesToRole")
	revokeRoleSpec = newArgs[roleRolesArgs]("revokeRolesFromRole")
)

func runGrantRolesToRole(c *Call) error {
	var a roleRolesArgs
	if err := grantRoleSpec.decode(c.Body, &a); err != nil {
		return err
	}
	roles, err := c.someRoles(a.Roles)
	if err != nil {
		return err
	}
	return c.changeAuth(func(cat *auth.Catalog) error { return cat.GrantRolesToRole(auth.Name{Name: a.Grant, DB: c.DB}, roles) })
}

func runRevokeRolesFromRole(c *Call) error {
	var a roleRolesArgs
	if err := revokeRoleSpec.decode(c.Body, &a); err != nil {
		return err
	}
	roles, err := c.someRoles(a.Roles)
	if err != nil {
		return err
	}
	return c.changeAuth(func(cat *auth.Catalog) error {
		return cat.RevokeRolesFromRole(auth.Name{Name: a.Revoke, DB: c.DB}, roles)
	})
}
