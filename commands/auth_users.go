package commands

import (
	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type createUserArgs struct {
	User         string    `arg:"createUser,required"`
	Password     *string   `arg:"pwd"`
	Roles        array     `arg:"roles,required"`
	CustomData   value.Doc `arg:"customData"`
	Digest       *bool     `arg:"digestPassword"`
	Restrictions array     `arg:"authenticationRestrictions"`
	Mechanisms   array     `arg:"mechanisms"`
}

type updateUserArgs struct {
	User         string    `arg:"updateUser,required"`
	Password     *string   `arg:"pwd"`
	Roles        array     `arg:"roles"`
	CustomData   value.Doc `arg:"customData"`
	Digest       *bool     `arg:"digestPassword"`
	Restrictions array     `arg:"authenticationRestrictions"`
	Mechanisms   array     `arg:"mechanisms"`
}

var (
	createUserSpec = newArgs[createUserArgs]("createUser")
	updateUserSpec = newArgs[updateUserArgs]("updateUser")
)

// password makes the password of a command; nil if it gives none.
func password(text *string, digest *bool, mechanisms []string) (*auth.Password, error) {
	if text == nil {
		return nil, nil
	}
	if *text == "" {
		return nil, mongoerr.New(50687, "Password cannot be empty")
	}
	return &auth.Password{Text: *text, Digested: digest != nil && !*digest, Mechanisms: mechanisms}, nil
}

func stringList(command, name string, a array) ([]string, error) {
	if a == nil {
		return nil, nil
	}
	out := []string{}
	for v := range value.Doc(a).Values() {
		if v.Kind() != value.KindString {
			return nil, wrongType(command, name, v, "string")
		}
		out = append(out, v.Clone().Str())
	}
	return out, nil
}

// changeAuth runs a change of users or roles and makes it count at once.
func (c *Call) changeAuth(fn func(cat *auth.Catalog) error) error {
	return c.changeAuthIn(func(_ storage.Tx, cat *auth.Catalog) error { return fn(cat) })
}

func (c *Call) changeAuthIn(fn func(tx storage.Tx, cat *auth.Catalog) error) error {
	if c.transaction() != nil {
		return mongoerr.Newf(mongoerr.OperationNotSupportedInTransaction, "Cannot run command %s in a multi-document transaction", c.cmd.name)
	}
	err := c.update(func(tx storage.Tx) error { return fn(tx, c.svc.auth.In(tx, c.now)) })
	c.svc.auth.Invalidate()
	return translate(storage.Namespace{DB: "admin", Coll: "system.users"}, err)
}

func runCreateUser(c *Call) error {
	var a createUserArgs
	if err := createUserSpec.decode(c.Body, &a); err != nil {
		return err
	}
	u := auth.NewUser{Name: auth.Name{Name: a.User, DB: c.DB}, CustomData: a.CustomData, Restrictions: value.Doc(a.Restrictions)}
	var err error
	if u.Roles, err = auth.ParseRoles("roles", value.Doc(a.Roles), c.DB); err != nil {
		return err
	}
	if err := auth.CheckRestrictions(u.Restrictions); err != nil {
		return err
	}
	if u.Mechanisms, err = stringList("createUser", "mechanisms", a.Mechanisms); err != nil {
		return err
	}
	if u.Password, err = password(a.Password, a.Digest, u.Mechanisms); err != nil {
		return err
	}
	doc, err := c.svc.auth.PrepareUser(&u)
	if err != nil {
		return err
	}
	return c.changeAuth(func(cat *auth.Catalog) error { return cat.CreateUser(doc) })
}

func runUpdateUser(c *Call) error {
	var a updateUserArgs
	if err := updateUserSpec.decode(c.Body, &a); err != nil {
		return err
	}
	n := auth.Name{Name: a.User, DB: c.DB}
	change := auth.UserChange{CustomData: a.CustomData, Restrictions: value.Doc(a.Restrictions)}
	var err error
	if a.Roles != nil {
		if change.Roles, err = auth.ParseRoles("roles", value.Doc(a.Roles), c.DB); err != nil {
			return err
		}
	}
	if err := auth.CheckRestrictions(change.Restrictions); err != nil {
		return err
	}
	if change.Mechanisms, err = stringList("updateUser", "mechanisms", a.Mechanisms); err != nil {
		return err
	}
	p, err := password(a.Password, a.Digest, change.Mechanisms)
	if err != nil {
		return err
	}
	if err := c.svc.auth.PrepareChange(n, p, &change); err != nil {
		return err
	}
	return c.changeAuth(func(cat *auth.Catalog) error { return cat.UpdateUser(n, &change) })
}

type dropUserArgs struct {
	User string `arg:"dropUser,required"`
}

var dropUserSpec = newArgs[dropUserArgs]("dropUser")

func runDropUser(c *Call) error {
	var a dropUserArgs
	if err := dropUserSpec.decode(c.Body, &a); err != nil {
		return err
	}
	return c.changeAuth(func(cat *auth.Catalog) error { return cat.DropUser(auth.Name{Name: a.User, DB: c.DB}) })
}

type dropAllUsersArgs struct {
	All value.Value `arg:"dropAllUsersFromDatabase,required"`
}

var dropAllUsersSpec = newArgs[dropAllUsersArgs]("dropAllUsersFromDatabase")

func runDropAllUsers(c *Call) error {
	var a dropAllUsersArgs
	if err := dropAllUsersSpec.decode(c.Body, &a); err != nil {
		return err
	}
	var n int64
	err := c.changeAuth(func(cat *auth.Catalog) (err error) {
		n, err = cat.DropUsers(c.DB)
		return err
	})
	if err == nil {
		c.reply.Int64("n", n)
	}
	return err
}

type userRolesArgs struct {
	Grant  string `arg:"grantRolesToUser"`
	Revoke string `arg:"revokeRolesFromUser"`
	Roles  array  `arg:"roles,required"`
}

var (
	grantUserSpec  = newArgs[userRolesArgs]("grantRolesToUser")
	revokeUserSpec = newArgs[userRolesArgs]("revokeRolesFromUser")
)

func runGrantRolesToUser(c *Call) error {
	var a userRolesArgs
	if err := grantUserSpec.decode(c.Body, &a); err != nil {
		return err
	}
	roles, err := c.someRoles(a.Roles)
	if err != nil {
		return err
	}
	return c.changeAuth(func(cat *auth.Catalog) error { return cat.GrantRoles(auth.Name{Name: a.Grant, DB: c.DB}, roles) })
}

func runRevokeRolesFromUser(c *Call) error {
	var a userRolesArgs
	if err := revokeUserSpec.decode(c.Body, &a); err != nil {
		return err
	}
	roles, err := c.someRoles(a.Roles)
	if err != nil {
		return err
	}
	return c.changeAuth(func(cat *auth.Catalog) error { return cat.RevokeRoles(auth.Name{Name: a.Revoke, DB: c.DB}, roles) })
}

// someRoles reads a list of roles that must not be empty.
func (c *Call) someRoles(a array) ([]auth.Name, error) {
	roles, err := auth.ParseRoles("roles", value.Doc(a), c.DB)
	if err == nil && len(roles) == 0 {
		err = mongoerr.Newf(mongoerr.BadValue, "%s command requires a non-empty \"roles\" array", c.cmd.name)
	}
	return roles, err
}

func runInvalidateUserCache(c *Call) error {
	c.svc.auth.Invalidate()
	return nil
}
