package auth

import (
	"slices"

	"github.com/duskdb/duskdb/value"
)

// Shown selects the content of the replies to usersInfo and rolesInfo.
type Shown struct {
	Credentials  bool
	Privileges   bool
	Restrictions bool
	CustomData   bool
}

// DescribeUser returns the entry of usersInfo for a user's document.
func (c *Catalog) DescribeUser(d value.Doc, show Shown) (value.Doc, error) {
	b := value.NewBuilder()
	for it := d.Iter(); it.Next(); {
		switch it.Key() {
		case "credentials":
			if show.Credentials {
				b.Raw(it.Element())
			}
		case "customData":
			if show.CustomData {
				b.Raw(it.Element())
			}
		case "authenticationRestrictions":
		default:
			b.Raw(it.Element())
		}
	}
	b.StartArray("mechanisms")
	for name := range d.Lookup("credentials").Doc().All() {
		b.String("", name)
	}
	b.End()
	if show.Restrictions {
		appendRestrictions(b, "authenticationRestrictions", []value.Doc{d.Lookup("authenticationRestrictions").Doc()})
	}
	if !show.Privileges && !show.Restrictions {
		return b.Doc(), nil
	}
	in, err := c.resolve(storedNames(d.Lookup("roles").Doc()))
	if err != nil {
		return nil, err
	}
	appendNames(b, "inheritedRoles", in.names())
	if show.Privileges {
		AppendPrivileges(b, "inheritedPrivileges", in.privileges)
	}
	if show.Restrictions {
		appendSets(b, "inheritedAuthenticationRestrictions", in.restrictions)
	}
	return b.Doc(), nil
}

// appendRestrictions writes the restrictions of all sets as one array.
func appendRestrictions(b *value.Builder, field string, sets []value.Doc) {
	b.StartArray(field)
	for _, set := range sets {
		for v := range set.Values() {
			b.Append("", v)
		}
	}
	b.End()
}

// appendSets writes an array of sets of restrictions.
func appendSets(b *value.Builder, field string, sets []value.Doc) {
	b.StartArray(field)
	for _, set := range sets {
		b.Array("", set)
	}
	b.End()
}

// DescribeRole returns the entry of rolesInfo for a role.
func (c *Catalog) DescribeRole(r *Role, show Shown) (value.Doc, error) {
	in, err := c.resolve(r.Roles)
	if err != nil {
		return nil, err
	}
	b := value.NewBuilder()
	if !r.Builtin {
		b.String("_id", r.Name.ID())
	}
	b.String("role", r.Name.Name).String("db", r.Name.DB)
	appendNames(b, "roles", r.Roles)
	appendNames(b, "inheritedRoles", in.names())
	b.Bool("isBuiltin", r.Builtin)
	if show.Privileges {
		AppendPrivileges(b, "privileges", r.Privileges)
		AppendPrivileges(b, "inheritedPrivileges", addPrivileges(slices.Clone(r.Privileges), in.privileges...))
	}
	if show.Restrictions {
		appendRestrictions(b, "authenticationRestrictions", []value.Doc{r.Restrictions})
		appendSets(b, "inheritedAuthenticationRestrictions", append([]value.Doc{}, in.restrictions...))
	}
	return b.Doc(), nil
}

// DescribeFragment returns the reply to rolesInfo with showPrivileges:
// "asUserFragment": the privileges of a user with these roles.
func (c *Catalog) DescribeFragment(names []Name) (value.Doc, error) {
	in, err := c.resolve(names)
	if err != nil {
		return nil, err
	}
	b := value.NewBuilder()
	appendNames(b, "roles", names)
	appendNames(b, "inheritedRoles", in.names())
	AppendPrivileges(b, "inheritedPrivileges", in.privileges)
	appendSets(b, "inheritedAuthenticationRestrictions", in.restrictions)
	return b.Doc(), nil
}

// AppendRoles writes an array of {role, db}.
func AppendRoles(b *value.Builder, field string, names []Name) { appendNames(b, field, names) }
