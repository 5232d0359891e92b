package match

import (
	"math"
	"strconv"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/geo"
	"github.com/duskdb/duskdb/value"
)

// Geo is $geoWithin or $geoIntersects.
type Geo struct {
	leafPath
	Within bool // $geoWithin; else $geoIntersects
	Shape  *geo.Geometry
	spec   value.Doc // the argument
}

func (n *Geo) rank() int { return rankGeo }

func (n *Geo) shape() uint64 { return leafShape("$geo", n) }

func (n *Geo) explain(x *explainer, inverted bool) { x.leaf(leafOperator(n), n, inverted) }

func (n *Geo) reasons() reasons {
	if n.Within {
		return reasons{
			failed:  "none of the considered geometries were contained within the expression's geometry",
			matched: "at least one of the considered geometries was contained within the expression's geometry",
		}
	}
	return reasons{
		failed:  "none of the considered geometries intersected the expression's geometry",
		matched: "at least one of the considered geometries intersected the expression's geometry",
	}
}

func (n *Geo) debug(w *treeWriter, depth int) {
	w.line(depth, "GEO raw = %v", specificationOf(n))
}

func (n *Geo) cheap() bool { return false }

func (n *Geo) match(env *expr.Env, d value.Doc, pos *int) (bool, error) {
	return n.walk(n, env, d, pos)
}

func (n *Geo) matchValue(env *expr.Env, v value.Value, _ *int) (bool, error) {
	g, ok := storedGeometry(v)
	if !ok {
		return false, nil
	}
	if n.Within {
		return n.Shape.ContainsUnless(g, env.Weigh)
	}
	return n.Shape.IntersectsUnless(g, env.Weigh)
}

// storedGeometry reads a geometry from a document. Values that are not
// geometries, or are larger than a hemisphere, never match.
func storedGeometry(v value.Value) (*geo.Geometry, bool) {
	if k := v.Kind(); k != value.KindDocument && k != value.KindArray {
		return nil, false
	}
	g, err := geo.ParseStored(v)
	return g, err == nil && !g.Big
}

func (n *Geo) appendTo(b *value.Builder) { appendLeaf(b, n) }

func (n *Geo) appendOperator(b *value.Builder) {
	if n.Within {
		b.Document("$geoWithin", n.spec)
		return
	}
	b.Document("$geoIntersects", n.spec)
}

// parseGeo returns the parser of $geoWithin (within) or $geoIntersects.
func parseGeo(within bool) fieldParser {
	return func(_ *parser, path value.Path, context value.Doc, e element) (Node, error) {
		bad := func(format string, args ...any) (Node, error) {
			return nil, mongoerr.Newf(mongoerr.BadValue, format, args...)
		}
		if context.Len() > 1 {
			return bad("can't parse extra field: %v", secondElement(context))
		}
		if e.v.Kind() != value.KindDocument {
			return bad("geometry must be an object")
		}
		n := &Geo{leafPath: leafPath{Path: path}, Within: within, spec: e.v.Doc()}
		for name, v := range e.v.Doc().All() {
			if name == "$uniqueDocs" {
				continue
			}
			if n.Shape != nil && e.name == "$geoWithin" {
				return bad("$geoWithin doesn't accept multiple shapes %v", e)
			}
			shape, err := geo.ParseShape(name, v)
			if err != nil {
				return nil, err
			}
			n.Shape = shape
		}
		switch {
		case n.Shape == nil:
			return bad("geo query doesn't have any geometry")
		case within && !n.Shape.HasArea():
			return bad("$within not supported with provided geometry: %v", context)
		case !within && !n.Shape.OnSphere():
			return bad("$geoIntersect not supported with provided geometry: %v", context)
		}
		return n, nil
	}
}

func secondElement(d value.Doc) element {
	it := d.Iter()
	it.Next()
	it.Next()
	return element{it.Key(), it.Value()}
}

