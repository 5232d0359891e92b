package agg

import (
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// limitStage is $limit.
type limitStage struct {
	passive
	n int64
}

func parseLimit(_ *parser, v value.Value) ([]stage, error) {
	n, err := nonNegative(5107201, v)
	if err != nil {
		return nil, withPrefix(err, "invalid argument to $limit stage")
	}
	if n == 0 {
		return nil, mongoerr.New(15958, "the limit must be positive")
	}
	return []stage{&limitStage{n: n}}, nil
}

func (s *limitStage) name() string      { return "$limit" }
func (s *limitStage) spec() value.Value { return value.Int64(s.n) }

func (s *limitStage) open(_ *Exec, src Iterator) (Iterator, error) {
	left := s.n
	return pull(src, func() (value.Doc, error) {
		if left == 0 {
			src.Close()
			return nil, nil
		}
		left--
		return src.Next()
	}), nil
}

// skipStage is $skip.
type skipStage struct {
	passive
	n int64
}

func parseSkip(_ *parser, v value.Value) ([]stage, error) {
	n, err := nonNegative(5107200, v)
	if err != nil {
		return nil, withPrefix(err, "invalid argument to $skip stage")
	}
	return []stage{&skipStage{n: n}}, nil
}

func (s *skipStage) name() string      { return "$skip" }
func (s *skipStage) spec() value.Value { return value.Int64(s.n) }

func (s *skipStage) open(_ *Exec, src Iterator) (Iterator, error) {
	left := s.n
	return pull(src, func() (value.Doc, error) {
		for ; left > 0; left-- {
			if d, err := src.Next(); d == nil || err != nil {
				return nil, err
			}
		}
		return src.Next()
	}), nil
}

// parseCount makes $count a $group and a $project.
func parseCount(p *parser, v value.Value) ([]stage, error) {
	if v.Kind() != value.KindString {
		return nil, mongoerr.New(40156, "the count field must be a non-empty string")
	}
	name := v.Str()
	switch {
	case name == "":
		return nil, mongoerr.New(40157, "the count field must be a non-empty string")
	case name[0] == '$':
		return nil, mongoerr.New(40158, "the count field cannot be a $-prefixed path")
	}
	switch {
	case strings.IndexByte(name, 0) >= 0:
		return nil, mongoerr.New(40159, "the count field cannot contain a null byte")
	case strings.IndexByte(name, '.') >= 0:
		return nil, mongoerr.New(40160, "the count field cannot contain '.'")
	}
	if name == "_id" {
		return nil, mongoerr.New(9039800, "the count field cannot be '_id'")
	}
	one := value.Document(value.NewDoc("$sum", value.Int32(1)))
	group, err := parseGroup(p, value.Document(value.NewDoc("_id", value.Null(), name, one)))
	if err != nil {
		return nil, err
	}
	project, err := parseProject(p, value.Document(value.NewDoc("_id", value.Bool(false))))
	return append(group, project...), err
}

// parseSortByCount makes $sortByCount a $group and a $sort.
func parseSortByCount(p *parser, v value.Value) ([]stage, error) {
	switch {
	case v.Kind() == value.KindDocument:
		if k, _ := v.Doc().First(); k == "" || k[0] != '$' {
			return nil, mongoerr.New(40147, "the sortByCount field must be defined as a $-prefixed path or an expression inside an object")
		}
	case v.Kind() == value.KindString:
		if v.Str() == "" || v.Str()[0] != '$' {
			return nil, mongoerr.New(40148, "the sortByCount field must be defined as a $-prefixed path or an expression inside an object")
		}
	default:
		return nil, mongoerr.New(40149, "the sortByCount field must be specified as a string or as an object")
	}
	one := value.Document(value.NewDoc("$sum", value.Int32(1)))
	group, err := parseGroup(p, value.Document(value.NewDoc("_id", v, "count", one)))
	if err != nil {
		return nil, err
	}
	sort, err := parseSort(p, value.Document(value.NewDoc("count", value.Int32(-1))))
	return append(group, sort...), err
}
