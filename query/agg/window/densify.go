package window

import (
	"math"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// maxDensifyDocs is the number of documents that $densify may create
// (internalQueryMaxAllowedDensifyDocs).
const maxDensifyDocs = 500000

// densifyBounds is the kind of range in which $densify creates documents.
type densifyBounds byte

const (
	boundsFull densifyBounds = iota
	boundsPartition
	boundsExplicit
)

// densifyStage is $densify on sorted input: it creates documents for the steps
// that are missing between the values of a field.
type densifyStage struct {
	field      string
	parts      []string
	partitions []string
	step       value.Value
	unit       dateUnit // name "": numbers
	bounds     densifyBounds
	lower      value.Value // explicit bounds
	upper      value.Value
	source     value.Doc
}

// ParseDensify compiles $densify.
func ParseDensify(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(mongoerr.FailedToParse, "The $densify stage specification must be an object, found %s", v.Kind())
	}
	s := &densifyStage{source: v.Doc()}
	var rng value.Doc
	for k, f := range v.Doc().All() {
		var err error
		switch k {
		case "field":
			s.field, err = stage.StringField("$densify", k, f)
		case "partitionByFields":
			s.partitions, err = stage.StringsField("$densify", k, f)
		case "range":
			rng, err = stage.ObjectField("$densify", k, f)
		default:
			err = stage.UnknownField("$densify", k)
		}
		if err != nil {
			return nil, err
		}
	}
	if s.field == "" && !v.Doc().Has("field") {
		return nil, stage.MissingField("$densify", "field")
	}
	if rng == nil {
		return nil, stage.MissingField("$densify", "range")
	}
	if err := s.parseRange(rng); err != nil {
		return nil, err
	}
	for _, path := range append([]string{s.field}, s.partitions...) {
		if err := stage.CheckFieldPath(path); err != nil {
			return nil, err
		}
	}
	s.parts = strings.Split(s.field, ".")
	if s.bounds == boundsPartition && len(s.partitions) == 0 {
		return nil, mongoerr.New(5733408, "One cannot specify the bounds as 'partition' without specifying a non-empty array of partitionByFields. You may have meant to specify 'full' bounds.")
	}
	for _, part := range s.partitions {
		switch { // mongod compares bytes, so "ab" includes "a"
		case strings.HasPrefix(part, s.field):
			return nil, mongoerr.Newf(8993000, "partitionByFields '%s' cannot include field '%s' that is being densified.", part, s.field)
		case strings.HasPrefix(s.field, part):
			return nil, mongoerr.Newf(9554500, "field '%s' that is being densified cannot include partitionByFields '%s'.", s.field, part)
		}
	}
	sort, err := order.Parse(p, value.Document(s.sortPattern()))
	return append(sort, s), err
}

// sortPattern returns the order that the stage requires.
func (s *densifyStage) sortPattern() value.Doc {
	b := value.NewBuilder()
	if s.bounds != boundsFull {
		for _, part := range s.partitions {
			b.Int32(part, 1)
		}
	}
	return b.Int32(s.field, 1).Doc()
}

func (s *densifyStage) parseRange(d value.Doc) error {
	var bounds, unit value.Value
	for k, f := range d.All() {
		switch k {
		case "step":
			s.step = f
		case "bounds":
			bounds = f
		case "unit":
			if f.Kind() != value.KindString {
				return stage.WrongType("$densify.range", "unit", f, "string")
			}
			unit = f
		default:
			return stage.UnknownField("$densify.range", k)
		}
	}
	switch {
	case s.step.IsMissing():
		return stage.MissingField("$densify.range", "step")
	case bounds.IsMissing():
		return stage.MissingField("$densify.range", "bounds")
	case !s.step.IsNumber() || value.Compare(s.step, value.Int32(0)) <= 0:
		return mongoerr.New(5733401, "The step parameter in a range statement must be a strictly positive numeric value")
	}
	if !unit.IsMissing() {
		if _, whole := s.step.AsInt64(); !whole {
			return mongoerr.New(6586400, "The step parameter in a range statement must be a whole number when densifying a date range")
		}
		var err error
		if s.unit, err = parseDateUnit(unit.Str()); err != nil {
			return err
		}
	}
	return s.parseBounds(bounds)
}

