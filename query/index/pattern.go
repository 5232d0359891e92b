package index

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// maxPatternBytes is the size of the longest key pattern that mongod accepts.
const maxPatternBytes = 2048

// maxFields is the largest number of fields of an index.
const maxFields = 32

// wildcardSuffix ends the path of a wildcard field.
const wildcardSuffix = "$**"

func isWildcardPath(path string) bool {
	return path == wildcardSuffix || strings.HasSuffix(path, "."+wildcardSuffix)
}

// patternPlugin returns the plugin of a key pattern: its first string value,
// or "wildcard" if it has a wildcard field, or "".
func patternPlugin(key value.Doc) string {
	for name, v := range key.All() {
		if v.Kind() == value.KindString {
			return v.Str()
		}
		if isWildcardPath(name) {
			return Wildcard.String()
		}
	}
	return ""
}

func cannotCreate(format string, args ...any) *mongoerr.Error {
	return mongoerr.Newf(mongoerr.CannotCreateIndex, format, args...)
}

// checkPattern applies the rules for key patterns.
func checkPattern(key value.Doc) error {
	if len(key) > maxPatternBytes {
		return cannotCreate("Index key pattern too large.")
	}
	if key.IsEmpty() {
		return cannotCreate("Index keys cannot be empty.")
	}
	plugin := patternPlugin(key)
	if err := checkPlugin(key, plugin); err != nil {
		return err
	}
	for name, v := range key.All() {
		if err := checkPatternValue(v, plugin); err != nil {
			return err
		}
		if err := checkPatternPath(name, v, plugin); err != nil {
			return err
		}
	}
	return nil
}

// checkPlugin checks that the plugin exists and that its fields may be
// combined.
func checkPlugin(key value.Doc, plugin string) error {
	switch plugin {
	case "":
		return nil
	case "geoHaystack":
		return cannotCreate("GeoHaystack indexes cannot be created in version 5.0 and above")
	case "columnstore":
		return cannotCreate("Columnstore indexes cannot be created")
	}
	if _, ok := kindByPlugin(plugin); !ok {
		return cannotCreate("Unknown index plugin '%s'", plugin)
	}
	if plugin == Wildcard.String() {
		return checkWildcardPattern(key)
	}
	return nil
}

// checkPatternValue checks the value of one field of a key pattern: a
// direction or a plugin.
func checkPatternValue(v value.Value, plugin string) error {
	switch {
	case v.IsNaN():
		return cannotCreate("Values in the index key pattern cannot be NaN.")
	case v.IsNumber():
		if value.Equal(v, value.Int32(0)) {
			return cannotCreate("Values in the index key pattern cannot be 0.")
		}
		return nil
	case v.Kind() != value.KindString:
		return cannotCreate("Values in v:2 index key pattern cannot be of type %s. Only numbers > 0, numbers < 0, and strings are allowed.", v.Kind())
	case v.Str() == "":
		return cannotCreate("Unknown index plugin ''")
	case v.Str() != plugin:
		return cannotCreate("Can't use more than one index plugin for a single index.")
	case plugin == Wildcard.String():
		return cannotCreate("The key pattern value for an 'wildcard' index must be a non-zero number, not a string.")
	}
	return nil
}

// checkPatternPath checks the path of one field of a key pattern.
func checkPatternPath(path string, v value.Value, plugin string) error {
	if path == "" {
		return cannotCreate("Index keys cannot be an empty field.")
	}
	if path == wildcardSuffix && (v.IsNumber() || v.Str() == Text.String()) {
		return nil
	}
	if path == ftsField && v.Str() != Text.String() {
		return cannotCreate("Index key contains an illegal field name: '_fts'")
	}
	parts := strings.Split(path, ".")
	for i, part := range parts {
		if part == "" {
			return cannotCreate("Index keys cannot contain an empty field.")
		}
		if part[0] != '$' {
			continue
		}
		dbRef := i > 0 && (part == "$db" || part == "$id" || part == "$ref")
		wildcard := i == len(parts)-1 && part == wildcardSuffix && plugin == Wildcard.String()
		if !dbRef && !wildcard {
			return cannotCreate("Index key contains an illegal field name: field name starts with '$'.")
		}
	}
	return nil
}

// patternFields compiles a checked key pattern. The pair _fts, _ftsx of a
// text index is one field.
func patternFields(key value.Doc) (fields []Field, special Kind) {
	for name, v := range key.All() {
		name = strings.Clone(name)
		f := Field{Path: name, Desc: v.IsNumber() && value.Compare(v, value.Int32(0)) < 0}
		switch {
		case v.Kind() == value.KindString:
			f.Kind, _ = kindByPlugin(v.Str())
		case isWildcardPath(name):
			f.Kind = Wildcard
			f.Path = strings.TrimSuffix(strings.TrimSuffix(name, wildcardSuffix), ".")
		case name == ftsxField && special == Text:
			continue
		}
		if f.Kind != Plain {
			special = f.Kind
		}
		f.path = value.ParsePath(f.Path)
		fields = append(fields, f)
	}
	return fields, special
}
