package users

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type createUserArgs struct {
	User         string     `arg:"createUser,required"`
	Password     *string    `arg:"pwd"`
	Roles        args.Array `arg:"roles,required"`
	CustomData   value.Doc  `arg:"customData"`
	Digest       *bool      `arg:"digestPassword"`
	Restrictions args.Array `arg:"authenticationRestrictions"`
	Mechanisms   args.Array `arg:"mechanisms"`
}

type updateUserArgs struct {
	User         string     `arg:"updateUser,required"`
	Password     *string    `arg:"pwd"`
	Roles        args.Array `arg:"roles"`
	CustomData   value.Doc  `arg:"customData"`
	Digest       *bool      `arg:"digestPassword"`
	Restrictions args.Array `arg:"authenticationRestrictions"`
	Mechanisms   args.Array `arg:"mechanisms"`
}

var (
	createUserSpec = args.New[createUserArgs]("createUser")
	updateUserSpec = args.New[updateUserArgs]("updateUser")
)

// password returns the password that a command sets; nil if it sets none.
func password(text *string, digest *bool, mechanisms []string) (*auth.Password, error) {
	if text == nil {
		return nil, nil
	}
	if *text == "" {
		return nil, mongoerr.New(50687, "Error preflighting UTF-8 conversion: U_STRING_NOT_TERMINATED_WARNING")
	}
	return &auth.Password{Text: *text, Digested: digest != nil && !*digest, Mechanisms: mechanisms}, nil
}

func stringList(command, name string, a args.Array) ([]string, error) {
	if a == nil {
		return nil, nil
	}
	out := []string{}
	for v := range value.Doc(a).Values() {
		if v.Kind() != value.KindString {
			return nil, args.WrongType(command, name, v, "string")
		}
		out = append(out, v.Clone().Str())
	}
	return out, nil
}

// changeAuth runs a change of users or roles, which takes effect with its commit.
func changeAuth(c *kernel.Call, fn func(cat *auth.Catalog) error) error {
	return changeAuthIn(c, func(_ storage.Tx, cat *auth.Catalog) error { return fn(cat) })
}

func changeAuthIn(c *kernel.Call, fn func(tx storage.Tx, cat *auth.Catalog) error) error {
	if c.Transaction() != nil {
		return mongoerr.Newf(mongoerr.OperationNotSupportedInTransaction, "Cannot run command %s in a multi-document transaction", c.Cmd.Name)
	}
	err := c.Update(func(tx storage.Tx) error { return fn(tx, c.Svc.Auth.In(tx, c.Now)) })
	return kernel.Translate(storage.Namespace{DB: "admin", Coll: "system.users"}, err)
}

func runCreateUser(c *kernel.Call) error {
	var a createUserArgs
	if err := createUserSpec.Decode(c.Body, &a); err != nil {
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
	doc, err := c.Svc.Auth.PrepareUser(&u)
	if err != nil {
		return err
	}
	return changeAuth(c, func(cat *auth.Catalog) error { return cat.CreateUser(doc) })
}

func runUpdateUser(c *kernel.Call) error {
	var a updateUserArgs
	if err := updateUserSpec.Decode(c.Body, &a); err != nil {
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
	if err := c.Svc.Auth.PrepareChange(n, p, &change); err != nil {
		return err
	}
	return changeAuth(c, func(cat *auth.Catalog) error { return cat.UpdateUser(n, &change) })
}

type dropUserArgs struct {
	User string `arg:"dropUser,required"`
}

var dropUserSpec = args.New[dropUserArgs]("dropUser")

func runDropUser(c *kernel.Call) error {
	var a dropUserArgs
	if err := dropUserSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return changeAuth(c, func(cat *auth.Catalog) error { return cat.DropUser(auth.Name{Name: a.User, DB: c.DB}) })
}

type dropAllUsersArgs struct {
	All value.Value `arg:"dropAllUsersFromDatabase,required"`
}

var dropAllUsersSpec = args.New[dropAllUsersArgs]("dropAllUsersFromDatabase")

func runDropAllUsers(c *kernel.Call) error {
	var a dropAllUsersArgs
	if err := dropAllUsersSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	var n int64
	err := changeAuth(c, func(cat *auth.Catalog) (err error) {
		n, err = cat.DropUsers(c.DB)
		return err
	})
	if err == nil {
		c.Reply.Int64("n", n)
	}
	return err
}

type userRolesArgs struct {
	Grant  string     `arg:"grantRolesToUser"`
	Revoke string     `arg:"revokeRolesFromUser"`
	Roles  args.Array `arg:"roles,required"`
}

var (
	grantUserSpec  = args.New[userRolesArgs]("grantRolesToUser")
	revokeUserSpec = args.New[userRolesArgs]("revokeRolesFromUser")
)

func runGrantRolesToUser(c *kernel.Call) error {
	var a userRolesArgs
	if err := grantUserSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	roles, err := someRoles(c, a.Roles)
	if err != nil {
		return err
	}
	return changeAuth(c, func(cat *auth.Catalog) error { return cat.GrantRoles(auth.Name{Name: a.Grant, DB: c.DB}, roles) })
}

func runRevokeRolesFromUser(c *kernel.Call) error {
	var a userRolesArgs
	if err := revokeUserSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	roles, err := someRoles(c, a.Roles)
	if err != nil {
		return err
	}
	return changeAuth(c, func(cat *auth.Catalog) error { return cat.RevokeRoles(auth.Name{Name: a.Revoke, DB: c.DB}, roles) })
}

// someRoles reads a list of roles that must not be empty.
func someRoles(c *kernel.Call, a args.Array) ([]auth.Name, error) {
	roles, err := auth.ParseRoles("roles", value.Doc(a), c.DB)
	if err == nil && len(roles) == 0 {
		err = mongoerr.Newf(mongoerr.BadValue, "%s command requires a non-empty \"roles\" array", c.Cmd.Name)
	}
	return roles, err
}

func runInvalidateUserCache(c *kernel.Call) error {
	c.Svc.Auth.Invalidate()
	return nil
}
