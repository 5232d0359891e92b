package source

import (
	"math"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// GeoNear is $geoNear. The host gives the documents in order of
// distance, with the distance as metadata; the stage writes the distance into them.
type GeoNear struct {
	Near       *stage.Near
	Query      value.Doc
	Matcher    *match.Matcher
	distance   []string // field for the distance, nil: none
	locs       []string // field for the point, nil: none
	multiplier float64
	source     value.Doc
	variable   map[string]*expr.Expr // arguments that depend on variables
}

// ParseGeoNear compiles $geoNear.
func ParseGeoNear(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() == value.KindArray { // for mongod an array is an object whose field names are numbers
		return nil, mongoerr.New(5860400, "$geoNear requires a 'near' argument")
	}
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.New(10065, "invalid parameter: expected an object ($geoNear)")
	}
	s := &GeoNear{Near: &stage.Near{MaxDistance: math.Inf(1)}, multiplier: 1, Query: value.EmptyDoc, source: v.Doc()}
	for k, f := range v.Doc().All() {
		if err := s.argument(p, k, f); err != nil {
			return nil, err
		}
	}
	switch {
	case s.Near.Point.IsMissing() && s.variable["near"] == nil:
		return nil, mongoerr.New(5860400, "$geoNear requires a 'near' argument")
	case s.distance == nil && !p.Scope.Dialect().Has(dialect.GeoNearWithoutDistance):
		return nil, mongoerr.New(16606, "$geoNear requires a 'distanceField' option as a String")
	}
	var err error
	s.Matcher, err = match.Compile(s.Query, match.Options{Scope: p.Scope, Collation: p.Collation})
	return []stage.Stage{s}, err
}

// geoNearVariable are the arguments that may depend on variables, in the order
// in which they are evaluated.
var geoNearVariable = []string{"near", "maxDistance", "minDistance"}

// notConstant are the codes for arguments that depend on a document.
var notConstant = map[string]mongoerr.Code{"near": 5860402, "minDistance": 7555701, "maxDistance": 7555702}

// argument reads an option. The point and the distances may be expressions of
// variables; Bind evaluates them.
func (s *GeoNear) argument(p *stage.Parser, k string, f value.Value) error {
	if !slices.Contains(geoNearVariable, k) {
		return s.option(k, f)
	}
	e, err := p.Expr(f)
	if err != nil {
		return err
	}
	if c, ok := e.Const(); ok {
		return s.option(k, c)
	}
	reads := false
	e.Deps(func(string) { reads = true }, func() { reads = true })
	if reads {
		return mongoerr.Newf(notConstant[k], "$geoNear requires '%s' to be a constant expression or one of variables", k)
	}
	if s.variable == nil {
		s.variable = map[string]*expr.Expr{}
	}
	s.variable[k] = e
	return nil
}

// Bind evaluates the arguments that depend on variables.
func (s *GeoNear) Bind(env *expr.Env) (*stage.Near, error) {
	if s.variable == nil {
		return s.Near, nil
	}
	near := *s.Near
	bound := GeoNear{Near: &near}
	for _, k := range geoNearVariable {
		e := s.variable[k]
		if e == nil {
			continue
		}
		v, err := e.Eval(env, value.EmptyDoc)
		if err != nil {
			return nil, err
		}
		if err := bound.option(k, v); err != nil {
			return nil, err
		}
	}
	return &near, nil
}

func (s *GeoNear) option(k string, f value.Value) (err error) {
	switch k {
	case "near":
		s.Near.Point, err = geoPoint(f)
	case "distanceField":
		if f.Kind() != value.KindString {
			return mongoerr.New(16606, "$geoNear requires that the 'distanceField' option is a String")
		}
		s.distance = strings.Split(strings.Clone(f.Str()), ".")
		return checkOutputPath(f.Str())
	case "includeLocs":
		if f.Kind() != value.KindString {
			return mongoerr.New(16607, "$geoNear requires that 'includeLocs' option is a String")
		}
		s.locs = strings.Split(strings.Clone(f.Str()), ".")
		return checkOutputPath(f.Str())
	case "maxDistance":
		s.Near.MaxDistance, err = geoDistance(k, f)
	case "minDistance":
		s.Near.MinDistance, err = geoDistance(k, f)
	case "distanceMultiplier":
		s.multiplier, err = geoDistance(k, f)
	case "query":
		if f.Kind() != value.KindDocument {
			return mongoerr.Newf(mongoerr.TypeMismatch, "query must be an object but found: %s", f.Kind())
		}
		s.Query = f.Doc()
	case "spherical":
		s.Near.Spherical = f.Truthy()
	case "key":
		if f.Kind() != value.KindString {
			return mongoerr.Newf(mongoerr.TypeMismatch, "$geoNear parameter 'key' must be of type string but found type: %s", f.Kind())
		}
		if f.Str() == "" {
			return mongoerr.New(mongoerr.BadValue, "$geoNear parameter 'key' cannot be the empty string")
		}
		if err := stage.CheckFieldPath(f.Str()); err != nil {
			return err
		}
		if parts := strings.Count(f.Str(), ".") + 1; parts > maxPathDepth-20 {
			return mongoerr.Newf(5729100, "$geoNear parameter 'key' has %d components, which are more than it may have", parts)
		}
		s.Near.Key = strings.Clone(f.Str())
	case "uniqueDocs":
	case "limit":
		return mongoerr.New(50858, "$geoNear no longer supports the 'limit' parameter. Use a $limit stage instead.")
	case "num":
		return mongoerr.New(50857, "$geoNear no longer supports the 'num' parameter. Use a $limit stage instead.")
	case "start":
		return mongoerr.New(50856, "$geoNear no longer supports the 'start' argument.")
	case "collation":
		return mongoerr.New(40227, "$geoNear does not accept the 'collation' parameter. Instead, specify a collation for the entire aggregation command.")
	default:
		return mongoerr.Newf(mongoerr.BadValue, "Unknown argument to $geoNear: %s", k)
	}
	return err
}

