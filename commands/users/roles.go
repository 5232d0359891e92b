package users

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

type createRoleArgs struct {
	Role         string     `arg:"createRole,required"`
	Privileges   args.Array `arg:"privileges,required"`
	Roles        args.Array `arg:"roles,required"`
	Restrictions args.Array `arg:"authenticationRestrictions"`
}

type updateRoleArgs struct {
	Role         string     `arg:"updateRole,required"`
	Privileges   args.Array `arg:"privileges"`
	Roles        args.Array `arg:"roles"`
	Restrictions args.Array `arg:"authenticationRestrictions"`
}

var (
	createRoleSpec = args.New[createRoleArgs]("createRole")
	updateRoleSpec = args.New[updateRoleArgs]("updateRole")
)

func runCreateRole(c *kernel.Call) error {
	var a createRoleArgs
	if err := createRoleSpec.Decode(c.Body, &a); err != nil {
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
	return changeAuth(c, func(cat *auth.Catalog) error { return cat.CreateRole(&r) })
}

func runUpdateRole(c *kernel.Call) error {
	var a updateRoleArgs
	if err := updateRoleSpec.Decode(c.Body, &a); err != nil {
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
	return changeAuth(c, func(cat *auth.Catalog) error { return cat.UpdateRole(auth.Name{Name: a.Role, DB: c.DB}, change) })
}

type dropRoleArgs struct {
	Role string `arg:"dropRole,required"`
}

type dropAllRolesArgs struct {
	All value.Value `arg:"dropAllRolesFromDatabase,required"`
}

var (
	dropRoleSpec     = args.New[dropRoleArgs]("dropRole")
	dropAllRolesSpec = args.New[dropAllRolesArgs]("dropAllRolesFromDatabase")
)

func runDropRole(c *kernel.Call) error {
	var a dropRoleArgs
	if err := dropRoleSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return changeAuth(c, func(cat *auth.Catalog) error { return cat.DropRole(auth.Name{Name: a.Role, DB: c.DB}) })
}

func runDropAllRoles(c *kernel.Call) error {
	var a dropAllRolesArgs
	if err := dropAllRolesSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	var n int64
	err := changeAuth(c, func(cat *auth.Catalog) (err error) {
		n, err = cat.DropRoles(c.DB)
		return err
	})
	if err == nil {
		c.Reply.Int64("n", n)
	}
	return err
}

type rolePrivilegesArgs struct {
	Grant      string     `arg:"grantPrivilegesToRole"`
	Revoke     string     `arg:"revokePrivilegesFromRole"`
	Privileges args.Array `arg:"privileges,required"`
}

var (
	grantPrivilegesSpec  = args.New[rolePrivilegesArgs]("grantPrivilegesToRole")
	revokePrivilegesSpec = args.New[rolePrivilegesArgs]("revokePrivilegesFromRole")
)

func runGrantPrivileges(c *kernel.Call) error {
	var a rolePrivilegesArgs
	if err := grantPrivilegesSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	privileges, err := somePrivileges(c, a.Privileges)
	if err != nil {
		return err
	}
	return changeAuth(c, func(cat *auth.Catalog) error {
		return cat.GrantPrivileges(auth.Name{Name: a.Grant, DB: c.DB}, privileges)
	})
}

func runRevokePrivileges(c *kernel.Call) error {
	var a rolePrivilegesArgs
	if err := revokePrivilegesSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	privileges, err := somePrivileges(c, a.Privileges)
	if err != nil {
		return err
	}
	return changeAuth(c, func(cat *auth.Catalog) error {
		return cat.RevokePrivileges(auth.Name{Name: a.Revoke, DB: c.DB}, privileges)
	})
}

// somePrivileges reads a list of privileges that must not be empty.
func somePrivileges(c *kernel.Call, a args.Array) ([]auth.Privilege, error) {
	list, err := auth.ParsePrivileges(value.Doc(a))
	if err == nil && len(list) == 0 {
		err = mongoerr.Newf(mongoerr.BadValue, "%s command requires a non-empty \"privileges\" array", c.Cmd.Name)
	}
	return list, err
}

type roleRolesArgs struct {
	Grant  string     `arg:"grantRolesToRole"`
	Revoke string     `arg:"revokeRolesFromRole"`
	Roles  args.Array `arg:"roles,required"`
}

var (
	grantRoleSpec  = args.New[roleRolesArgs]("grantRolesToRole")
	revokeRoleSpec = args.New[roleRolesArgs]("revokeRolesFromRole")
)

func runGrantRolesToRole(c *kernel.Call) error {
	var a roleRolesArgs
	if err := grantRoleSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	roles, err := someRoles(c, a.Roles)
	if err != nil {
		return err
	}
	return changeAuth(c, func(cat *auth.Catalog) error { return cat.GrantRolesToRole(auth.Name{Name: a.Grant, DB: c.DB}, roles) })
}

func runRevokeRolesFromRole(c *kernel.Call) error {
	var a roleRolesArgs
	if err := revokeRoleSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	roles, err := someRoles(c, a.Roles)
	if err != nil {
		return err
	}
	return changeAuth(c, func(cat *auth.Catalog) error {
		return cat.RevokeRolesFromRole(auth.Name{Name: a.Revoke, DB: c.DB}, roles)
	})
}
