package users

import (
	"slices"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// asked has the users or roles that usersInfo and rolesInfo describe.
type asked struct {
	all   bool // whether all of this database are shown
	every bool // whether all of every database are shown: {forAllDBs: true}
	names []auth.Name
}

// askedFor reads the argument: 1, a name, a list of names, {forAllDBs:
// true}. key is "user" or "role".
func askedFor(c *kernel.Call, key string, v value.Value) (a asked, err error) {
	switch {
	case v.IsNumber():
		if n, ok := v.AsInt64(); !ok || n != 1 {
			return a, mongoerr.Newf(mongoerr.BadValue, "%s argument must be 1, a name, or an array of names", c.Cmd.Name)
		}
		a.all = true
		return a, nil
	case v.Kind() == value.KindArray:
		for e := range v.Doc().Values() {
			n, err := auth.ReadName(key, e, c.DB)
			if err != nil {
				return a, err
			}
			a.names = append(a.names, n)
		}
		if a.names == nil {
			return a, mongoerr.Newf(mongoerr.BadValue, "%s argument must not be an empty array", c.Cmd.Name)
		}
		return a, nil
	case key == "user" && v.Kind() == value.KindDocument && v.Doc().Has("forAllDBs"):
		if !v.Doc().Lookup("forAllDBs").Truthy() || v.Doc().Len() != 1 {
			return a, mongoerr.New(mongoerr.BadValue, "forAllDBs must be true and stand alone")
		}
		a.every = true
		return a, nil
	}
	n, err := auth.ReadName(key, v, c.DB)
	a.names = []auth.Name{n}
	return a, err
}

type usersInfoArgs struct {
	Users        value.Value    `arg:"usersInfo,required"`
	Privileges   args.LooseBool `arg:"showPrivileges"`
	Credentials  args.LooseBool `arg:"showCredentials"`
	Restrictions args.LooseBool `arg:"showAuthenticationRestrictions"`
	CustomData   *bool          `arg:"showCustomData"`
	Filter       value.Doc      `arg:"filter"`
}

var usersInfoSpec = args.New[usersInfoArgs]("usersInfo")

func runUsersInfo(c *kernel.Call) error {
	var a usersInfoArgs
	if err := usersInfoSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	who, err := askedFor(c, "user", a.Users)
	if err != nil {
		return err
	}
	if (bool(a.Privileges) || bool(a.Restrictions)) && (who.names == nil || a.Filter != nil) {
		return mongoerr.New(mongoerr.IllegalOperation, "Privilege or restriction details require exact-match usersInfo queries")
	}
	var m *match.Matcher
	if a.Filter != nil {
		if m, err = match.Compile(a.Filter, match.Options{Scope: c.Svc.RootScope()}); err != nil {
			return err
		}
	}
	show := auth.Shown{
		Privileges: bool(a.Privileges), Credentials: bool(a.Credentials), Restrictions: bool(a.Restrictions),
		CustomData: a.CustomData == nil || *a.CustomData,
	}
	var docs []value.Doc
	err = c.View(func(tx storage.Tx) (err error) {
		docs, err = describeUsers(c, c.Svc.Auth.In(tx, c.Now), who, show, m)
		return err
	})
	if err != nil {
		return err
	}
	replyDocs(c, "users", docs)
	return nil
}

func describeUsers(c *kernel.Call, cat *auth.Catalog, who asked, show auth.Shown, m *match.Matcher) (docs []value.Doc, err error) {
	var found []value.Doc
	switch {
	case who.every:
		found, err = cat.Users("")
	case who.all:
		found, err = cat.Users(c.DB)
	default:
		found, err = usersNamed(cat, who.names)
	}
	if err != nil {
		return nil, err
	}
	env := expr.NewEnv(c.Now)
	for _, d := range found {
		shown, err := cat.DescribeUser(d, show)
		if err != nil {
			return nil, err
		}
		if m != nil {
			ok, err := m.Match(env, shown)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
		}
		docs = append(docs, shown)
	}
	return docs, nil
}

func usersNamed(cat *auth.Catalog, names []auth.Name) (docs []value.Doc, err error) {
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			continue
		}
		d, err := cat.User(n)
		if err != nil {
			return nil, err
		}
		if d != nil {
			docs = append(docs, d)
		}
	}
	return docs, nil
}

func replyDocs(c *kernel.Call, name string, docs []value.Doc) {
	c.Reply.StartArray(name)
	for _, d := range docs {
		c.Reply.Document("", d)
	}
	c.Reply.End()
}

type rolesInfoArgs struct {
	Roles        value.Value    `arg:"rolesInfo,required"`
	Privileges   value.Value    `arg:"showPrivileges"`
	Builtin      args.LooseBool `arg:"showBuiltinRoles"`
	Restrictions args.LooseBool `arg:"showAuthenticationRestrictions"`
}

var rolesInfoSpec = args.New[rolesInfoArgs]("rolesInfo")

func runRolesInfo(c *kernel.Call) error {
	var a rolesInfoArgs
	if err := rolesInfoSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	who, err := askedFor(c, "role", a.Roles)
	if err != nil {
		return err
	}
	fragment := a.Privileges.Kind() == value.KindString && a.Privileges.Str() == "asUserFragment"
	if k := a.Privileges.Kind(); !fragment && !a.Privileges.IsMissing() && k != value.KindBool && !a.Privileges.IsNumber() {
		return mongoerr.Newf(mongoerr.FailedToParse, "Failed to parse 'showPrivileges'. 'showPrivileges' should either be a boolean or the string 'asUserFragment', given %s", a.Privileges)
	}
	var docs []value.Doc
	var whole value.Doc
	err = c.View(func(tx storage.Tx) (err error) {
		cat := c.Svc.Auth.In(tx, c.Now)
		if fragment {
			if who.all {
				return mongoerr.New(mongoerr.IllegalOperation, "Cannot get user fragment for all roles in a database")
			}
			whole, err = cat.DescribeFragment(who.names)
			return err
		}
		show := auth.Shown{Privileges: a.Privileges.Truthy(), Restrictions: bool(a.Restrictions)}
		docs, err = describeRoles(c, cat, who, bool(a.Builtin), show)
		return err
	})
	if err != nil {
		return err
	}
	if fragment {
		c.Reply.Document("userFragment", whole)
		return nil
	}
	replyDocs(c, "roles", docs)
	return nil
}

func describeRoles(c *kernel.Call, cat *auth.Catalog, who asked, builtin bool, show auth.Shown) (docs []value.Doc, err error) {
	var found []*auth.Role
	if who.all {
		if found, err = cat.Roles(c.DB, builtin); err != nil {
			return nil, err
		}
	}
	for i, n := range who.names {
		r, err := cat.Role(n)
		if err != nil {
			return nil, err
		}
		if r != nil && !slices.Contains(who.names[:i], n) {
			found = append(found, r)
		}
	}
	for _, r := range found {
		d, err := cat.DescribeRole(r, show)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}
