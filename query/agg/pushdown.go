package agg

import (
	"strings"

	"github.com/duskdb/duskdb/value"
)

// matchForward moves a $match, or those of its conditions that can go, in
// front of the stage before it.
func matchForward(p *parser, a, b stage) ([]stage, bool, error) {
	m, ok := b.(*matchStage)
	if !ok || m.text {
		return nil, false, nil
	}
	move := mover(a)
	if move == nil {
		return nil, false, nil
	}
	moved, kept := splitFilter(m.filter, move)
	if moved == nil {
		return nil, false, nil
	}
	first, err := p.newMatch(moved)
	if err != nil {
		return nil, false, err
	}
	return p.withRest([]stage{first, a}, kept)
}

// withRest appends a $match of what a rule left behind.
func (p *parser) withRest(stages []stage, kept value.Doc) ([]stage, bool, error) {
	if kept == nil {
		return stages, true, nil
	}
	m, err := p.newMatch(kept)
	return append(stages, m), true, err
}

// mover returns the function that takes a condition to the other side of
// stage s, nil if nothing can cross it.
func mover(s stage) func(conjunct) (conjunct, bool) {
	if _, ok := s.(*matchStage); ok { // these are joined
		return nil
	}
	e := s.effect()
	if e.opaque {
		return nil
	}
	return func(c conjunct) (conjunct, bool) { return c.before(e) }
}

// conjunct is one condition of a filter with the paths that it reads.
type conjunct struct {
	name  string
	v     value.Value
	paths []string
	known bool // paths is complete
	plain bool // no $expr: paths stand as keys and can be renamed
}

// constant reports whether the condition reads nothing.
func (c conjunct) constant() bool { return c.known && len(c.paths) == 0 }

// conjuncts takes a filter apart.
func conjuncts(filter value.Doc) (out []conjunct) {
	for k, v := range filter.All() {
		if k == "$and" {
			for e := range v.Doc().Values() {
				out = append(out, conjuncts(e.Doc())...)
			}
			continue
		}
		c := conjunct{name: k, v: v}
		c.known = k != "$sampleRate" && filterPaths(value.NewDoc(k, v), func(path string) { c.paths = append(c.paths, path) })
		c.plain = c.known && !mentions(value.Document(value.NewDoc(k, v)), "$expr")
		out = append(out, c)
	}
	return out
}

// splitFilter divides a filter into the conditions that move takes over, as
// it returns them, and the rest; nil stands for none.
func splitFilter(filter value.Doc, move func(conjunct) (conjunct, bool)) (moved, kept value.Doc) {
	var gone, stay []conjunct
	for _, c := range conjuncts(filter) {
		if m, ok := move(c); ok && c.known {
			gone = append(gone, m)
		} else {
			stay = append(stay, c)
		}
	}
	return filterOf(gone), filterOf(stay)
}

// filterOf puts conditions together.
func filterOf(cs []conjunct) value.Doc {
	switch len(cs) {
	case 0:
		return nil
	case 1:
		return value.NewDoc(cs[0].name, cs[0].v)
	}
	all := make([]value.Value, len(cs))
	for i, c := range cs {
		all[i] = value.Document(value.NewDoc(c.name, c.v))
	}
	return value.NewDoc("$and", value.NewArray(all...))
}

// before takes a condition in front of a stage with effect e: no path may be
// changed by it, except that whole top-level fields may be renamed.
func (c conjunct) before(e effect) (conjunct, bool) {
	if e.opaque || !c.known {
		return c, false
	}
	rename := false
	for _, path := range c.paths {
		top, _, _ := strings.Cut(path, ".")
		switch {
		case e.renamed[top] != "":
			rename = true
		case overlapsAny(path, e.modified):
			return c, false
		case e.keepOnly != nil && !kept(path, e.keepOnly):
			return c, false
		}
	}
	if !rename {
		return c, true
	}
	if !c.plain {
		return c, false
	}
	return c.renamed(func(path string) string {
		top, rest, dotted := strings.Cut(path, ".")
		from := e.renamed[top]
		switch {
		case from == "":
			return path
		case dotted:
			return from + "." + rest
		}
		return from
	}), true
}

// kept reports whether all of path survives an inclusion.
func kept(path string, keep []string) bool {
	for _, k := range keep {
		if path == k || inside(path, k) {
			return true
		}
	}
	return false
}

// stripped takes the prefix off all paths; false if one lies elsewhere.
func (c conjunct) stripped(prefix string) (conjunct, bool) {
	if !c.plain || len(c.paths) == 0 {
		return c, false
	}
	for _, path := range c.paths {
		if !inside(path, prefix) {
			return c, false
		}
	}
	return c.renamed(func(path string) string { return path[len(prefix)+1:] }), true
}

// renamed rewrites the paths of a plain condition.
func (c conjunct) renamed(to func(string) string) conjunct {
	d := renameKeys(value.NewDoc(c.name, c.v), to)
	c.name, c.v = d.First()
	for i, path := range c.paths {
		c.paths[i] = to(path)
	}
	return c
}

func renameKeys(filter value.Doc, to func(string) string) value.Doc {
	b := value.NewBuilder()
	for k, v := range filter.All() {
		switch {
		case k == "$and" || k == "$or" || k == "$nor":
			b.StartArray(k)
			for e := range v.Doc().Values() {
				b.Document("", renameKeys(e.Doc(), to))
			}
			b.End()
		case strings.HasPrefix(k, "$"):
			b.Append(k, v)
		default:
			b.Append(to(k), v)
		}
	}
	return b.Doc()
}
