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

// Both is the filter that asks for two.
func Both(a, b value.Doc) value.Doc {
	switch {
	case a.IsEmpty():
		return b
	case b.IsEmpty():
		return a
	}
	return value.NewDoc("$and", value.NewArray(value.Document(a), value.Document(b)))
}

// Mentions reports whether a field of that name stands anywhere in v.
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

// FilterPaths reports the paths that a filter reads; false if they cannot be
// told ($where, $text, $jsonSchema at the top, …).
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

// expressionPaths reports the paths an $expr reads. The expression was
// compiled before with its variables, so here unknown ones do not matter:
// an expression that does not compile alone is simply not analysed.
func expressionPaths(v value.Value, add func(string)) bool {
	e, err := expr.Compile(v, nil)
	if err != nil || e.Volatile() || len(e.Meta()) > 0 {
		return false
	}
	whole := false
	e.Deps(add, func() { whole = true })
	return !whole
}

// RefersTo reports whether a value mentions one of the variables: "$$name".
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
