package agg

import (
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// passive is embedded by stages that read and change no field.
type passive struct{}

func (passive) deps(*deps) reach { return seesAll }
func (passive) effect() effect   { return effect{opaque: true} }

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

// nonNegative reads a whole number that is not negative.
func nonNegative(code mongoerr.Code, v value.Value) (int64, error) {
	if !v.IsNumber() {
		return 0, mongoerr.Newf(code, "Expected a number in: %s", argument(v))
	}
	n, ok := v.AsInt64()
	if !ok {
		if v.Kind() == value.KindDouble && v.Double() != v.Double() || v.Kind() == value.KindDecimal && v.Decimal().IsNaN() {
			return 0, mongoerr.Newf(code, "Expected an integer, but found NaN in: %s", argument(v))
		}
		if v.SafeInt64() == 1<<63-1 || v.SafeInt64() == -1<<63 {
			return 0, mongoerr.Newf(code, "Cannot represent as a 64-bit integer: %s", argument(v))
		}
		return 0, mongoerr.Newf(code, "Expected an integer: %s", argument(v))
	}
	if n < 0 {
		return 0, mongoerr.Newf(code, "Expected a non-negative number in: %s", argument(v))
	}
	return n, nil
}

// argument is a stage's argument as mongod prints it in these messages.
func argument(v value.Value) string { return v.String() }

// withPrefix adds context to the message of a MongoDB error.
func withPrefix(err error, prefix string) error { return mongoerr.From(err).WithPrefix(prefix) }

func (s *limitStage) name() string      { return "$limit" }
func (s *limitStage) spec() value.Value { return value.Int64(s.n) }

func (s *limitStage) open(_ *Exec, src Iterator) (Iterator, error) {
	left := s.n
	return nextFunc{src: src, next: func() (value.Doc, error) {
		if left == 0 {
			src.Close()
			return nil, nil
		}
		left--
		return src.Next()
	}}, nil
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
	return nextFunc{src: src, next: func() (value.Doc, error) {
		for ; left > 0; left-- {
			if d, err := src.Next(); d == nil || err != nil {
				return nil, err
			}
		}
		return src.Next()
	}}, nil
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
