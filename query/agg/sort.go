package agg

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// sortStage is $sort, with a $limit that was joined into it.
type sortStage struct {
	pattern  sortPattern
	limit    int64 // 0: none
	collator value.Collator
}

func parseSort(p *parser, v value.Value) ([]stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.New(15973, "the $sort key specification must be an object")
	}
	pattern, err := parseSortPattern(v.Doc())
	if err != nil {
		return nil, err
	}
	return []stage{&sortStage{pattern: pattern, collator: p.Collation}}, nil
}

func (s *sortStage) name() string { return "$sort" }

func (s *sortStage) spec() value.Value {
	b := value.NewBuilder().Document("sortKey", s.pattern.doc())
	if s.limit > 0 {
		b.Int64("limit", s.limit)
	}
	return value.Document(b.Doc())
}

func (s *sortStage) metadata() (kinds []expr.MetaKind) {
	for _, part := range s.pattern {
		if part.meta {
			kinds = append(kinds, part.kind)
		}
	}
	return kinds
}

func (s *sortStage) deps(d *deps) reach {
	s.pattern.deps(d)
	return seesAll
}

func (s *sortStage) effect() effect {
	if s.limit > 0 {
		return effect{opaque: true}
	}
	return effect{}
}

func (*sortStage) appendStats(b *value.Builder, st *Stats) { st.appendDisk(b) }

func (s *sortStage) open(x *Exec, src Iterator) (Iterator, error) {
	return lazy(src, func() (Iterator, error) {
		r := newSorting(x, s, s.limit, x.memoryLimit())
		var key []byte
		err := r.fill(src, func(d value.Doc) (err error) {
			if key, err = s.appendKey(key[:0], x.Env, d); err != nil {
				return err
			}
			return r.addKeyed(key, d)
		})
		if err != nil {
			return nil, err
		}
		return r.sorted()
	}), nil
}

// appendKey appends the key that a document is sorted by.
func (s *sortStage) appendKey(dst []byte, env *expr.Env, d value.Doc) ([]byte, error) {
	return s.pattern.appendKey(dst, env, d, s.collator)
}
