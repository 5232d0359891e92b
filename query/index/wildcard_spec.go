package index

import (
	"cmp"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// covers reports whether path is prefix or below it; the empty prefix covers
// everything.
func covers(prefix, path string) bool {
	if prefix == "" || prefix == path {
		return true
	}
	return len(path) > len(prefix) && path[len(prefix)] == '.' && path[:len(prefix)] == prefix
}

// wildcardParts splits a key pattern into the root of its wildcard and the
// other paths.
func wildcardParts(key value.Doc) (root string, others []string, err error) {
	found := false
	for name := range key.All() {
		if !isWildcardPath(name) {
			others = append(others, name)
			continue
		}
		if found {
			return "", nil, mongoerr.New(7246201, "Index Key can contain only one wildcard index field")
		}
		found = true
		root = strings.TrimSuffix(strings.TrimSuffix(name, wildcardSuffix), ".")
	}
	if !found {
		return "", nil, mongoerr.New(7246202, "No wildcard index field is specified for the wildcard index")
	}
	return root, others, nil
}

func checkWildcardPattern(key value.Doc) error {
	root, others, err := wildcardParts(key)
	if err != nil || root == "" {
		return err
	}
	for _, path := range others {
		if covers(root, path) {
			return mongoerr.Newf(7246204, "A wildcard index field should not overlap with and index key fields if wildcard projection is empty, however '%s' is overlapping with the wildcard index field.", path)
		}
	}
	return nil
}

// checkWildcardProjection applies the rules for the pattern together with the
// option wildcardProjection.
func checkWildcardProjection(key value.Doc, v value.Value) error {
	switch {
	case patternPlugin(key) != Wildcard.String():
		return mongoerr.New(mongoerr.BadValue, "The field 'wildcardProjection' is only allowed in 'wildcard' indexes")
	case v.Kind() != value.KindDocument:
		return mongoerr.Newf(mongoerr.TypeMismatch, "The field 'wildcardProjection' must be a non-empty object, but got %s", v.Kind())
	case !key.Has(wildcardSuffix):
		return mongoerr.New(mongoerr.FailedToParse, `The field 'wildcardProjection' is only allowed when 'key' is {"$**": ±1}`)
	case v.Doc().IsEmpty():
		return mongoerr.New(mongoerr.FailedToParse, "The 'wildcardProjection' field can't be an empty object")
	}
	if key.Len() > 1 {
		if err := checkCompoundProjection(key, v.Doc()); err != nil {
			return err
		}
	}
	if _, err := parseProjection(v.Doc()); err != nil {
		return mongoerr.From(err).WithPrefix("Failed to parse projection: wildcardProjection")
	}
	return nil
}

// checkCompoundProjection checks a wildcardProjection against the ordinary
// fields of a compound wildcard index.
func checkCompoundProjection(key, projection value.Doc) error {
	_, others, err := wildcardParts(key)
	if err != nil {
		return err
	}
	var included, excluded []string
	for name, v := range projection.All() {
		if !v.IsNumber() && v.Kind() != value.KindBool {
			return mongoerr.Newf(7246207, "Fields in wildcardProjection must be numbers, however '%s: %s' is a %s.", name, v, v.Kind())
		}
		if v.Truthy() {
			included = append(included, name)
		} else {
			excluded = append(excluded, name)
		}
	}
	for _, list := range [][]string{included, excluded} {
		if err := checkOverlap(list); err != nil {
			return err
		}
	}
	for _, path := range others {
		for _, in := range included {
			if covers(in, path) {
				return mongoerr.Newf(7246208, "Index Key and Wildcard Projection cannot contain overlapping fields, however '%s' index field is ovverlapping with '%s' wildcardProjection path.", path, in)
			}
		}
		if len(excluded) > 0 && !slices.ContainsFunc(excluded, func(ex string) bool { return covers(ex, path) }) {
			code := mongoerr.Code(7246210)
			if slices.Min(excluded) > path { // no exclusion can cover the path
				code = 7246209
			}
			return mongoerr.Newf(code, "wildcardProjection paths must exclude all regular index fields, however '%s'is not excluded.", path)
		}
	}
	onlyID := func(list []string) bool { return len(list) == 1 && list[0] == "_id" }
	if len(included) > 0 && len(excluded) > 0 && !onlyID(included) && !onlyID(excluded) {
		return mongoerr.New(7246211, "Inclusion and exclusion statements cannot combine in the wildcardProjection with an exception of explicitly including _id field")
	}
	return nil
}

func checkOverlap(paths []string) error {
	paths = slices.Sorted(slices.Values(paths))
	for i := 1; i < len(paths); i++ {
		if covers(paths[i-1], paths[i]) {
			return mongoerr.Newf(7246200, "Fields in Wildcard Projection cannot overlap, however '%s' is overlapped with '%s'", paths[i-1], paths[i])
		}
	}
	return nil
}

// projection defines the paths that a wildcard index includes.
type projection struct {
	include bool // paths are included, otherwise excluded
	paths   []string
	id      bool // _id is indexed
}

// parseProjection compiles a wildcardProjection; an empty one includes
// everything but _id. Nested documents are converted to dotted paths.
func parseProjection(spec value.Doc) (*projection, error) {
	p := &projection{}
	var included, excluded []string
	first := "" // of all paths
	var seen []string
	var visit func(prefix string, d value.Doc) error
	visit = func(prefix string, d value.Doc) error {
		for name, v := range d.All() {
			path := prefix + name
			switch {
			case v.Kind() == value.KindDocument && !v.Doc().IsEmpty() && !strings.HasPrefix(firstKey(v.Doc()), "$"):
				if err := visit(path+".", v.Doc()); err != nil {
					return err
				}
			case !v.IsNumber() && v.Kind() != value.KindBool:
				return mongoerr.New(51271, "Bad projection specification, cannot use computed fields when parsing a spec in kBanComputedFields mode: "+spec.String())
			case path == "_id":
				p.id = v.Truthy()
				continue
			case collision(seen, path) != nil:
				return collision(seen, path)
			case v.Truthy():
				included = append(included, path)
			default:
				excluded = append(excluded, path)
			}
			seen, first = append(seen, path), cmp.Or(first, path)
		}
		return nil
	}
	if err := visit("", spec); err != nil {
		return nil, err
	}
	switch {
	case len(included) > 0 && len(excluded) > 0 && first == included[0]:
		return nil, mongoerr.Newf(31254, "Cannot do exclusion on field %s in inclusion projection", excluded[0])
	case len(included) > 0 && len(excluded) > 0:
		return nil, mongoerr.Newf(31253, "Cannot do inclusion on field %s in exclusion projection", included[0])
	case len(included) > 0 || len(excluded) == 0 && p.id:
		p.include, p.paths = true, included
	default:
		p.paths = excluded
	}
	return p, nil
}

// collision returns the error for a path that is below or above an earlier
// one.
func collision(seen []string, path string) error {
	for _, s := range seen {
		switch {
		case covers(s, path) && s != path:
			return mongoerr.Newf(31249, "Path collision at %s remaining portion %s", path, path[strings.IndexByte(path, '.')+1:])
		case covers(path, s):
			return mongoerr.Newf(31250, "Path collision at %s", path)
		}
	}
	return nil
}

func firstKey(d value.Doc) string {
	k, _ := d.First()
	return k
}

// same reports whether two wildcard indexes include the same paths; nil stands
// for another kind of index.
func (p *projection) same(q *projection) bool {
	if p == nil || q == nil {
		return p == q
	}
	paths := func(p *projection) []string { return slices.Sorted(slices.Values(p.paths)) }
	return p.include == q.include && p.id == q.id && slices.Equal(paths(p), paths(q))
}

// takes reports whether a leaf at path is indexed.
func (p *projection) takes(path string) bool {
	if covers("_id", path) {
		return p.id
	}
	for _, q := range p.paths {
		if covers(q, path) {
			return p.include
		}
	}
	return !p.include
}

// enters reports whether some path below path may be indexed.
func (p *projection) enters(path string) bool {
	if p.takes(path) {
		return true
	}
	for _, q := range p.paths {
		if p.include && covers(path, q) {
			return true
		}
	}
	return false
}