func (s *densifyStage) parseBounds(v value.Value) error {
	switch v.Kind() {
	case value.KindString:
		switch v.Str() {
		case "full":
			s.bounds = boundsFull
		case "partition":
			s.bounds = boundsPartition
		default:
			return mongoerr.New(5946802, "Bounds string must either be 'full' or 'partition'")
		}
		return nil
	case value.KindArray:
		return s.parseExplicit(v.Doc())
	}
	return mongoerr.New(5733404, "The bounds in a range statement must be the string 'full', 'partition', or an ascending array of two numbers or two dates")
}

func (s *densifyStage) parseExplicit(a value.Doc) error {
	if a.Len() != 2 {
		return mongoerr.New(5733403, "A bounding array in a range statement must have exactly two elements")
	}
	s.bounds, s.lower, s.upper = boundsExplicit, a.Index(0), a.Index(1)
	const mixed = "A bounding array must contain either both dates or both numeric types"
	switch {
	case value.Compare(s.lower, s.upper) > 0:
		return mongoerr.New(5733402, "A bounding array must be an ascending array of either two dates or two numbers")
	case s.lower.IsNumber() && s.unit.name != "":
		return mongoerr.New(5733409, "Numeric bounds may not have unit parameter")
	case s.lower.IsNumber() && !s.upper.IsNumber():
		return mongoerr.New(5733406, mixed)
	case s.lower.IsNumber() && (s.lower.Kind() != s.upper.Kind() || s.lower.Kind() != s.step.Kind()):
		return mongoerr.New(5876900, "Upper bound, lower bound, and step must all have the same type")
	case s.lower.IsNumber():
		return nil
	case s.lower.Kind() != value.KindDateTime:
		return mongoerr.New(5946800, "Explicit bounds must be numeric or dates")
	case s.upper.Kind() != value.KindDateTime:
		return mongoerr.New(5733405, mixed)
	case s.unit.name == "":
		return mongoerr.New(5733410, "A bounding array of dates must specify a unit")
	}
	return nil
}

func (s *densifyStage) Name() string { return "$_internalDensify" }

func (s *densifyStage) Spec() value.Value {
	b := value.NewBuilder().String("field", s.field).StartArray("partitionByFields")
	for _, part := range s.partitions {
		b.String("", part)
	}
	b.End().StartDocument("range").Append("step", s.step)
	b.Append("bounds", s.source.Lookup("range").Doc().Lookup("bounds"))
	if s.unit.name != "" {
		b.String("unit", s.unit.name)
	}
	return value.Document(b.Doc())
}

func (s *densifyStage) Deps(d *stage.Deps) stage.Reach {
	d.Add(s.field)
	for _, part := range s.partitions {
		d.Add(part)
	}
	return stage.SeesAll
}

func (s *densifyStage) Effect() stage.Effect { return stage.Effect{Opaque: true} }

// next returns v plus one step.
func (s *densifyStage) next(v value.Value) value.Value {
	if v.Kind() == value.KindDateTime {
		return value.DateTime(s.unit.add(v.DateTime(), s.step.SafeInt64()))
	}
	sum, ok := value.Add(v, s.step)
	if !ok {
		return value.Double(v.AsDouble() + s.step.AsDouble())
	}
	return sum
}

// onStep reports whether v is base plus a whole number of steps.
func (s *densifyStage) onStep(v, base value.Value) bool {
	if value.Compare(v, base) < 0 {
		return false
	}
	if v.Kind() == value.KindDateTime {
		return s.unit.onStep(v.DateTime(), base.DateTime(), s.step.SafeInt64())
	}
	a, okA := v.AsInt64()
	b, okB := base.AsInt64()
	n, okN := s.step.AsInt64()
	if okA && okB && okN {
		return (a-b)%n == 0
	}
	return math.Mod(v.AsDouble()-base.AsDouble(), s.step.AsDouble()) == 0
}
