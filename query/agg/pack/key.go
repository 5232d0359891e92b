package pack

import (
	"strings"

	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// packKey is an expression whose value for all documents of a pack can be computed from
// the value that they share and from their first and last time.
type packKey struct {
	e            *expr.Expr
	shared, time string
	timed        bool // it reads the time
}

// newPackKey returns nil if the expression is of another kind. It may read only the
// shared field and, in functions that never decrease, the time.
func newPackKey(e *expr.Expr, shared, time string) *packKey {
	k := &packKey{e: e, shared: shared, time: time}
	ok := !e.Volatile() && len(e.Meta()) == 0
	e.Deps(func(path string) {
		switch {
		case within(path, shared):
		case path == time:
			k.timed = true
		default:
			ok = false
		}
	}, func() { ok = false })
	if !ok || k.timed && !rising(e.Value(), time) {
		return nil
	}
	return k
}

// value returns the key of all documents of a pack. ok is false if they may have
// different keys.
func (k *packKey) value(x *stage.Exec, p stage.Pack) (v value.Value, ok bool, err error) {
	if !k.timed {
		v, err = k.e.Eval(x.Env, k.sample(p, nil))
		return v, err == nil, err
	}
	from, last, known := p.Times()
	if !known {
		return v, false, nil
	}
	if v, err = k.e.Eval(x.Env, k.sample(p, &from)); err != nil {
		return v, false, err
	}
	w, err := k.e.Eval(x.Env, k.sample(p, &last))
	return v, err == nil && value.Equal(v, w), err
}

// sample returns a document with the fields that the documents of a pack share.
func (k *packKey) sample(p stage.Pack, time *int64) value.Doc {
	b := value.NewBuilder()
	if v := p.Shared(); !v.IsMissing() {
		b.Append(k.shared, v)
	}
	if time != nil {
		b.Date(k.time, *time)
	}
	return b.Doc()
}

// rising reports whether no part of an expression, as explain shows it, ever decreases
// as the time grows. Then, if it has the same value at two instants, it has this value
// at all instants between them.
func rising(v value.Value, time string) bool {
	switch v.Kind() {
	case value.KindString:
		return true // the time itself, or a value that does not depend on it
	case value.KindArray:
		return risingParts(v.Doc(), time)
	case value.KindDocument:
	default:
		return true
	}
	name, arg := v.Doc().First()
	switch {
	case !strings.HasPrefix(name, "$"):
		return risingParts(v.Doc(), time)
	case !speaksOf(arg, time):
		return true
	case name == "$dateTrunc":
		return truncates(arg, time)
	}
	return false
}

func risingParts(d value.Doc, time string) bool {
	for part := range d.Values() {
		if !rising(part, time) {
			return false
		}
	}
	return true
}

// truncates reports whether a $dateTrunc is applied to the time itself. Its time zone
// must have a fixed offset: when clocks are put back, the same hour comes twice.
func truncates(arg value.Value, time string) bool {
	if arg.Kind() != value.KindDocument {
		return false
	}
	for name, v := range arg.Doc().All() {
		switch {
		case name == "date":
			if v.Str() != "$"+time {
				return false
			}
		case speaksOf(v, time), name == "timezone" && !fixedZone(v):
			return false
		}
	}
	return true
}

// fixedZone reports whether a time zone is a constant distance from UTC.
func fixedZone(v value.Value) bool {
	if v.Kind() == value.KindDocument {
		name, c := v.Doc().First()
		if name != "$const" && name != "$literal" {
			return false
		}
		v = c
	}
	s := v.Str()
	return v.Kind() == value.KindString && (s == "UTC" || s == "GMT" || s == "Z" || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-"))
}

// speaksOf reports whether a string in an expression may name the time field.
func speaksOf(v value.Value, time string) bool {
	switch v.Kind() {
	case value.KindString:
		return strings.Contains(v.Str(), time) || strings.HasPrefix(v.Str(), "$$")
	case value.KindDocument, value.KindArray:
		for part := range v.Doc().Values() {
			if speaksOf(part, time) {
				return true
			}
		}
	}
	return false
}
