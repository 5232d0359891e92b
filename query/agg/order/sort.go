package order

import (
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Stage is $sort, with a $limit that was joined into it.
type Stage struct {
	Pattern  Pattern
	Limit    int64 // 0: none
	Collator value.Collator
}

// Parse compiles $sort.
func Parse(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.New(15973, "the $sort key specification must be an object")
	}
	pattern, err := ParsePattern(v.Doc())
	if err != nil {
		return nil, err
	}
	for _, part := range pattern {
		if part.Kind == expr.MetaScore && !p.Scope.Dialect().Has(dialect.RankFusion) {
			return nil, illegalMeta(value.String(part.name))
		}
	}
	return []stage.Stage{&Stage{Pattern: pattern, Collator: p.Collation}}, nil
}

// Name is the name of the stage.
func (s *Stage) Name() string { return "$sort" }

// Spec is the stage as explain shows it.
func (s *Stage) Spec() value.Value {
	b := value.NewBuilder().Document("sortKey", s.Pattern.Doc())
	if s.Limit > 0 {
		b.Int64("limit", s.Limit)
	}
	return value.Document(b.Doc())
}

// Metadata lists the metadata that the stage reads.
func (s *Stage) Metadata() (kinds []expr.MetaKind) {
	for _, part := range s.Pattern {
		if part.Meta {
			kinds = append(kinds, part.Kind)
		}
	}
	return kinds
}

// Deps notes what the stage reads.
func (s *Stage) Deps(d *stage.Deps) stage.Reach {
	s.Pattern.Deps(d)
	return stage.SeesAll
}

// Effect says what the stage changes.
func (s *Stage) Effect() stage.Effect {
	if s.Limit > 0 {
		return stage.Effect{Opaque: true}
	}
	return stage.Effect{}
}

// AppendStats writes what the stage did during a run.
func (*Stage) AppendStats(b *value.Builder, st *stage.Stats) { st.AppendDisk(b) }

// Open runs the stage.
func (s *Stage) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return stage.Lazy(src, func() (stage.Iterator, error) {
		r := NewSorter(x, s, s.Limit, x.SortLimit())
		k := newKeyer(s)
		err := r.Fill(src, func(d value.Doc) error { return k.add(r, d) })
		if err != nil {
			return nil, err
		}
		return r.Sorted()
	}), nil
}

// AppendKey appends the key that a document is sorted by.
func (s *Stage) AppendKey(dst []byte, env *expr.Env, d value.Doc) ([]byte, error) {
	return s.Pattern.AppendKey(dst, env, d, s.Collator)
}
