package group

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// bucketSpec is a parsed $bucket.
type bucketSpec struct {
	groupBy    value.Value
	boundaries []value.Value
	fallback   value.Value
	output     value.Doc // nil: count
}

// ParseBucket compiles $bucket into a $group by a $switch, and a $sort.
func ParseBucket(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(40201, "Argument to $bucket stage must be an object, but found type: %s.", v.Kind())
	}
	var s bucketSpec
	for k, f := range v.Doc().All() {
		if err := s.option(p, k, f); err != nil {
			return nil, err
		}
	}
	if s.groupBy.IsMissing() || s.boundaries == nil {
		return nil, mongoerr.New(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified.")
	}
	if err := s.checkFallback(p); err != nil {
		return nil, err
	}
	group, err := Parse(p, value.Document(s.group()))
	if err != nil {
		return nil, err
	}
	sort, err := order.Parse(p, value.Document(value.NewDoc("_id", value.Int32(1))))
	return append(group, sort...), err
}

func (s *bucketSpec) option(p *stage.Parser, k string, f value.Value) error {
	switch k {
	case "groupBy":
		if !stage.IsExpressionLike(f) {
			return mongoerr.Newf(40202, "The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression, but found: %s.", f)
		}
		s.groupBy = f
	case "boundaries":
		return s.parseBoundaries(p, f)
	case "default":
		c, ok, err := p.Constant(f)
		if err != nil {
			return err
		}
		if !ok {
			return mongoerr.Newf(40195, "The $bucket 'default' field must be a constant expression, but found: %s.", f)
		}
		s.fallback = c
	case "output":
		if f.Kind() != value.KindDocument {
			return mongoerr.Newf(40196, "The $bucket 'output' field must be an object, but found type: %s.", f.Kind())
		}
		s.output = f.Doc()
	default:
		return mongoerr.Newf(40197, "Unrecognized option to $bucket: %s.", k)
	}
	return nil
}

func (s *bucketSpec) parseBoundaries(p *stage.Parser, f value.Value) error {
	if f.Kind() != value.KindArray {
		return mongoerr.Newf(40200, "The $bucket 'boundaries' field must be an array, but found type: %s.", f.Kind())
	}
	for e := range f.Doc().Values() {
		c, ok, err := p.Constant(e)
		if err != nil {
			return err
		}
		if !ok {
			return mongoerr.Newf(40191, "The $bucket 'boundaries' field must be an array of constant values, but found value: %s.", e)
		}
		s.boundaries = append(s.boundaries, c)
	}
	if len(s.boundaries) < 2 {
		return mongoerr.Newf(40192, "The $bucket 'boundaries' field must have at least 2 values, but found %d value(s).", len(s.boundaries))
	}
	for i := 1; i < len(s.boundaries); i++ {
		lower, upper := s.boundaries[i-1], s.boundaries[i]
		if lower.Kind().Rank() != upper.Kind().Rank() {
			return mongoerr.Newf(40193, "All values in the the 'boundaries' option to $bucket must have the same type. Found conflicting types %s and %s.", lower.Kind(), upper.Kind())
		}
		if value.CompareWith(lower, upper, p.Collation) >= 0 {
			return mongoerr.Newf(40194, "The 'boundaries' option to $bucket must be sorted, but elements %d and %d are not in ascending order (%s is not less than %s).", i-1, i, lower.Compact(), upper.Compact())
		}
	}
	return nil
}

// checkFallback refuses a default that lies between the boundaries.
func (s *bucketSpec) checkFallback(p *stage.Parser) error {
	lowest, highest := s.boundaries[0], s.boundaries[len(s.boundaries)-1]
	if s.fallback.IsMissing() || s.fallback.Kind().Rank() != lowest.Kind().Rank() {
		return nil
	}
	if value.CompareWith(s.fallback, lowest, p.Collation) < 0 || value.CompareWith(s.fallback, highest, p.Collation) >= 0 {
		return nil
	}
	return mongoerr.New(40199, "The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary.")
}

// group is the $group that does the work.
func (s *bucketSpec) group() value.Doc {
	b := value.NewBuilder()
	b.StartDocument("_id").StartDocument("$switch").StartArray("branches")
	for i := 1; i < len(s.boundaries); i++ {
		lower, upper := literal(s.boundaries[i-1]), literal(s.boundaries[i])
		b.StartDocument("").StartDocument("case").StartArray("$and")
		b.StartDocument("").Append("$gte", value.NewArray(s.groupBy, lower)).End()
		b.StartDocument("").Append("$lt", value.NewArray(s.groupBy, upper)).End()
		b.End().End().Append("then", lower).End()
	}
	b.End()
	if !s.fallback.IsMissing() {
		b.Append("default", literal(s.fallback))
	}
	b.End().End()
	if s.output == nil {
		b.StartDocument("count").Int32("$sum", 1).End()
		return b.Doc()
	}
	it := s.output.Iter()
	for it.Next() {
		b.Raw(it.Element())
	}
	return b.Doc()
}

// literal returns the expression {$literal: v}.
func literal(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindString, value.KindDocument, value.KindArray:
		return value.Document(value.NewDoc("$const", v))
	}
	return v
}