// Near is $near or $nearSphere: documents in the order of their distance from
// a point. As a filter it tests the limits of the distance; the executor of
// the query is responsible for the order.
type Near struct {
	leafPath
	Center geo.XY
	// Sphere computes distances on the sphere. They are then meters or, with
	// Radians, radians; else the units of the plane.
	Sphere, Radians bool
	Min, Max        float64
	spec            value.Doc
	nearSphere      bool // a $nearSphere of the old form, without $geometry
}

func (n *Near) rank() int { return rankNear }

func (n *Near) shape() uint64 { return leafShape("$near", n) }

func (n *Near) explain(x *explainer, inverted bool) { x.leaf(leafOperator(n), n, inverted) }

// reasons has none: a validator refuses the operator.
func (n *Near) reasons() reasons { return reasons{} }

// debug writes a number as a C++ stream does: six digits, and the greatest
// double where there is no limit.
func (n *Near) debug(w *treeWriter, depth int) {
	farthest := "1.79769e+308"
	if !math.IsInf(n.Max, 1) {
		farthest = strconv.FormatFloat(n.Max, 'g', 6, 64)
	}
	w.line(depth, "GEONEAR  field=%s maxdist=%s isNearSphere=%s", n.Path.String(), farthest, digit(n.nearSphere))
}

func (n *Near) cheap() bool { return false }

func (n *Near) match(env *expr.Env, d value.Doc, pos *int) (bool, error) {
	return n.walk(n, env, d, pos)
}

func (n *Near) matchValue(_ *expr.Env, v value.Value, _ *int) (bool, error) {
	d, ok := n.Distance(v)
	return ok && d >= n.Min && d <= n.Max, nil
}

// Distance returns the distance of a stored value from the center; ok is false
// if the value is not a geometry with a distance.
func (n *Near) Distance(v value.Value) (d float64, ok bool) {
	g, ok := storedGeometry(v)
	if !ok {
		return 0, false
	}
	if !n.Sphere {
		return g.FlatDistance(n.Center)
	}
	d, ok = g.Angle(n.Center)
	if !n.Radians {
		d *= geo.EarthRadius
	}
	return d, ok
}

// Nearest returns the stored geometry at the path with the smallest distance
// within the limits; ok is false if no geometry is within the limits.
func (n *Near) Nearest(doc value.Doc) (v value.Value, best float64, ok bool) {
	n.Path.Each(doc, value.LeafTraverse, func(g value.Value, _ int) bool {
		d, found := n.Distance(g)
		if found && d >= n.Min && d <= n.Max && (!ok || d < best) {
			v, best, ok = g, d, true
		}
		return false
	})
	return v, best, ok
}

func (n *Near) appendTo(b *value.Builder) { appendLeaf(b, n) }

func (n *Near) appendOperator(b *value.Builder) {
	for name, v := range n.spec.All() {
		b.Append(name, v)
	}
}

// isNear reports whether d begins with $near: then its other fields are
// modifiers, not operators.
func isNear(d value.Doc) bool {
	name, v := d.First()
	switch name {
	case "$near", "$nearSphere", "$geoNear":
		return v.Kind() == value.KindDocument || v.Kind() == value.KindArray
	}
	return false
}

// near parses $near, $nearSphere and their modifiers, in the form with
// $geometry and in the legacy form.
func (p *parser) near(path value.Path, d value.Doc) (Node, error) {
	if !p.o.AllowNear {
		return nil, mongoerr.New(5626500, "$geoNear, $near, and $nearSphere are not allowed in this context")
	}
	n := &Near{leafPath: leafPath{Path: path}, Max: math.Inf(1), spec: d}
	center, err := n.legacy(d)
	if err == nil && center == nil {
		*n = Near{leafPath: n.leafPath, Max: math.Inf(1), spec: d}
		center, err = n.modern(d)
	}
	if err != nil {
		return nil, err
	}
	n.Center, _ = center.Point()
	n.Sphere = n.Sphere || !center.Flat
	if n.Sphere && center.Flat {
		if !center.OnSphere() {
			return nil, mongoerr.New(mongoerr.BadValue, "Legacy point is out of bounds for spherical query")
		}
		n.Radians = true
	}
	return n, nil
}

