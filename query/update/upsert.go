package update

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// ForUpsert returns the document that an upsert inserts if no document
// matched: it applies the update to the equalities of the query (for a
// replacement only to the _id) and adds an _id from newID if it is missing.
// The _id comes first.
func (u *Update) ForUpsert(env *expr.Env, m *match.Matcher, newID func() value.OID) (value.Doc, error) {
	base, err := u.fromQuery(env, m)
	if err != nil {
		return nil, err
	}
	d, _, err := u.Apply(env, base, ApplyOptions{Position: -1, Insert: true})
	if err != nil {
		return nil, err
	}
	d = withIDFirst(d, newID)
	if err := checkStored(d); err != nil {
		return nil, err
	}
	if err := tooLarge(len(d)); err != nil {
		return nil, err
	}
	if len(d) > MaxDocumentSize {
		return nil, mongoerr.Newf(17420, "Document to upsert is larger than %d", MaxDocumentSize)
	}
	return d, nil
}

// equality is one field that the query fixes.
type equality struct {
	path  string
	parts []string
	value value.Value
}

// fromQuery makes the document of the query's equalities.
func (u *Update) fromQuery(env *expr.Env, m *match.Matcher) (value.Doc, error) {
	if m == nil {
		return value.EmptyDoc, nil
	}
	equalities, err := u.equalities(m)
	if err != nil {
		return nil, err
	}
	c := &compiler{root: &object{}}
	for _, e := range equalities {
		c.setPath(e)
	}
	seal(c.root)
	seed := &Update{root: c.root}
	d, _, err := seed.modify(env, value.EmptyDoc, ApplyOptions{Position: -1, Insert: true})
	return d, err
}

// equalities lists the equalities of the query, and refuses paths that
// conflict with each other.
func (u *Update) equalities(m *match.Matcher) ([]equality, error) {
	var all []equality
	for path, v := range m.Equalities() {
		e := equality{path, strings.Split(path, "."), v}
		if len(e.parts) > maxPathLength {
			return nil, errTooDeep
		}
		if u.IsReplacement() {
			if e.parts[0] != "_id" {
				continue
			}
			if len(e.parts) > 1 {
				return nil, mongoerr.Newf(mongoerr.NotExactValueField,
					"field at '_id' must be exactly specified, field at sub-path '%s'found", path)
			}
		}
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b equality) int { return strings.Compare(a.path, b.path) })
	seen := make(map[string]bool, len(all))
	for _, e := range all {
		if err := e.collides(seen); err != nil {
			return nil, err
		}
		seen[e.path] = true
	}
	return all, nil
}

// collides refuses an equality whose path, or a part of it, is among those seen before.
func (e equality) collides(seen map[string]bool) error {
	for at := range e.path {
		if e.path[at] == '.' && seen[e.path[:at]] {
			return mongoerr.Newf(mongoerr.NotSingleValueField, "cannot infer query fields to set, both paths '%s' and '%s' are matched",
				e.path, e.path[:at])
		}
	}
	if seen[e.path] {
		return mongoerr.Newf(mongoerr.NotSingleValueField, "cannot infer query fields to set, path '%s' is matched twice", e.path)
	}
	return nil
}

// setPath adds an equality to a tree. In paths of a query, $ and $[] have no
// special meaning.
func (c *compiler) setPath(e equality) {
	current := c.root
	for i, part := range e.parts {
		if i == len(e.parts)-1 {
			current.add(child{name: part, node: &leaf{&set{constant: newConstant(e.value)}}})
			return
		}
		next, ok := current.child(part).(*object)
		if !ok {
			next = &object{}
			current.add(child{name: part, node: next})
		}
		current = next
	}
}

// withIDFirst moves the _id to the front, or creates one.
func withIDFirst(d value.Doc, newID func() value.OID) value.Doc {
	if first, _ := d.First(); first == "_id" {
		return d
	}
	var b value.Builder
	b.Reset(make([]byte, 0, len(d)+24))
	id, ok := d.Get("_id")
	if !ok {
		id = value.ObjectID(newID())
	}
	b.Append("_id", id)
	it := d.Iter()
	for it.Next() {
		if it.Key() != "_id" {
			b.Raw(it.Element())
		}
	}
	return b.Doc()
}