// maxPathDepth is how many components a path may have.
const maxPathDepth = 200

// checkOutputPath checks a path that is written. The limit on its depth is one less,
// since the document itself counts.
func checkOutputPath(path string) error {
	if err := stage.CheckFieldPath(path); err != nil {
		return err
	}
	if strings.Count(path, ".")+1 >= maxPathDepth {
		return mongoerr.New(5984700, "Field path exceeds path length limit")
	}
	return nil
}

// geoPoint checks the point to measure from: GeoJSON or a legacy pair.
func geoPoint(v value.Value) (value.Value, error) {
	coords := v
	switch v.Kind() {
	case value.KindDocument:
		if c, ok := v.Doc().Get("coordinates"); ok {
			if t := v.Doc().Lookup("type"); !t.IsMissing() && t.Str() != "Point" {
				return v, mongoerr.New(mongoerr.BadValue, "$geoNear requires a 'near' option that is a GeoJSON Point or a legacy pair")
			}
			coords = c
		}
	case value.KindArray:
	default:
		return v, mongoerr.New(5860401, "$geoNear requires a 'near' argument that is an object or an array")
	}
	if coords.Kind() != value.KindArray && coords.Kind() != value.KindDocument {
		return v, badPoint(v)
	}
	n := 0
	for c := range coords.Doc().Values() {
		if n++; n <= 2 && !c.IsNumber() {
			return v, badPoint(v)
		}
	}
	if n < 2 {
		return v, badPoint(v)
	}
	return v, nil
}

func badPoint(v value.Value) error {
	return mongoerr.Newf(mongoerr.BadValue, "invalid point in geo near query $geometry argument: %s  Point must only contain numeric elements", v)
}

func geoDistance(k string, f value.Value) (float64, error) {
	if !f.IsNumber() {
		return 0, mongoerr.Newf(mongoerr.TypeMismatch, "%s must be a number", k)
	}
	x := f.AsDouble()
	if x < 0 || math.IsNaN(x) {
		return 0, mongoerr.Newf(mongoerr.BadValue, "%s must be non-negative", k)
	}
	return x, nil
}

// Name is the name of the stage.
func (s *GeoNear) Name() string { return "$geoNear" }

// Spec is the stage as explain shows it.
func (s *GeoNear) Spec() value.Value { return value.Document(s.source) }

// Deps notes what the stage reads.
func (s *GeoNear) Deps(d *stage.Deps) stage.Reach {
	// The host measures the distance on the whole document.
	d.All()
	return stage.SeesAll
}

// Effect says what the stage changes.
func (s *GeoNear) Effect() stage.Effect {
	e := stage.Effect{Opaque: true}
	if s.distance != nil {
		e.Modified = []string{strings.Join(s.distance, ".")}
	}
	return e
}

// Gives lists the metadata that the documents may have.
func (s *GeoNear) Gives() (kinds []expr.MetaKind, all bool) {
	return []expr.MetaKind{expr.MetaGeoNearDistance, expr.MetaGeoNearPoint}, false
}

// Open runs the stage.
func (s *GeoNear) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return stage.Transformed(x, s, src), nil
}

// Transform makes one document of another.
func (s *GeoNear) Transform(x *stage.Exec, d value.Doc) (value.Doc, error) {
	if s.distance != nil {
		distance := x.Env.Meta.Get(expr.MetaGeoNearDistance)
		d = stage.SetPath(d, s.distance, value.Double(distance.AsDouble()*s.multiplier))
	}
	if s.locs != nil {
		d = stage.SetPath(d, s.locs, x.Env.Meta.Get(expr.MetaGeoNearPoint))
	}
	return d, nil
}
