package auth

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Privilege allows actions on a resource.
type Privilege struct {
	On      Pattern
	Actions Actions
}

// ParsePrivileges reads the privileges of a role: [{resource, actions}].
func ParsePrivileges(array value.Doc) ([]Privilege, error) {
	out := []Privilege{}
	var unknown []string
	for v := range array.Values() {
		if v.Kind() != value.KindDocument {
			return nil, mongoerr.Newf(mongoerr.TypeMismatch, "BSON field 'privileges' is the wrong type '%s', expected type 'object'", v.Kind())
		}
		p, bad, err := parsePrivilege(v.Doc())
		if err != nil {
			return nil, err
		}
		unknown = append(unknown, bad...)
		out = append(out, p)
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return nil, mongoerr.Newf(mongoerr.BadValue, "Unrecognized action privilege strings: %s", strings.Join(slices.Compact(unknown), ","))
	}
	return addPrivileges(out[:0:0], out...), nil
}

// parsePrivilege reads {resource, actions}; unknown lists actions that do not
// exist.
func parsePrivilege(d value.Doc) (p Privilege, unknown []string, err error) {
	for name := range d.All() {
		if name != "resource" && name != "actions" {
			return p, nil, mongoerr.UnknownField("privilege." + name)
		}
	}
	resource, actions := d.Lookup("resource"), d.Lookup("actions")
	if resource.IsMissing() {
		return p, nil, mongoerr.MissingField("privilege.resource")
	}
	if actions.IsMissing() {
		return p, nil, mongoerr.MissingField("privilege.actions")
	}
	if resource.Kind() != value.KindDocument {
		return p, nil, mongoerr.Newf(mongoerr.TypeMismatch, "BSON field 'privilege.resource' is the wrong type '%s', expected type 'object'", resource.Kind())
	}
	if actions.Kind() != value.KindArray {
		return p, nil, mongoerr.Newf(mongoerr.TypeMismatch, "BSON field 'privilege.actions' is the wrong type '%s', expected type 'array'", actions.Kind())
	}
	if p.On, err = ParsePattern(resource.Doc()); err != nil {
		return p, nil, err
	}
	for v := range actions.Doc().Values() {
		a, ok := ActionOf(v.Str())
		switch {
		case !ok:
			unknown = append(unknown, strings.Clone(v.Str()))
		case a.String() == "anyAction":
			p.Actions = allActions()
		default:
			p.Actions.add(a)
		}
	}
	if p.Actions.isEmpty() && unknown == nil {
		return p, nil, mongoerr.New(mongoerr.BadValue, "actions array cannot be empty")
	}
	return p, unknown, nil
}

// addPrivileges adds to the privileges on the same resources, if there are any.
func addPrivileges(list []Privilege, more ...Privilege) []Privilege {
	at := make(map[Pattern]int, len(list))
	for i := range list {
		if _, twice := at[list[i].On]; !twice {
			at[list[i].On] = i
		}
	}
	for _, p := range more {
		if i, ok := at[p.On]; ok {
			list[i].Actions.addAll(p.Actions)
			continue
		}
		at[p.On] = len(list)
		list = append(list, p)
	}
	return list
}

// removePrivileges takes actions away from the privileges on the same resources.
func removePrivileges(list, less []Privilege) []Privilege {
	actions := newPrivilegeSet(less)
	for i := range list {
		if taken, ok := actions[list[i].On]; ok {
			list[i].Actions.removeAll(taken)
		}
	}
	return slices.DeleteFunc(list, func(p Privilege) bool { return p.Actions.isEmpty() })
}

// AppendPrivileges writes an array of privileges.
func AppendPrivileges(b *value.Builder, field string, list []Privilege) {
	b.StartArray(field)
	for _, p := range list {
		b.StartDocument("").Document("resource", p.On.doc())
		b.StartArray("actions")
		for _, name := range p.Actions.names() {
			b.String("", name)
		}
		b.End()
		b.End()
	}
	b.End()
}

// privilegeSet is a list of privileges, by pattern.
type privilegeSet map[Pattern]Actions

func newPrivilegeSet(list []Privilege) privilegeSet {
	s := privilegeSet{}
	for _, p := range list {
		actions := s[p.On]
		actions.addAll(p.Actions)
		s[p.On] = actions
	}
	return s
}

// may reports whether the action is allowed on the target.
func (s privilegeSet) may(target Pattern, a Action) bool {
	var space [8]Pattern
	for _, p := range target.matching(space[:0]) {
		if actions, ok := s[p]; ok && actions.Has(a) {
			return true
		}
	}
	return false
}

// mayAnything reports whether any action is allowed on the target.
func (s privilegeSet) mayAnything(target Pattern) bool {
	var space [8]Pattern
	for _, p := range target.matching(space[:0]) {
		if actions, ok := s[p]; ok && !actions.isEmpty() {
			return true
		}
	}
	return false
}

// mayIn reports whether any action is allowed on anything in a database.
func (s privilegeSet) mayIn(db string) bool {
	for p := range s {
		if p.touches(db) {
			return true
		}
	}
	return false
}
