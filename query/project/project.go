package project

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// Mode selects the rules for a specification.
type Mode byte

// The modes.
const (
	Find      Mode = iota // find: with $slice, $elemMatch, "a.$"
	Aggregate             // $project, and $unset as an exclusion
	AddFields             // $addFields and $set: every value is an expression
)

// Options is the context in which a projection is compiled.
type Options struct {
	Mode      Mode
	Scope     *expr.Scope    // variables of expressions
	Matcher   *match.Matcher // the query, for "a.$"; nil: no query
	Collation value.Collator // the collation of $elemMatch
}

// Projection is a compiled projection. It is immutable and may be shared.
type Projection struct {
	kind    kind
	root    *node
	after   []step // second steps of find
	matcher *match.Matcher
	meta    []expr.MetaKind
	special bool // reports whether there is a $elemMatch, a $slice or "a.$"
}

// kind says how a projection treats fields that it does not name.
type kind byte

const (
	undecided kind = iota
	inclusion
	exclusion
	addition
)

// Compile compiles a projection. It reports all errors except those of
// expressions and of the positional operator that depend on the document.
func Compile(spec value.Doc, o Options) (*Projection, error) {
	if o.Mode == AddFields {
		return compileAddFields(spec, o)
	}
	if o.Mode == Aggregate && spec.IsEmpty() {
		return nil, mongoerr.New(51272, "projection specification must have at least one field")
	}
	p := &parser{options: o, root: &node{}}
	if err := p.parse(spec); err != nil {
		return nil, err
	}
	out := &Projection{kind: p.kind, root: p.root, after: p.after, matcher: o.Matcher, special: p.positional || p.elemMatch || p.slice}
	out.seal()
	return out, nil
}

func (p *Projection) seal() {
	p.root.seal()
	p.root.expressions(func(e *expr.Expr) { p.meta = append(p.meta, e.Meta()...) })
}

// IsInclusion reports whether fields that are not named are dropped.
func (p *Projection) IsInclusion() bool { return p.kind == inclusion }

// IsIdentity reports whether the projection never changes a document.
func (p *Projection) IsIdentity() bool {
	return p.kind != inclusion && len(p.root.fields) == 0 && len(p.after) == 0
}

// IsSimple reports whether the projection only includes or excludes fields.
func (p *Projection) IsSimple() bool { return !p.root.computed && !p.special }

// NeedsPosition reports whether the positional operator is used, so that the
// query must be matched again for each document.
func (p *Projection) NeedsPosition() bool {
	for _, s := range p.after {
		if s.positional {
			return true
		}
	}
	return false
}

// Meta lists the metadata that the projection reads.
func (p *Projection) Meta() []expr.MetaKind { return p.meta }

// Deps reports the field paths that the projection reads, and calls whole if
// it reads the whole document.
func (p *Projection) Deps(add func(path string), whole func()) {
	if p.kind != inclusion || p.NeedsPosition() {
		whole()
	}
	p.root.each("", func(path string, f *field) {
		switch {
		case f.expr != nil:
			f.expr.Deps(add, whole)
		case p.kind == inclusion:
			add(path)
		}
	})
}

// Paths reports the paths that the projection names at its leaves: those
// included or excluded, and those computed.
func (p *Projection) Paths(plain func(path string), computed func(path string, e *expr.Expr)) {
	p.root.each("", func(path string, f *field) {
		switch {
		case f.expr != nil:
			computed(path, f.expr)
		case f.elem != nil:
			computed(path, nil)
		default:
			plain(path)
		}
	})
}

// Apply projects one document. The result is appended to dst, and is a part
// of it or d itself; it may not be changed.
func (p *Projection) Apply(env *expr.Env, dst []byte, d value.Doc) (value.Doc, error) {
	if p.IsIdentity() {
		return d, nil
	}
	a := applier{env: env, doc: d, kind: p.kind, dst: dst, base: len(dst)}
	start := a.open()
	if err := a.document(p.root, d); err != nil {
		return nil, err
	}
	a.close(start)
	if len(p.after) == 0 {
		return value.Doc(a.dst[start:len(a.dst):len(a.dst)]), nil
	}
	return p.finish(env, d, value.Doc(a.dst[start:]))
}