// legacy reads {$near: point, $minDistance: …, $maxDistance: …}. The center is
// nil if d does not have that form.
func (n *Near) legacy(d value.Doc) (center *geo.Geometry, err error) {
	for name, v := range d.All() {
		switch name {
		case "$near", "$nearSphere", "$geoNear":
			g, err := geo.ParsePoint(v)
			if err != nil {
				var ok bool
				if g, n.Max, ok = geo.ParsePointWithDistance(v); !ok {
					n.Max = math.Inf(1)
					continue
				}
				if !(n.Max >= 0) {
					return nil, mongoerr.New(18522, "max distance must be non-negative")
				}
			}
			n.nearSphere = name == "$nearSphere"
			center, n.Sphere = g, n.nearSphere
		case "$minDistance":
			n.Min, err = distance(name, v, 16893, 16894)
		case "$maxDistance":
			n.Max, err = distance(name, v, 16895, 16896)
		case "$uniqueDocs":
		default:
			err = mongoerr.Newf(34413, "invalid argument in geo near query: %s", name)
		}
		if err != nil {
			return nil, err
		}
	}
	return center, nil
}

func distance(name string, v value.Value, notNumber, negative mongoerr.Code) (float64, error) {
	d := v.AsDouble()
	switch {
	case !v.IsNumber():
		return 0, mongoerr.Newf(notNumber, "%s must be a number", name)
	case !(d >= 0):
		return 0, mongoerr.Newf(negative, "%s must be non-negative", name)
	}
	return d, nil
}

// finiteDistance reads a distance limit beside $geometry.
func finiteDistance(name string, v value.Value) (float64, error) {
	d, err := distance(name, v, mongoerr.BadValue, mongoerr.BadValue)
	if err == nil && math.IsInf(d, 1) {
		err = mongoerr.Newf(mongoerr.BadValue, "%s must be non-negative", name)
	}
	return d, err
}

// modern reads {$near: {$geometry: point, $minDistance: …, $maxDistance: …}}.
func (n *Near) modern(d value.Doc) (center *geo.Geometry, err error) {
	if d.Len() > 1 {
		return nil, mongoerr.Newf(mongoerr.BadValue, "geo near accepts just one argument when querying for a GeoJSON "+
			"point. Extra field found: %v", secondElement(d))
	}
	operator, arg := d.First()
	n.Sphere = operator == "$nearSphere"
	for name, v := range arg.Doc().All() {
		switch name {
		case "$geometry":
			center, err = nearGeometry(v)
		case "$minDistance":
			n.Min, err = finiteDistance(name, v)
		case "$maxDistance":
			n.Max, err = finiteDistance(name, v)
		default:
			err = mongoerr.Newf(mongoerr.BadValue, "invalid argument in geo near query: %s", name)
		}
		if err != nil {
			return nil, err
		}
	}
	if center == nil {
		err = mongoerr.New(mongoerr.BadValue, "$geometry is required for geo near query")
	}
	return center, err
}

func nearGeometry(v value.Value) (*geo.Geometry, error) {
	g, err := geo.ParsePoint(v)
	if t := v.Doc().Lookup("type"); err == nil && !g.Flat && !t.IsMissing() && t.Str() != "Point" {
		err = mongoerr.Newf(mongoerr.BadValue, "GeoJSON of a point has the type %v", t)
	}
	if err != nil {
		// sic: mongod
		return nil, mongoerr.Newf(mongoerr.BadValue, "invalid point in geo near query $geometry argument: %v  %s",
			v, mongoerr.From(err).Message)
	}
	if g.Flat {
		return nil, mongoerr.Newf(mongoerr.BadValue, "$near requires geojson point, given %v", v)
	}
	return g, nil
}

// parseLateNear refuses $near after another operator.
func parseLateNear(_ *parser, _ value.Path, context value.Doc, _ element) (Node, error) {
	return nil, mongoerr.Newf(mongoerr.BadValue, "near must be first in: %v", context)
}
