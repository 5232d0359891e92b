package auth

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// User is a logged-in user with the user's privileges. It is immutable.
type User struct {
	Name       Name
	ID         [16]byte // userId, which distinguishes a user from a later one with the same name
	Roles      []Name   // granted directly
	Inherited  []Name   // all roles, the direct ones among them
	Privileges []Privilege

	set     privilegeSet
	version version // version of the users and roles it was made of; zero: unknown
}

// May reports whether the user may do an action on a target. A nil user may do
// nothing.
func (u *User) May(on Pattern, a Action) bool { return u != nil && u.set.may(on, a) }

// MayEverything reports whether the user may do every action on every
// resource, as with the role __system.
func (u *User) MayEverything() bool {
	return u != nil && u.set[Pattern{kind: onAnything}] == allActions()
}

// MayAnything reports whether the user may do any action on a resource.
func (u *User) MayAnything(on Pattern) bool { return u != nil && u.set.mayAnything(on) }

// MayIn reports whether the user may do any action in a database.
func (u *User) MayIn(db string) bool { return u != nil && u.set.mayIn(db) }

// HasRole reports whether the user has a role, directly or by inheritance.
func (u *User) HasRole(n Name) bool { return u != nil && contains(u.Inherited, n) }

// Visitor returns a user without a name, for the localhost exception.
func Visitor(privileges ...Privilege) *User {
	return &User{Privileges: privileges, set: newPrivilegeSet(privileges)}
}

// Grant returns a privilege for actions given by name.
func Grant(on Pattern, actions ...string) Privilege {
	return Privilege{On: on, Actions: actionsOf(actions...)}
}

// userName reads the name out of a user's document.
func userName(d value.Doc) Name {
	return Name{Name: strings.Clone(d.Lookup("user").Str()), DB: strings.Clone(d.Lookup("db").Str())}
}

// userOf compiles a user's document.
func (c *Catalog) userOf(d value.Doc) (*User, inherited, error) {
	u := &User{Name: userName(d), Roles: storedNames(d.Lookup("roles").Doc())}
	if _, id := d.Lookup("userId").Binary(); len(id) == len(u.ID) {
		copy(u.ID[:], id)
	}
	in, err := c.resolve(u.Roles)
	if err != nil {
		return nil, in, err
	}
	u.Inherited, u.Privileges, u.set = in.names(), in.privileges, newPrivilegeSet(in.privileges)
	return u, in, nil
}

// NewUser describes a user to create.
type NewUser struct {
	Name         Name
	Password     *Password // nil for users of $external
	CustomData   value.Doc
	Roles        []Name
	Restrictions value.Doc // authenticationRestrictions, an array
	Mechanisms   []string
}

// PrepareUser validates a new user and builds its document: the slow part of
// creating a user.
func (m *Manager) PrepareUser(u *NewUser) (value.Doc, error) {
	switch external := u.Name.DB == External; {
	case u.Name.Name == "":
		return nil, mongoerr.New(mongoerr.BadValue, "User document needs 'user' field to be non-empty")
	case strings.ContainsRune(u.Name.Name, 0):
		return nil, mongoerr.New(mongoerr.BadValue, "Username cannot contain NULL characters")
	case u.Name.DB == "local":
		return nil, mongoerr.New(mongoerr.BadValue, "Cannot create users in the local database")
	case u.Password == nil && !external:
		if err := m.checkMechanisms(u.Mechanisms); err != nil {
			return nil, err
		}
		return nil, mongoerr.New(mongoerr.BadValue, "Must provide a 'pwd' field for all user documents, except those with '$external' as the user's source db")
	case u.Password != nil && external:
		return nil, mongoerr.New(mongoerr.BadValue, "Cannot set the password for users defined on the '$external' database")
	}
	credentials := value.NewDoc("external", value.Bool(true))
	if u.Password != nil {
		var err error
		if credentials, err = m.credentials(u.Name.Name, *u.Password); err != nil {
			return nil, err
		}
	}
	id := uuid.New()
	b := value.NewBuilder()
	b.String("_id", u.Name.ID()).Append("userId", value.Binary(4, id[:])).String("user", u.Name.Name).String("db", u.Name.DB)
	b.Document("credentials", credentials)
	if len(u.Restrictions) > 0 && !u.Restrictions.IsEmpty() {
		b.Array("authenticationRestrictions", u.Restrictions)
	}
	if u.CustomData != nil {
		b.Document("customData", u.CustomData)
	}
	appendNames(b, "roles", u.Roles)
	return b.Doc(), nil
}

// CreateUser stores the document of a new user.
func (c *Catalog) CreateUser(d value.Doc) error {
	if err := c.checkRoles(storedNames(d.Lookup("roles").Doc())); err != nil {
		return err
	}
	n := userName(d)
	if old, err := c.User(n); old != nil || err != nil {
		if err != nil {
			return err
		}
		return mongoerr.Newf(51003, "User \"%s\" already exists", n)
	}
	return c.put(usersNS, d)
}

