package timeseries

import (
	"math"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// Pushdown is a filter on measurements, translated to buckets. It never
// excludes a bucket with a matching measurement; each measurement must be
// matched again, unless MetaOnly. It is immutable.
type Pushdown struct {
	// Filter is a filter on buckets that an index can serve: conditions on
	// meta, control.min and control.max of the time. It may be empty.
	Filter value.Doc
	// MetaOnly reports whether the filter uses the meta field alone: then Filter
	// is equivalent to it, and either all measurements of a bucket match or none.
	MetaOnly bool

	o     *Options
	check check
	times *timeBounds // the filter uses only meta and these instants; nil: it uses other fields
}

// PushdownOptions define the order of strings.
type PushdownOptions struct {
	// Collation is the collection's, nil for simple.
	Collation value.Collator
	// OtherCollation reports whether the query has another collation, so that the
	// control values cannot decide comparisons of strings.
	OtherCollation bool
}

// NewPushdown translates a valid filter.
func (o *Options) NewPushdown(filter value.Doc, p PushdownOptions) *Pushdown {
	return o.newPushdown(filter, p, o.MaxSpan*1000)
}

func (o *Options) newPushdown(filter value.Doc, opt PushdownOptions, span int64) *Pushdown {
	b := &pushdownBuilder{o: o, PushdownOptions: opt, span: span}
	part := b.document(filter)
	p := &Pushdown{Filter: conjunction(part.conditions), MetaOnly: part.exact, o: o, check: part.check}
	if part.timed {
		p.times = &part.times
	}
	return p
}

// MayMatch reports whether a bucket may contain a matching measurement, by its
// control values. It does not check Filter.
func (p *Pushdown) MayMatch(bucket value.Doc) bool {
	if p.check == nil {
		return true
	}
	h := readHeader(p.o, bucket)
	return p.check.may(&h)
}

// MayMatchSummary is MayMatch for a bucket's summary.
func (p *Pushdown) MayMatchSummary(s *Summary) bool { return p.check == nil || p.check.may(&s.h) }

// Whole reports whether the control values show that the filter matches every
// measurement of a bucket that matches Filter.
func (p *Pushdown) Whole(s *Summary) bool {
	if p.MetaOnly {
		return true
	}
	return p.times != nil && s.timed && s.h.minimum >= p.times.after && s.last <= p.times.until
}

// WholeFilter returns Whole as a filter on buckets; empty if that is not
// possible.
func (p *Pushdown) WholeFilter() value.Doc {
	b := value.NewBuilder()
	if p.times == nil {
		return b.Doc()
	}
	if p.times.after > math.MinInt64 {
		b.StartDocument(minPrefix+p.o.TimeField).Date("$gte", p.times.after).End()
	}
	if p.times.until < math.MaxInt64 {
		b.StartDocument(maxPrefix+p.o.TimeField).Date("$lte", p.times.until).End()
	}
	return b.Doc()
}

// part is the translation of one part of a filter.
type part struct {
	conditions []value.Doc // conditions on buckets, all of which must hold; empty: unknown
	exact      bool        // nothing but conditions on meta
	check      check       // nil: unknown
	timed      bool        // nothing but conditions on meta, and that the time lies within times
	times      timeBounds
}

// nothing returns the part without conditions.
func nothing() part { return part{exact: true, timed: true, times: anyTime} }

// and joins p with a part that must hold as well. It returns checks with the check of q.
func (p *part) and(q part, checks all) all {
	p.conditions = append(p.conditions, q.conditions...)
	p.exact = p.exact && q.exact
	p.timed = p.timed && q.timed
	p.times.meet(q.times)
	if q.check != nil {
		return append(checks, q.check)
	}
	return checks
}

// checked is p with the checks of its parts.
func (p part) checked(checks all) part {
	if len(checks) > 0 {
		p.check = checks
	}
	return p
}

type pushdownBuilder struct {
	PushdownOptions
	o    *Options
	span int64 // milliseconds; 0: conditions may not depend on the span
}

func (b *pushdownBuilder) document(filter value.Doc) part {
	p := nothing()
	var checks all
	for name, v := range filter.All() {
		checks = p.and(b.element(name, v), checks)
	}
	return p.checked(checks)
}

// element translates one element of a filter: $and, $or, $nor or a predicate
// on a field.
func (b *pushdownBuilder) element(name string, v value.Value) part {
	switch name {
	case "$and":
		return b.and(v)
	case "$or":
		return b.or(v)
	case "$nor":
		return b.nor(v)
	case "$comment":
		return nothing()
	}
	if strings.HasPrefix(name, "$") {
		return part{}
	}
	if path, ok := b.o.metaPath(name); ok {
		return ofMeta(value.NewDoc(path, v))
	}
	return b.field(name, v)
}

// ofMeta returns the part with one condition on meta.
func ofMeta(condition value.Doc) part {
	p := nothing()
	p.conditions = []value.Doc{condition}
	return p
}

func (b *pushdownBuilder) and(v value.Value) part {
	p := nothing()
	var checks all
	for branch := range v.Doc().Values() {
		checks = p.and(b.document(branch.Doc()), checks)
	}
	return p.checked(checks)
}

// or translates a disjunction if all of its branches can be translated.
func (b *pushdownBuilder) or(v value.Value) part {
	p := part{exact: true}
	var branches value.ArrayBuilder
	var checks anyOf
	allConditions, allChecks := true, true // every branch has some
	for branch := range v.Doc().Values() {
		q := b.document(branch.Doc())
		p.exact = p.exact && q.exact
		if len(q.conditions) == 0 {
			allConditions = false
		}
		if q.check == nil {
			allChecks = false
		}
		branches.Append(value.Document(conjunction(q.conditions)))
		checks = append(checks, q.check)
	}
	p.timed, p.times = p.exact, anyTime
	if allConditions {
		p.conditions = []value.Doc{value.NewDoc("$or", branches.Value())}
	}
	// A branch whose conditions are all in Filter cannot be checked by control
	// values.
	if allChecks {
		p.check = checks
	}
	return p
}

// nor can be negated only if it uses meta alone.
func (b *pushdownBuilder) nor(v value.Value) part {
	var branches value.ArrayBuilder
	for branch := range v.Doc().Values() {
		q := b.document(branch.Doc())
		if !q.exact {
			return part{}
		}
		branches.Append(value.Document(conjunction(q.conditions)))
	}
	return ofMeta(value.NewDoc("$nor", branches.Value()))
}

// conjunction combines conditions into one filter.
func conjunction(conditions []value.Doc) value.Doc {
	seen := map[string]bool{}
	flat := true
	for _, c := range conditions {
		name, _ := c.First()
		flat = flat && !seen[name]
		seen[name] = true
	}
	b := value.NewBuilder()
	if flat {
		for _, c := range conditions {
			name, v := c.First()
			b.Append(name, v)
		}
		return b.Doc()
	}
	b.StartArray("$and")
	for _, c := range conditions {
		b.Document("", c)
	}
	return b.End().Doc()
}

// compareOps are the operators that can be checked by control values.
var compareOps = map[string]compareOp{
	"$eq": opEq, "$gt": opGt, "$gte": opGte, "$lt": opLt, "$lte": opLte,
}

type compareOp uint8

const (
	opEq compareOp = iota
	opGt
	opGte
	opLt
	opLte
)

// field reads the predicate on a field of the measurements.
func (b *pushdownBuilder) field(name string, v value.Value) part {
	path := value.ParsePath(name)
	var checks all
	bounds, within := anyTime, name == b.o.TimeField
	operators := v.Kind() == value.KindDocument && strings.HasPrefix(firstKey(v.Doc()), "$")
	if !operators {
		v = value.Document(value.NewDoc("$eq", v))
	}
	for op, arg := range v.Doc().All() {
		if op == "$in" {
			within = false
			if c := b.in(path, arg); c != nil {
				checks = append(checks, c)
			}
			continue
		}
		o, ok := compareOps[op]
		if !ok || !b.comparable(arg) {
			within = false
			continue
		}
		checks = append(checks, &comparison{path, o, arg, b.Collation})
		if name == b.o.TimeField && arg.Kind() == value.KindDateTime {
			bounds.narrow(o, arg.DateTime())
		} else {
			within = false
		}
	}
	p := part{conditions: bounds.conditions(name, b.span), timed: within, times: bounds}
	return p.checked(checks)
}

func firstKey(d value.Doc) string {
	name, _ := d.First()
	return name
}

// comparable reports whether control values can decide comparisons with a
// value: not for documents and arrays, whose parts they contain, nor for null,
// which equals missing fields.
func (b *pushdownBuilder) comparable(v value.Value) bool {
	switch v.Kind() {
	case value.KindInt32, value.KindInt64, value.KindDouble, value.KindDecimal:
		return !v.IsNaN()
	case value.KindString:
		return !b.OtherCollation
	case value.KindDateTime, value.KindBool, value.KindObjectID, value.KindTimestamp, value.KindBinary:
		return true
	}
	return false
}

func (b *pushdownBuilder) in(path value.Path, list value.Value) check {
	var one anyOf
	if list.Kind() != value.KindArray {
		return nil
	}
	for v := range list.Doc().Values() {
		if !b.comparable(v) {
			return nil
		}
		one = append(one, &comparison{path, opEq, v, b.Collation})
	}
	return one
}

// timeBounds are the instants that a predicate on the time allows, both
// ends included.
type timeBounds struct{ after, until int64 }

var anyTime = timeBounds{after: math.MinInt64, until: math.MaxInt64}

// meet keeps the instants that o allows as well.
func (t *timeBounds) meet(o timeBounds) {
	t.after, t.until = max(t.after, o.after), min(t.until, o.until)
}

func (t *timeBounds) narrow(op compareOp, ms int64) {
	switch op {
	case opEq:
		t.after, t.until = max(t.after, ms), min(t.until, ms)
	case opGt:
		t.after = max(t.after, value.AddClamped(ms, 1))
	case opGte:
		t.after = max(t.after, ms)
	case opLt:
		t.until = min(t.until, value.AddClamped(ms, -1))
	case opLte:
		t.until = min(t.until, ms)
	}
}

// conditions returns the conditions of the bounds on the minimum and the
// maximum of a bucket, which are less than span apart.
func (t *timeBounds) conditions(field string, span int64) (out []value.Doc) {
	lo, hi := value.NewBuilder(), value.NewBuilder() // of control.min and control.max
	if t.after > math.MinInt64 {
		hi.Date("$gte", t.after)
		if span > 0 {
			lo.Date("$gt", value.AddClamped(t.after, -span))
		}
	}
	if t.until < math.MaxInt64 {
		lo.Date("$lte", t.until)
		if span > 0 {
			hi.Date("$lt", value.AddClamped(t.until, span))
		}
	}
	if d := lo.Doc(); !d.IsEmpty() {
		out = append(out, value.NewDoc(minPrefix+field, value.Document(d)))
	}
	if d := hi.Doc(); !d.IsEmpty() {
		out = append(out, value.NewDoc(maxPrefix+field, value.Document(d)))
	}
	return out
}
