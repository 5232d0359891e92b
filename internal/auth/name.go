package auth

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Name names a user or a role within the database it was created in.
type Name struct{ Name, DB string }

// External is the database of users with external credentials, such as X.509
// certificates.
const External = "$external"

// String returns "name@db", as messages write it.
func (n Name) String() string { return n.Name + "@" + n.DB }

// ID returns "db.name", the _id of the document.
func (n Name) ID() string { return n.DB + "." + n.Name }

// ParseID splits "db.name".
func ParseID(id string) (Name, error) {
	db, name, ok := strings.Cut(id, ".")
	if !ok {
		return Name{}, mongoerr.New(mongoerr.BadValue, "UserName must contain a '.' separated database.user pair")
	}
	return Name{Name: name, DB: db}, nil
}

// compare orders names by name, then database.
func (n Name) compare(m Name) int {
	if c := strings.Compare(n.Name, m.Name); c != 0 {
		return c
	}
	return strings.Compare(n.DB, m.DB)
}

// ParseRoles reads an array of roles as commands take it: a string is a role
// of the database db, a document {role, db} one of any. field names the array
// in messages. Repetitions are dropped.
func ParseRoles(field string, array value.Doc, db string) ([]Name, error) {
	return parseNames(field, "role", array, db)
}

// parseNames reads an array of names; key is the field of the name in a
// document, "user" or "role".
func parseNames(field, key string, array value.Doc, db string) ([]Name, error) {
	names := []Name{}
	seen := map[Name]bool{}
	for v := range array.Values() {
		n, err := parseName(field, key, v, db)
		if err != nil {
			return nil, err
		}
		if !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	return names, nil
}

// parseName reads one name, a string or {user or role, db}.
func parseName(field, key string, v value.Value, db string) (Name, error) {
	switch v.Kind() {
	case value.KindString:
		return Name{Name: strings.Clone(v.Str()), DB: db}, nil
	case value.KindDocument:
		d := v.Doc()
		name, ok := d.Get(key)
		if !ok {
			return Name{}, mongoerr.Newf(mongoerr.BadValue, "Missing expected field \"%s\"", key)
		}
		of, ok := d.Get("db")
		if !ok {
			return Name{}, mongoerr.New(mongoerr.BadValue, "Missing expected field \"db\"")
		}
		for _, part := range []value.Value{name, of} {
			if part.Kind() != value.KindString {
				return Name{}, mongoerr.Newf(mongoerr.TypeMismatch, "%s names must have string \"%s\" and \"db\" fields", key, key)
			}
		}
		return Name{Name: strings.Clone(name.Str()), DB: strings.Clone(of.Str())}, nil
	}
	return Name{}, mongoerr.Newf(mongoerr.BadValue, "%s values in '%s' must be strings or objects", key, field)
}

// ReadName reads the name of a user or a role that a client asks about: a string, or
// {user or role, db}, which has no other field if it is a user. key is "user" or "role".
func ReadName(key string, v value.Value, db string) (n Name, err error) {
	title := strings.ToUpper(key[:1]) + key[1:] + "Name"
	switch v.Kind() {
	case value.KindString:
		return Name{Name: strings.Clone(v.Str()), DB: db}, nil
	case value.KindDocument:
	default:
		return n, mongoerr.Newf(mongoerr.BadValue, "%s must be either a string or an object", title)
	}
	parts := map[string]*string{key: &n.Name, "db": &n.DB}
	given := map[string]bool{}
	for name, part := range v.Doc().All() {
		switch {
		case parts[name] == nil && key == "user":
			return n, mongoerr.Newf(mongoerr.BadValue, "%s contains an unknown field named: '%s", title, name)
		case parts[name] == nil:
			continue
		case part.Kind() != value.KindString:
			return n, mongoerr.Newf(mongoerr.BadValue, "%s must contain a string field named: %s. But, has type %s", title, name, part.Kind())
		case given[name]:
			return n, mongoerr.Newf(mongoerr.BadValue, "%s has more than one field named: %s", title, name)
		}
		given[name], *parts[name] = true, strings.Clone(part.Str())
	}
	for _, name := range []string{key, "db"} {
		if !given[name] {
			return n, mongoerr.Newf(mongoerr.BadValue, "%s must contain a field named: %s", title, name)
		}
	}
	return n, nil
}

// appendNames writes an array of {role, db}.
func appendNames(b *value.Builder, field string, names []Name) {
	b.StartArray(field)
	for _, n := range names {
		b.StartDocument("").String("role", n.Name).String("db", n.DB).End()
	}
	b.End()
}

// storedNames reads an array of {role, db} as it is stored.
func storedNames(array value.Doc) (names []Name) {
	for v := range array.Values() {
		d := v.Doc()
		names = append(names, Name{Name: strings.Clone(d.Lookup("role").Str()), DB: strings.Clone(d.Lookup("db").Str())})
	}
	return names
}