// checkRoles refuses roles that do not exist.
func (c *Catalog) checkRoles(names []Name) error {
	for _, n := range names {
		r, err := c.Role(n)
		if err != nil {
			return err
		}
		if r == nil {
			return roleNotFound(n)
		}
	}
	return nil
}

// UserChange holds the parts that UpdateUser replaces; nil leaves a part
// unchanged.
type UserChange struct {
	Credentials  value.Doc
	Mechanisms   []string // without new credentials: which to keep
	CustomData   value.Doc
	Roles        []Name
	Restrictions value.Doc
}

// PrepareChange validates a change and computes the credentials of a new
// password.
func (m *Manager) PrepareChange(n Name, p *Password, change *UserChange) (err error) {
	switch {
	case p == nil && change.Mechanisms == nil && change.CustomData == nil && change.Roles == nil && change.Restrictions == nil:
		return mongoerr.New(mongoerr.BadValue, "Must specify at least one field to update in updateUser")
	case p != nil && n.DB == External:
		return mongoerr.New(mongoerr.BadValue, "Cannot set the password for users defined on the '$external' database")
	case p != nil:
		change.Credentials, err = m.credentials(n.Name, *p)
		return err
	}
	return m.checkMechanisms(change.Mechanisms)
}

// UpdateUser replaces parts of a user.
func (c *Catalog) UpdateUser(n Name, change *UserChange) error {
	d, err := c.User(n)
	if err != nil {
		return err
	}
	if d == nil {
		return mongoerr.Newf(mongoerr.UserNotFound, "User %s not found", n)
	}
	if err := c.checkRoles(change.Roles); err != nil {
		return err
	}
	credentials := d.Lookup("credentials").Doc()
	switch {
	case change.Credentials != nil:
		credentials = change.Credentials
	case change.Mechanisms != nil:
		if credentials, err = trim(credentials, change.Mechanisms); err != nil {
			return err
		}
	}
	return c.put(usersNS, change.apply(d, credentials))
}

// apply returns the changed document.
func (change *UserChange) apply(d, credentials value.Doc) value.Doc {
	b := value.NewBuilder()
	for it := d.Iter(); it.Next(); {
		switch it.Key() {
		case "credentials", "customData", "authenticationRestrictions", "roles":
		default:
			b.Raw(it.Element())
		}
	}
	b.Document("credentials", credentials)
	restrictions := pickDoc(change.Restrictions, d.Lookup("authenticationRestrictions").Doc())
	if restrictions != nil && !restrictions.IsEmpty() {
		b.Array("authenticationRestrictions", restrictions)
	}
	if data := pickDoc(change.CustomData, d.Lookup("customData").Doc()); data != nil {
		b.Document("customData", data)
	}
	roles := change.Roles
	if roles == nil {
		roles = storedNames(d.Lookup("roles").Doc())
	}
	appendNames(b, "roles", roles)
	return b.Doc()
}

func pickDoc(a, b value.Doc) value.Doc {
	if a != nil {
		return a
	}
	return b
}

// trim keeps the credentials of some mechanisms.
func trim(credentials value.Doc, keep []string) (value.Doc, error) {
	for _, name := range keep {
		if !credentials.Has(name) {
			return nil, mongoerr.New(mongoerr.BadValue, "mechanisms field must be a subset of previously set mechanisms")
		}
	}
	b := value.NewBuilder()
	for name, v := range credentials.All() {
		if slices.Contains(keep, name) {
			b.Append(name, v)
		}
	}
	return b.Doc(), nil
}

// existing reads the document of a user that must exist.
func (c *Catalog) existing(n Name) (value.Doc, error) {
	d, err := c.User(n)
	if err == nil && d == nil {
		err = mongoerr.Newf(mongoerr.UserNotFound, "Could not find user \"%s\" for db \"%s\"", n.Name, n.DB)
	}
	return d, err
}

// GrantRoles gives roles to a user.
func (c *Catalog) GrantRoles(n Name, roles []Name) error {
	d, err := c.existing(n)
	if err != nil {
		return err
	}
	if err := c.checkRoles(roles); err != nil {
		return err
	}
	return c.put(usersNS, withRoles(d, union(storedNames(d.Lookup("roles").Doc()), roles)))
}

// RevokeRoles takes roles from a user.
func (c *Catalog) RevokeRoles(n Name, roles []Name) error {
	d, err := c.existing(n)
	if err != nil {
		return err
	}
	if err := c.checkRoles(roles); err != nil {
		return err
	}
	return c.put(usersNS, withRoles(d, without(storedNames(d.Lookup("roles").Doc()), roles)))
}

// DropUser removes a user.
func (c *Catalog) DropUser(n Name) error {
	d, err := c.User(n)
	if err != nil {
		return err
	}
	if d == nil {
		return mongoerr.Newf(mongoerr.UserNotFound, "User '%s' not found", n)
	}
	return c.remove(usersNS, n)
}

// DropUsers removes all users of a database and returns their number.
func (c *Catalog) DropUsers(db string) (n int64, err error) {
	users, err := c.Users(db)
	if err != nil || db == "" {
		return 0, err
	}
	for _, d := range users {
		if err := c.remove(usersNS, userName(d)); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
