package flow

import (
	"math/rand/v2"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Sample is $sample: some documents in random order.
type Sample struct {
	stage.Passive
	Size int64
}

// ParseSample compiles $sample.
func ParseSample(_ *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.New(28745, "the $sample stage specification must be an object")
	}
	s, given := &Sample{}, false
	for k, f := range v.Doc().All() {
		if k != "size" {
			return nil, mongoerr.Newf(28748, "unrecognized option to $sample: %s", k)
		}
		if !f.IsNumber() {
			return nil, mongoerr.New(28746, "size argument to $sample must be a number")
		}
		s.Size, given = f.SafeInt64(), true
	}
	switch {
	case !given:
		return nil, mongoerr.New(28749, "$sample stage must specify a size")
	case s.Size <= 0:
		return nil, mongoerr.New(28747, "size argument to $sample must be a positive integer")
	}
	return []stage.Stage{s}, nil
}

// Name is the name of the stage.
func (s *Sample) Name() string { return "$sample" }

// Spec is the stage as explain shows it.
func (s *Sample) Spec() value.Value {
	return value.Document(value.NewDoc("size", value.Int64(s.Size)))
}

// Open runs the stage.
func (s *Sample) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return stage.Lazy(src, func() (stage.Iterator, error) {
		random := x.Env.Rand
		if random == nil {
			random = rand.Float64
		}
		docs, err := reservoir(x.Env, src, s.Size, random)
		if err != nil {
			return nil, err
		}
		return stage.MetaDocs(x.Env, docs), nil
	}), nil
}

// reservoir selects up to size documents, each with the same probability, and
// shuffles them.
func reservoir(env *expr.Env, src stage.Iterator, size int64, random func() float64) ([]stage.MetaDoc, error) {
	defer src.Close()
	var kept []stage.MetaDoc
	for n := int64(1); ; n++ {
		d, err := src.Next()
		if err != nil {
			return nil, err
		}
		if d == nil {
			break
		}
		if n <= size {
			kept = append(kept, stage.MetaDoc{Doc: d, Meta: env.Meta})
		} else if i := int64(random() * float64(n)); i < size {
			kept[i] = stage.MetaDoc{Doc: d, Meta: env.Meta}
		}
	}
	for i := len(kept) - 1; i > 0; i-- {
		j := int(random() * float64(i+1))
		kept[i], kept[j] = kept[j], kept[i]
	}
	return kept, nil
}
