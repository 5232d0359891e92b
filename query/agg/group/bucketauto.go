package group

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/accumulate"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// bucketAutoStage is $bucketAuto: it sorts documents by a value and distributes them to
// buckets of about the same size.
type bucketAutoStage struct {
	accumulating
	buckets int64
	rounder *rounder // granularity, nil: none
}

// ParseBucketAuto compiles $bucketAuto.
func ParseBucketAuto(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(40240, "The argument to $bucketAuto must be an object, but found type: %s", v.Kind())
	}
	s := &bucketAutoStage{accumulating: accumulating{Collator: p.Collation}}
	output := value.NewDoc("count", value.Document(value.NewDoc("$sum", value.Int32(1))))
	for k, f := range v.Doc().All() {
		if k == "output" {
			if f.Kind() != value.KindDocument {
				return nil, mongoerr.Newf(40244, "The $bucketAuto 'output' field must be an object, but found type: %s", f.Kind())
			}
			if !f.Doc().IsEmpty() {
				output = f.Doc()
			}
			continue
		}
		if err := s.option(p, k, f); err != nil {
			return nil, err
		}
	}
	for k, f := range output.All() {
		a, err := s.addField(p, k, f)
		if err != nil {
			return nil, err
		}
		if a.n != nil {
			if _, ok := a.n.Const(); !ok {
				return nil, mongoerr.New(4544714, "Can't refer to the group key in $bucketAuto")
			}
		}
	}
	switch {
	case s.By == nil || s.buckets == 0:
		return nil, mongoerr.New(40246, "$bucketAuto requires 'groupBy' and 'buckets' to be specified")
	case s.buckets < 0:
		return nil, badBuckets(s.buckets)
	}
	return []stage.Stage{s}, nil
}

func badBuckets(n int64) error {
	return mongoerr.Newf(40243, "The $bucketAuto 'buckets' field must be greater than 0, but found: %d", n)
}

func (s *bucketAutoStage) option(p *stage.Parser, k string, f value.Value) (err error) {
	switch k {
	case "groupBy":
		if !stage.IsExpressionLike(f) || f.Kind() == value.KindString && len(f.Str()) < 2 {
			return mongoerr.Newf(40239, "The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an expression object, but found: %s", f)
		}
		s.By, err = p.Expr(f)
	case "buckets":
		if !f.IsNumber() {
			return mongoerr.Newf(40241, "The $bucketAuto 'buckets' field must be a numeric value, but found type: %s", f.Kind())
		}
		n, ok := f.AsInt64()
		if !ok || n != int64(int32(n)) {
			return mongoerr.Newf(40242, "The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found %s", strings.TrimSuffix(value.FormatDouble(f.AsDouble()), ".0"))
		}
		if n <= 0 {
			return badBuckets(n)
		}
		s.buckets = n
	case "granularity":
		if f.Kind() != value.KindString {
			return mongoerr.Newf(40261, "The $bucketAuto 'granularity' field must be a string, but found type: %s", f.Kind())
		}
		if s.rounder = rounders[f.Str()]; s.rounder == nil {
			return mongoerr.Newf(40257, "Unknown rounding granularity '%s'", f.Str())
		}
	default:
		return mongoerr.Newf(40245, "Unrecognized option to $bucketAuto: %s", k)
	}
	return err
}

func (s *bucketAutoStage) Name() string { return "$bucketAuto" }

func (s *bucketAutoStage) Spec() value.Value {
	b := value.NewBuilder().Append("groupBy", s.By.Value()).Int32("buckets", int32(s.buckets))
	if s.rounder != nil {
		b.String("granularity", s.rounder.name)
	}
	b.StartDocument("output")
	s.appendFields(b)
	return value.Document(b.Doc())
}

func (s *bucketAutoStage) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return stage.Lazy(src, func() (stage.Iterator, error) {
		it := &bucketAutoIterator{x: x, s: s}
		r := order.NewSorter(x, s, 0, x.Limit(x.Limits.BucketAuto))
		err := r.Fill(src, func(d value.Doc) error { return it.add(r, d) })
		if err != nil {
			return nil, err
		}
		if it.sorted, err = r.Sorted(); err != nil {
			return nil, err
		}
		it.size = max(int64(math.Round(float64(it.docs)/float64(s.buckets))), 1)
		return it, it.advance()
	}), nil
}

// bucketAutoIterator makes buckets of the sorted documents.
type bucketAutoIterator struct {
	x      *stage.Exec
	s      *bucketAutoStage
	sorted *order.Iterator
	docs   int64
	size   int64 // documents a bucket should have
	n      int64 // buckets made
	key    []byte
	next   positioned  // the next document, doc nil at the end
	max    value.Value // upper bound of the bucket before, Missing: none
}

// positioned is a document with its value and its place in the input.
type positioned struct {
	v        value.Value
	doc      value.Doc
	meta     expr.Meta
	position uint64
}

