package expr

import (
	"fmt"
	"time"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr/datetime"
	"github.com/duskdb/duskdb/value"
)

// toDate converts the types that MongoDB accepts as dates: dates, timestamps
// and ObjectIds.
func toDate(v value.Value) (ms int64, ok bool) {
	switch v.Kind() {
	case value.KindDateTime:
		return v.DateTime(), true
	case value.KindTimestamp:
		t, _ := v.Timestamp()
		return int64(t) * 1000, true
	case value.KindObjectID:
		return v.ObjectID().Millis(), true
	}
	return 0, false
}

func formatISO(ms int64) (string, error) {
	return datetime.Zone{}.Format(datetime.ISOFormat, ms)
}

// timestampText converts a timestamp to a string, without the year.
func timestampText(v value.Value) string {
	t, i := v.Timestamp()
	return fmt.Sprintf("%s:%d", time.Unix(int64(t), 0).UTC().Format("Jan _2 15:04:05"), i)
}

// prepareZone parses a constant time zone, the i-th argument, once.
func prepareZone(i int) func(c *call) (any, error) {
	return func(c *call) (any, error) {
		n, ok := c.args[i].(constant)
		if !ok || n.v.IsNullish() {
			return nil, nil
		}
		z, _, err := zoneOf(n.v)
		if err != nil {
			return nil, &FoldError{mongoerr.From(zoneContext(c, err))}
		}
		return &z, nil
	}
}

// zoneContext adds the context of $dateDiff and $dateTrunc to the error for an
// invalid zone.
func zoneContext(c *call, err error) error {
	if c.op.name == "$dateDiff" || c.op.name == "$dateTrunc" {
		return mongoerr.From(err).WithPrefix(c.op.name + " parameter 'timezone' value parsing failed")
	}
	return err
}

// zone is the time zone given as the i-th argument; UTC if it is not given.
func (c *call) zone(env *Env, i int) (z datetime.Zone, null bool, err error) {
	if c.args[i] == nil {
		return z, false, nil
	}
	if known, ok := c.data.(*datetime.Zone); ok {
		return *known, false, nil
	}
	v, err := c.args[i].eval(env)
	if err != nil {
		return z, false, err
	}
	if z, null, err = zoneOf(v); err != nil {
		err = zoneContext(c, err)
	}
	return z, null, err
}

func zoneOf(v value.Value) (z datetime.Zone, null bool, err error) {
	if v.IsNullish() {
		return z, true, nil
	}
	if v.Kind() != value.KindString {
		return z, false, mongoerr.Newf(40517, "timezone must evaluate to a string, found %s", v.Kind())
	}
	z, err = datetime.ParseZone(v.Str())
	return z, false, err
}

// datePart makes one of $year, $month, …: the operator takes a date, an array
// of one, or an object {date, timezone}.
func datePart(part func(c datetime.Civil) value.Value) func(c *call, env *Env) (value.Value, error) {
	return func(c *call, env *Env) (value.Value, error) {
		v, err := c.args[0].eval(env)
		if err != nil {
			return value.Value{}, err
		}
		if v.IsNullish() {
			return value.Null(), nil
		}
		ms, ok := toDate(v)
		if !ok {
			return value.Value{}, cannotConvert(v, "Date")
		}
		z, null, err := c.zone(env, 1)
		if null || err != nil {
			return value.Null(), err
		}
		return part(z.At(ms)), nil
	}
}

func intPart(part func(c datetime.Civil) int) func(c *call, env *Env) (value.Value, error) {
	return datePart(func(c datetime.Civil) value.Value { return value.Int32(int32(part(c))) })
}

var (
	evalDayOfMonth   = intPart(func(c datetime.Civil) int { return c.Day })
	evalDayOfWeek    = intPart(datetime.Civil.DayOfWeek)
	evalDayOfYear    = intPart(datetime.Civil.DayOfYear)
	evalHour         = intPart(func(c datetime.Civil) int { return c.Hour })
	evalIsoDayOfWeek = intPart(datetime.Civil.ISODayOfWeek)
	evalIsoWeek      = intPart(func(c datetime.Civil) int { _, week := c.ISOWeek(); return week })
	evalIsoWeekYear  = datePart(func(c datetime.Civil) value.Value { year, _ := c.ISOWeek(); return value.Int64(year) })
	evalMillisecond  = intPart(func(c datetime.Civil) int { return c.Millis })
	evalMinute       = intPart(func(c datetime.Civil) int { return c.Minute })
	evalMonth        = intPart(func(c datetime.Civil) int { return c.Month })
	evalSecond       = intPart(func(c datetime.Civil) int { return c.Second })
	evalWeek         = intPart(datetime.Civil.Week)
	evalYear         = intPart(func(c datetime.Civil) int { return int(c.Year) })
)

// parseDatePart compiles a date part operator in each of its forms.
func parseDatePart(p *parser, op *operator, v value.Value) (node, error) {
	args := make([]node, 2)
	var err error
	switch {
	case v.Kind() == value.KindArray:
		if n := v.Doc().Len(); n != 1 {
			return nil, mongoerr.Newf(40536, "%s accepts exactly one argument if given an array, but was given %d", op.name, n)
		}
		args[0], err = p.operand(v.Doc().Index(0))
	case isOptions(v):
		err = p.datePartOptions(op, v, args)
	default:
		args[0], err = p.operand(v)
	}
	if err != nil {
		return nil, err
	}
	return p.finish(p.call(op, args...))
}

// isOptions reports whether an object has named arguments, and is not an
// expression.
func isOptions(v value.Value) bool {
	if v.Kind() != value.KindDocument {
		return false
	}
	first, _ := v.Doc().First()
	return first == "" || first[0] != '$'
}

// datePartOptions compiles {date, timezone}.
func (p *parser) datePartOptions(op *operator, v value.Value, args []node) error {
	f, err := op.fields(v)
	if err != nil {
		return err
	}
	if f[0].IsMissing() {
		return mongoerr.Newf(40539, "missing 'date' argument to %s, provided: %s: %s", op.name, op.name, v)
	}
	if args[0], err = p.operand(f[0]); err != nil || f[1].IsMissing() {
		return err
	}
	args[1], err = p.operand(f[1])
	return err
}
