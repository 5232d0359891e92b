package flow

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// Limit is $limit.
type Limit struct {
	stage.Passive
	N int64
}

// ParseLimit compiles $limit.
func ParseLimit(_ *stage.Parser, v value.Value) ([]stage.Stage, error) {
	n, err := stage.NonNegative(5107201, v)
	if err != nil {
		return nil, stage.WithPrefix(err, "invalid argument to $limit stage")
	}
	if n == 0 {
		return nil, mongoerr.New(15958, "the limit must be positive")
	}
	return []stage.Stage{&Limit{N: n}}, nil
}

// Name is the name of the stage.
func (s *Limit) Name() string { return "$limit" }

// Spec is the stage as explain shows it.
func (s *Limit) Spec() value.Value { return value.Int64(s.N) }

// Open runs the stage.
func (s *Limit) Open(_ *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	left := s.N
	return stage.Pull(src, func() (value.Doc, error) {
		if left == 0 {
			src.Close()
			return nil, nil
		}
		left--
		return src.Next()
	}), nil
}

// Skip is $skip.
type Skip struct {
	stage.Passive
	N int64
}

// ParseSkip compiles $skip.
func ParseSkip(_ *stage.Parser, v value.Value) ([]stage.Stage, error) {
	n, err := stage.NonNegative(5107200, v)
	if err != nil {
		return nil, stage.WithPrefix(err, "invalid argument to $skip stage")
	}
	return []stage.Stage{&Skip{N: n}}, nil
}

// Name is the name of the stage.
func (s *Skip) Name() string { return "$skip" }

// Spec is the stage as explain shows it.
func (s *Skip) Spec() value.Value { return value.Int64(s.N) }

// Open runs the stage.
func (s *Skip) Open(_ *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	left := s.N
	return stage.Pull(src, func() (value.Doc, error) {
		for ; left > 0; left-- {
			if d, err := src.Next(); d == nil || err != nil {
				return nil, err
			}
		}
		return src.Next()
	}), nil
}
