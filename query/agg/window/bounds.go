package window

import (
	"sort"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// boundKind is the kind of one end of a window.
type boundKind byte

const (
	boundUnbounded boundKind = iota
	boundCurrent
	boundOffset
)

// bound is one end of a window.
type bound struct {
	kind boundKind
	by   value.Value // offset: documents, or distance of the sort value
}

// windowBounds is a parsed window: by position or by value.
type windowBounds struct {
	lower, upper bound
	ranged       bool
	unit         dateUnit // the unit of a range over dates, without a name for numbers
	given        bool
}

// whole reports whether the window is always the whole partition.
func (w *windowBounds) whole() bool {
	return w.lower.kind == boundUnbounded && w.upper.kind == boundUnbounded
}

// parseBounds reads {documents: [l, u]} or {range: [l, u], unit: …}.
func parseBounds(p *stage.Parser, v value.Value, sortBy order.Pattern) (w windowBounds, err error) {
	fail := func(format string, args ...any) (windowBounds, error) {
		return w, mongoerr.Newf(mongoerr.FailedToParse, format, args...)
	}
	if v.Kind() != value.KindDocument {
		return fail("'window' field must be an object")
	}
	d := v.Doc()
	documents, hasDocuments := d.Get("documents")
	rng, hasRange := d.Get("range")
	unit, hasUnit := d.Get("unit")
	w.given = true
	switch {
	case hasDocuments && hasRange:
		return fail("Window bounds can specify either 'documents' or 'unit', not both.")
	case !hasRange && hasUnit:
		return fail("Window bounds can only specify 'unit' with range-based bounds.")
	case !hasRange && !hasDocuments:
		if !d.IsEmpty() {
			return fail("'window' field can only contain 'documents' as the only argument or 'range' with an optional 'unit' field")
		}
		return w, nil
	case hasDocuments:
		if d.Len() != 1 {
			return fail("'window' field that specifies documents cannot have other fields")
		}
		return w, documentBounds(p, &w, documents, sortBy)
	case hasUnit && d.Len() != 2:
		return fail("'window' field that specifies unit cannot have other fields besides 'range'")
	case hasUnit && unit.Kind() != value.KindString:
		return fail("'unit' must be a string")
	case !hasUnit && d.Len() != 1:
		return fail("'window' field that specifies range cannot have other fields besides 'unit'")
	}
	return w, rangeBounds(p, &w, rng, unit, sortBy)
}

func documentBounds(p *stage.Parser, w *windowBounds, v value.Value, sortBy order.Pattern) error {
	integer := func(v value.Value) error {
		if n, ok := v.AsInt64(); !ok || n != int64(int32(n)) {
			return mongoerr.New(mongoerr.FailedToParse, "Numeric document-based bounds must be an integer")
		}
		return nil
	}
	if err := bothBounds(p, w, v, integer); err != nil {
		return err
	}
	if !w.whole() && sortBy == nil {
		return mongoerr.New(5339901, "Document-based bounds require a sortBy")
	}
	return nil
}

func rangeBounds(p *stage.Parser, w *windowBounds, v, unit value.Value, sortBy order.Pattern) (err error) {
	w.ranged = true
	check := func(v value.Value) error {
		if !v.IsNumber() {
			return mongoerr.New(mongoerr.FailedToParse, "Range-based bounds expression must be a number")
		}
		return nil
	}
	if !unit.IsMissing() {
		check = func(v value.Value) error {
			if _, ok := v.AsInt64(); !ok {
				return mongoerr.New(mongoerr.FailedToParse, "With 'unit', range-based bounds must be an integer")
			}
			return nil
		}
	}
	if err := bothBounds(p, w, v, check); err != nil {
		return err
	}
	if !unit.IsMissing() {
		if w.unit, err = parseDateUnit(unit.Str()); err != nil {
			return err
		}
	}
	switch {
	case len(sortBy) != 1:
		return mongoerr.New(5339902, "Range-based bounds require sortBy a single field")
	case sortBy[0].Meta:
		return mongoerr.New(8947400, "Range-based bounds require a non-expression sortBy")
	case sortBy[0].Desc:
		return mongoerr.New(8947401, "Range-based bounds require an ascending sortBy")
	}
	return nil
}

// bothBounds reads the two ends and checks their order.
func bothBounds(p *stage.Parser, w *windowBounds, v value.Value, check func(value.Value) error) (err error) {
	if v.Kind() != value.KindArray || v.Doc().Len() != 2 {
		return mongoerr.Newf(mongoerr.FailedToParse, "Window bounds must be a 2-element array: %s", v)
	}
	if w.lower, err = parseBound(p, v.Doc().Index(0), check); err != nil {
		return err
	}
	if w.upper, err = parseBound(p, v.Doc().Index(1), check); err != nil {
		return err
	}
	if w.lower.kind == boundUnbounded || w.upper.kind == boundUnbounded {
		return nil
	}
	if value.Compare(w.lower.by, w.upper.by) > 0 {
		return mongoerr.Newf(5339900, "Lower bound must not exceed upper bound: [%s, %s]", w.lower.by, w.upper.by)
	}
	return nil
}

func parseBound(p *stage.Parser, v value.Value, check func(value.Value) error) (bound, error) {
	if v.Kind() == value.KindString {
		switch v.Str() {
		case "unbounded":
			return bound{kind: boundUnbounded}, nil
		case "current":
			return bound{kind: boundCurrent, by: value.Int32(0)}, nil
		}
		return bound{}, mongoerr.New(mongoerr.FailedToParse, "Window bounds must be 'unbounded', 'current', or a number.")
	}
	c, ok, err := p.Constant(v)
	if err != nil {
		return bound{}, err
	}
	if !ok {
		return bound{}, mongoerr.New(mongoerr.FailedToParse, "Window bounds expression must be a constant.")
	}
	return bound{kind: boundOffset, by: c}, check(c)
}

func (b bound) spec() value.Value {
	switch b.kind {
	case boundUnbounded:
		return value.String("unbounded")
	case boundCurrent:
		return value.String("current")
	}
	return b.by
}

func (w *windowBounds) spec() value.Value {
	name := "documents"
	if w.ranged {
		name = "range"
	}
	b := value.NewBuilder().Append(name, value.NewArray(w.lower.spec(), w.upper.spec()))
	if w.unit.name != "" {
		b.String("unit", w.unit.name)
	}
	return value.Document(b.Doc())
}

// span is a window as positions in the partition: from up to, not
// including, to. It is empty if from >= to.
type span struct{ from, to int }

// span finds the window of document i.
func (w *windowBounds) span(pt *windowPartition, i int) (span, error) {
	switch {
	case w.whole():
		return span{0, pt.docs.len()}, nil
	case w.ranged:
		return w.rangeSpan(pt, i)
	}
	s := span{0, pt.docs.len()}
	if w.lower.kind != boundUnbounded {
		n, _ := w.lower.by.AsInt64()
		s.from = max(i+int(n), 0)
	}
	if w.upper.kind != boundUnbounded {
		n, _ := w.upper.by.AsInt64()
		s.to = min(i+int(n)+1, pt.docs.len())
	}
	return s, nil
}

// rangeSpan finds the window of document i by the distance of sort values. Only
// values of the right type belong to it; in the sorted partition they are
// adjacent.
func (w *windowBounds) rangeSpan(pt *windowPartition, i int) (s span, err error) {
	base := pt.times[i]
	switch {
	case w.unit.name != "" && base.Kind() != value.KindDateTime:
		return s, mongoerr.Newf(5429513, "Invalid range: Expected the sortBy field to be a Date, but it was %s", base.Kind())
	case w.unit.name != "":
	case base.Kind() == value.KindDateTime:
		return s, mongoerr.New(5429413, "Invalid range: For windows that involve date or time ranges, a unit must be provided.")
	case !base.IsNumber():
		return s, mongoerr.Newf(5429414, "Invalid range: Expected the sortBy field to be a number, but it was %s", base.Kind())
	}
	fits := func(v value.Value) bool {
		return v.Kind() == value.KindDateTime || w.unit.name == "" && v.IsNumber()
	}
	n := len(pt.times)
	rank := base.Kind().Rank()
	first := sort.Search(n, func(j int) bool { return pt.times[j].Kind().Rank() >= rank })
	last := first + sort.Search(n-first, func(j int) bool { return !fits(pt.times[first+j]) })
	s = span{first, last}
	switch w.lower.kind {
	case boundCurrent:
		s.from = i
	case boundOffset:
		limit := w.move(base, w.lower.by)
		s.from = first + sort.Search(last-first, func(j int) bool { return value.Compare(pt.times[first+j], limit) >= 0 })
	}
	switch w.upper.kind {
	case boundCurrent:
		s.to = i + 1
	case boundOffset:
		limit := w.move(base, w.upper.by)
		s.to = first + sort.Search(last-first, func(j int) bool { return value.Compare(pt.times[first+j], limit) > 0 })
	}
	return s, nil
}

// move returns a sort value plus a distance.
func (w *windowBounds) move(base, by value.Value) value.Value {
	if w.unit.name != "" {
		return value.DateTime(w.unit.add(base.DateTime(), by.SafeInt64()))
	}
	sum, _ := value.Add(value.DecimalValue(base.AsDecimal()), value.DecimalValue(by.AsDecimal()))
	return sum
}
