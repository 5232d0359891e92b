package flow

import (
	"strings"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// hasText reports whether a filter contains $text at the top or under a
// logical operator.
func hasText(filter value.Doc) bool {
	for k, v := range filter.All() {
		switch k {
		case "$text":
			return true
		case "$and", "$or", "$nor":
			for e := range v.Doc().Values() {
				if e.Kind() == value.KindDocument && hasText(e.Doc()) {
					return true
				}
			}
		}
	}
	return false
}

// Both returns the filter that requires two filters to match.
func Both(a, b value.Doc) value.Doc {
	switch {
	case a.IsEmpty():
		return b
	case b.IsEmpty():
		return a
	}
	return value.NewDoc("$and", value.NewArray(value.Document(a), value.Document(b)))
}

// Mentions reports whether v has a field of that name at any level.
func Mentions(v value.Value, name string) bool {
	if v.Kind() != value.KindDocument && v.Kind() != value.KindArray {
		return false
	}
	for k, e := range v.Doc().All() {
		if k == name || Mentions(e, name) {
			return true
		}
	}
	return false
}

// FilterPaths calls add with the paths that a filter reads. It returns false if
// they are unknown ($where, $text, $jsonSchema at the top level, …).
func FilterPaths(filter value.Doc, add func(string)) bool {
	for k, v := range filter.All() {
		switch {
		case k == "$comment" || k == "$sampleRate" || k == "$alwaysTrue" || k == "$alwaysFalse":
		case k == "$and" || k == "$or" || k == "$nor":
			for e := range v.Doc().Values() {
				if e.Kind() != value.KindDocument || !FilterPaths(e.Doc(), add) {
					return false
				}
			}
		case k == "$expr":
			if !expressionPaths(v, add) {
				return false
			}
		case k == "" || k[0] == '$':
			return false
		default:
			add(k)
		}
	}
	return true
}

// expressionPaths calls add with the paths that an $expr reads. The expression has
// already been compiled with its variables. If it does not compile without them, it
// is not analysed, and the result is false.
func expressionPaths(v value.Value, add func(string)) bool {
	e, err := expr.Compile(v, nil)
	if err != nil || e.Volatile() || len(e.Meta()) > 0 {
		return false
	}
	whole := false
	e.Deps(add, func() { whole = true })
	return !whole
}

// RefersTo reports whether a value contains a reference "$$name" to one of the
// variables.
func RefersTo(v value.Value, names map[string]bool) bool {
	switch v.Kind() {
	case value.KindString:
		s := v.Str()
		if !strings.HasPrefix(s, "$$") {
			return false
		}
		name, _, _ := strings.Cut(s[2:], ".")
		return names[name]
	case value.KindDocument, value.KindArray:
		for e := range v.Doc().Values() {
			if RefersTo(e, names) {
				return true
			}
		}
	}
	return false
}
