package agg

import (
	"math/rand/v2"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// sampleStage is $sample: some documents in random order.
type sampleStage struct {
	passive
	size int64
}

func parseSample(_ *parser, v value.Value) ([]stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.New(28745, "the $sample stage specification must be an object")
	}
	s, given := &sampleStage{}, false
	for k, f := range v.Doc().All() {
		if k != "size" {
			return nil, mongoerr.Newf(28748, "unrecognized option to $sample: %s", k)
		}
		if !f.IsNumber() {
			return nil, mongoerr.New(28746, "size argument to $sample must be a number")
		}
		s.size, given = f.SafeInt64(), true
	}
	switch {
	case !given:
		return nil, mongoerr.New(28749, "$sample stage must specify a size")
	case s.size <= 0:
		return nil, mongoerr.New(28747, "size argument to $sample must be a positive integer")
	}
	return []stage{s}, nil
}

func (s *sampleStage) name() string { return "$sample" }
func (s *sampleStage) spec() value.Value {
	return value.Document(value.NewDoc("size", value.Int64(s.size)))
}

func (s *sampleStage) open(x *Exec, src Iterator) (Iterator, error) {
	return lazy(src, func() (Iterator, error) {
		random := x.Env.Rand
		if random == nil {
			random = rand.Float64
		}
		docs, err := reservoir(x.Env, src, s.size, random)
		if err != nil {
			return nil, err
		}
		return metaDocs(x.Env, docs), nil
	}), nil
}

// reservoir picks up to size documents, each with the same chance, and
// shuffles them.
func reservoir(env *expr.Env, src Iterator, size int64, random func() float64) ([]metaDoc, error) {
	defer src.Close()
	var kept []metaDoc
	for n := int64(1); ; n++ {
		d, err := src.Next()
		if err != nil {
			return nil, err
		}
		if d == nil {
			break
		}
		if n <= size {
			kept = append(kept, metaDoc{d, env.Meta})
		} else if i := int64(random() * float64(n)); i < size {
			kept[i] = metaDoc{d, env.Meta}
		}
	}
	for i := len(kept) - 1; i > 0; i-- {
		j := int(random() * float64(i+1))
		kept[i], kept[j] = kept[j], kept[i]
	}
	return kept, nil
}