// groupKey evaluates groupBy and checks it against the granularity.
func (it *bucketAutoIterator) groupKey(d value.Doc) (value.Value, error) {
	v, err := it.s.By.Eval(it.x.Env, d)
	if err != nil {
		return v, err
	}
	if v.IsMissing() {
		v = value.Null()
	}
	if it.s.rounder == nil {
		return v, nil
	}
	switch {
	case !v.IsNumber():
		return v, mongoerr.Newf(40258, "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a value with type: %s", v.Kind())
	case v.IsNaN():
		return v, mongoerr.New(40259, "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a NaN")
	case v.AsDouble() < 0:
		return v, mongoerr.New(40260, "$bucketAuto can specify a 'granularity' with non-negative numbers only, but found a negative number")
	}
	return v, nil
}

func (it *bucketAutoIterator) add(r *order.Sorter, d value.Doc) error {
	v, err := it.groupKey(d)
	if err != nil {
		return err
	}
	it.docs++
	it.key = value.AppendKeyWith(it.key[:0], v, it.s.Collator)
	it.key = binary.BigEndian.AppendUint64(it.key, uint64(it.docs))
	return r.AddKeyed(it.key, d)
}

// advance reads the next document.
func (it *bucketAutoIterator) advance() error {
	rec, err := it.sorted.Record()
	it.next = positioned{doc: rec.Doc, meta: rec.Meta}
	if rec.Doc == nil || err != nil {
		return err
	}
	it.next.position = binary.BigEndian.Uint64(rec.Key[len(rec.Key)-8:])
	it.next.v, err = it.groupKey(rec.Doc)
	return err
}

func (it *bucketAutoIterator) Next() (value.Doc, error) {
	if it.next.doc == nil || it.n >= it.s.buckets {
		return nil, nil
	}
	it.n++
	lower := it.next.v
	var docs []positioned
	for it.next.doc != nil && (int64(len(docs)) < it.size || it.n == it.s.buckets) {
		docs = append(docs, it.next)
		if err := it.advance(); err != nil {
			return nil, err
		}
	}
	lower, upper, docs, err := it.bounds(lower, docs)
	if err != nil {
		return nil, err
	}
	it.max = upper
	return it.bucket(lower, upper, docs)
}

// bounds finds the bounds of a bucket. It also adds the next documents whose value equals
// the upper bound or, with a granularity, is rounded to it.
func (it *bucketAutoIterator) bounds(lower value.Value, docs []positioned) (lo, hi value.Value, _ []positioned, err error) {
	greatest := func() value.Value { return docs[len(docs)-1].v }
	compare := func(a, b value.Value) int { return value.CompareWith(a, b, it.s.Collator) }
	if it.s.rounder == nil {
		for it.next.doc != nil && compare(greatest(), it.next.v) == 0 {
			docs = append(docs, it.next)
			if err := it.advance(); err != nil {
				return lo, hi, nil, err
			}
		}
		if it.next.doc != nil {
			return lower, it.next.v, docs, nil
		}
		return lower, greatest(), docs, nil
	}
	if lo = it.max; lo.IsMissing() {
		lo = it.s.rounder.down(lower)
	}
	boundary := it.s.rounder.up(greatest())
	for it.next.doc != nil && (compare(boundary, it.next.v) > 0 || compare(greatest(), it.next.v) == 0) {
		docs = append(docs, it.next)
		if err := it.advance(); err != nil {
			return lo, hi, nil, err
		}
	}
	if boundary.AsDouble() == 0 && it.next.doc != nil {
		boundary = it.s.rounder.down(it.next.v)
	}
	return lo, boundary, docs, nil
}

// bucket returns the result for a bucket. The accumulators see its documents in the
// order of the input.
func (it *bucketAutoIterator) bucket(lower, upper value.Value, docs []positioned) (value.Doc, error) {
	slices.SortFunc(docs, func(a, b positioned) int { return int(int64(a.position - b.position)) })
	b := value.NewBuilder()
	b.StartDocument("_id").Append("min", lower).Append("max", upper).End()
	for _, a := range it.s.Fields {
		st, err := a.Start(it.x, value.Value{})
		if err != nil {
			return nil, err
		}
		if err := it.feed(a, st, docs); err != nil {
			return nil, err
		}
		v, err := resultOf(st)
		if err != nil {
			return nil, err
		}
		b.Append(a.field, v)
	}
	return b.Doc(), nil
}

func (it *bucketAutoIterator) feed(a *Accumulation, st accumulate.Accumulator, docs []positioned) error {
	for _, d := range docs {
		it.x.Env.Meta = d.meta
		if err := a.feed(it.x, st, d.doc, it.s.Collator); err != nil {
			return err
		}
	}
	return nil
}

func (it *bucketAutoIterator) Close() { it.sorted.Close() }
