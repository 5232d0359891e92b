package pipeline

import (
	"strings"

	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// MatchForward moves a $match, or those of its conditions that can be moved, in front
// of the stage before it.
func MatchForward(p *stage.Parser, a, b stage.Stage) ([]stage.Stage, bool, error) {
	m, ok := b.(*flow.Match)
	if !ok || m.Text {
		return nil, false, nil
	}
	move := mover(a)
	if move == nil {
		return nil, false, nil
	}
	moved, kept := SplitFilter(m.Filter, move)
	if moved == nil {
		return nil, false, nil
	}
	first, err := flow.NewMatch(p, moved)
	if err != nil {
		return nil, false, err
	}
	return WithRest(p, []stage.Stage{first, a}, kept)
}

// WithRest appends a $match with the conditions that a rule did not move.
func WithRest(p *stage.Parser, stages []stage.Stage, kept value.Doc) ([]stage.Stage, bool, error) {
	if kept == nil {
		return stages, true, nil
	}
	m, err := flow.NewMatch(p, kept)
	return append(stages, m), true, err
}

// mover returns the function that moves a condition in front of stage s, nil if no
// condition can be moved.
func mover(s stage.Stage) func(Condition) (Condition, bool) {
	if _, ok := s.(*flow.Match); ok { // JoinMatches joins these
		return nil
	}
	e := s.Effect()
	if e.Opaque {
		return nil
	}
	return func(c Condition) (Condition, bool) { return c.before(e) }
}

// Condition is one condition of a filter with the paths that it reads.
type Condition struct {
	name  string
	v     value.Value
	paths []string
	known bool // paths is complete
	plain bool // no $expr: paths stand as keys and can be renamed
}

// conjuncts splits a filter into its conditions.
func conjuncts(filter value.Doc) (out []Condition) {
	for k, v := range filter.All() {
		if k == "$and" {
			for e := range v.Doc().Values() {
				out = append(out, conjuncts(e.Doc())...)
			}
			continue
		}
		c := Condition{name: k, v: v}
		c.known = k != "$sampleRate" && flow.FilterPaths(value.NewDoc(k, v), func(path string) { c.paths = append(c.paths, path) })
		c.plain = c.known && !flow.Mentions(value.Document(value.NewDoc(k, v)), "$expr")
		out = append(out, c)
	}
	return out
}

// SplitFilter splits a filter into the conditions that move accepts, as it returns
// them, and the rest. A part without conditions is nil.
func SplitFilter(filter value.Doc, move func(Condition) (Condition, bool)) (moved, kept value.Doc) {
	var gone, stay []Condition
	for _, c := range conjuncts(filter) {
		if m, ok := move(c); ok && c.known {
			gone = append(gone, m)
		} else {
			stay = append(stay, c)
		}
	}
	return filterOf(gone), filterOf(stay)
}

// filterOf joins conditions into a filter.
func filterOf(cs []Condition) value.Doc {
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

// before moves a condition in front of a stage with effect e. The stage may rename
// top-level fields, but must not change any other path of the condition.
func (c Condition) before(e stage.Effect) (Condition, bool) {
	if e.Opaque || !c.known {
		return c, false
	}
	rename := false
	for _, path := range c.paths {
		top, _, _ := strings.Cut(path, ".")
		switch {
		case e.Renamed[top] != "":
			rename = true
		case stage.OverlapsAny(path, e.Modified):
			return c, false
		case e.KeepOnly != nil && !kept(path, e.KeepOnly):
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
		from := e.Renamed[top]
		switch {
		case from == "":
			return path
		case dotted:
			return from + "." + rest
		}
		return from
	}), true
}

// kept reports whether an inclusion keeps all of path.
func kept(path string, keep []string) bool {
	for _, k := range keep {
		if path == k || stage.Inside(path, k) {
			return true
		}
	}
	return false
}

// Stripped removes the prefix from all paths. It returns false if a path does not have
// it.
func (c Condition) Stripped(prefix string) (Condition, bool) {
	if !c.plain || len(c.paths) == 0 {
		return c, false
	}
	for _, path := range c.paths {
		if !stage.Inside(path, prefix) {
			return c, false
		}
	}
	return c.renamed(func(path string) string { return path[len(prefix)+1:] }), true
}

// renamed rewrites the paths of a plain condition.
func (c Condition) renamed(to func(string) string) Condition {
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
