package expr

import (
	"math"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr/datetime"
	"github.com/duskdb/duskdb/value"
)

var paramsDateToParts = []param{{"date", 40522}, {"timezone", 0}, {"iso8601", 0}}

// evalDateToParts evaluates $dateToParts, with ISO week parts on request.
func evalDateToParts(c *call, env *Env) (value.Value, error) {
	date, err := c.args[0].eval(env)
	if err != nil {
		return value.Value{}, err
	}
	z, null, err := c.zone(env, 1)
	if null || err != nil {
		return value.Null(), err
	}
	iso := false
	if c.given(2) {
		v, err := c.args[2].eval(env)
		switch {
		case err != nil:
			return value.Value{}, err
		case v.IsNullish():
			return value.Null(), nil
		case v.Kind() != value.KindBool:
			return value.Value{}, mongoerr.Newf(40521, "iso8601 must evaluate to a bool, found %s", v.Kind())
		}
		iso = v.Bool()
	}
	if date.IsNullish() {
		return value.Null(), nil
	}
	ms, ok := toDate(date)
	if !ok {
		return value.Value{}, cannotConvert(date, "Date")
	}
	return partsDoc(z.At(ms), iso), nil
}

func partsDoc(at datetime.Civil, iso bool) value.Value {
	var b value.Builder
	b.Reset(make([]byte, 0, 128))
	if iso {
		year, week := at.ISOWeek()
		b.Int32("isoWeekYear", int32(year)).Int32("isoWeek", int32(week)).Int32("isoDayOfWeek", int32(at.ISODayOfWeek()))
	} else {
		b.Int32("year", int32(at.Year)).Int32("month", int32(at.Month)).Int32("day", int32(at.Day))
	}
	b.Int32("hour", int32(at.Hour)).Int32("minute", int32(at.Minute)).Int32("second", int32(at.Second))
	return value.Document(b.Int32("millisecond", int32(at.Millis)).Doc())
}

var paramsDateFromParts = []param{{"year", 0}, {"month", 0}, {"day", 0}, {"hour", 0}, {"minute", 0}, {"second", 0},
	{"millisecond", 0}, {"isoWeekYear", 0}, {"isoWeek", 0}, {"isoDayOfWeek", 0}, {"timezone", 0}}

func prepareDateFromParts(c *call) (any, error) {
	year, isoYear := c.given(0), c.given(7)
	switch {
	case !year && !isoYear:
		return nil, mongoerr.New(40516, "$dateFromParts requires either 'year' or 'isoWeekYear' to be present")
	case year && (isoYear || c.given(8) || c.given(9)):
		return nil, mongoerr.New(40489, "$dateFromParts does not allow mixing natural dates with ISO dates")
	case isoYear && (c.given(1) || c.given(2)):
		return nil, mongoerr.New(40525, "$dateFromParts does not allow mixing ISO dates with natural dates")
	}
	return prepareZone(10)(c)
}

// partReader evaluates the parts of a date until one is null or wrong.
type partReader struct {
	c    *call
	env  *Env
	null bool
	err  error
}

// read evaluates one part; it must be whole and, if bounded, within 16 bits.
// otherwise is its default.
func (r *partReader) read(i int, otherwise int64, bounded bool) int64 {
	if r.null || r.err != nil || !r.c.given(i) {
		return otherwise
	}
	name := r.c.op.params[i].name
	v, err := r.c.args[i].eval(r.env)
	if err != nil || v.IsNullish() {
		r.null, r.err = true, err
		return 0
	}
	n, ok := v.AsInt64()
	if !ok {
		r.err = mongoerr.Newf(40515, "'%s' must evaluate to an integer, found %s with value %s", name, v.Kind(), v.Compact())
	} else if bounded && n != int64(int16(n)) {
		r.err = mongoerr.Newf(31034, "'%s' must evaluate to a value in the range [%d, %d]; value %d is not in range",
			name, math.MinInt16, math.MaxInt16, n)
	}
	return n
}

// evalDateFromParts evaluates $dateFromParts from calendar or ISO week parts.
func evalDateFromParts(c *call, env *Env) (value.Value, error) {
	r := &partReader{c: c, env: env}
	t := datetime.TimeOfDay{Hour: r.read(3, 0, true), Minute: r.read(4, 0, true), Second: r.read(5, 0, false), Millis: r.read(6, 0, false)}
	if r.null || r.err != nil {
		return value.Null(), r.err
	}
	z, null, err := c.zone(env, 10)
	if null || err != nil {
		return value.Null(), err
	}
	first, code, what := 0, mongoerr.Code(40523), "year"
	from := datetime.Zone.FromParts
	if !c.given(0) {
		first, code, what = 7, 31095, "isoWeekYear"
		from = datetime.Zone.FromISOParts
	}
	year, middle, day := r.read(first, 1970, false), r.read(first+1, 1, true), r.read(first+2, 1, true)
	if r.null || r.err != nil {
		return value.Null(), r.err
	}
	if year < 1 || year > 9999 {
		return value.Value{}, mongoerr.Newf(code, "'%s' must evaluate to an integer in the range 1 to 9999, found %d", what, year)
	}
	at, ok := from(z, year, middle, day, t)
	if !ok {
		return value.Value{}, mongoerr.New(mongoerr.DurationOverflow, "Overflow casting from a lower-precision duration to a higher-precision duration")
	}
	return value.DateTime(at), nil
}

var paramsDateToString = []param{{"date", 18628}, {"format", 0}, {"timezone", 0}, {"onNull", 0}}

// evalDateToString evaluates $dateToString with its optional format, time zone
// and onNull.
func evalDateToString(c *call, env *Env) (value.Value, error) {
	date, err := c.args[0].eval(env)
	if err != nil {
		return value.Value{}, err
	}
	format, err := c.dateFormat(env, 1, 18533, datetime.CheckToFormat)
	if err != nil {
		return value.Value{}, err
	}
	z, null, err := c.zone(env, 2)
	if err != nil {
		return value.Value{}, err
	}
	if date.IsNullish() {
		return c.orNull(env, 3)
	}
	if null || c.given(1) && format.IsNullish() {
		return value.Null(), nil
	}
	ms, ok := toDate(date)
	if !ok {
		return value.Value{}, cannotConvert(date, "Date")
	}
	layout := datetime.ISOFormat
	if c.given(1) {
		layout = format.Str()
	} else if !z.IsUTC() {
		layout = layout[:len(layout)-1]
	}
	s, err := z.Format(layout, ms)
	return value.String(s), err
}

// dateFormat evaluates and checks a format.
func (c *call) dateFormat(env *Env, i int, code mongoerr.Code, check func(string) error) (value.Value, error) {
	format, err := c.arg(env, i)
	if err != nil || format.IsNullish() {
		return format, err
	}
	if format.Kind() != value.KindString {
		return format, mongoerr.Newf(code, "%s requires that 'format' be a string, found: %s with value %s", c.op.name, format.Kind(), format.Compact())
	}
	return format, check(format.Str())
}

// orNull evaluates an onNull or onError argument; null if it was not given.
func (c *call) orNull(env *Env, i int) (value.Value, error) {
	if !c.given(i) {
		return value.Null(), nil
	}
	return c.args[i].eval(env)
}

var paramsDateFromString = []param{{"dateString", 40542}, {"timezone", 0}, {"format", 0}, {"onNull", 0}, {"onError", 0}}

// evalDateFromString evaluates $dateFromString; onError replaces errors of the
// parsing.
func evalDateFromString(c *call, env *Env) (value.Value, error) {
	s, err := c.args[0].eval(env)
	if err != nil {
		return value.Value{}, err
	}
	format, err := c.dateFormat(env, 2, 40684, datetime.CheckFromFormat)
	if err != nil {
		return value.Value{}, err
	}
	z, null, err := c.zone(env, 1)
	if err != nil {
		return value.Value{}, err
	}
	if s.IsNullish() {
		return c.orNull(env, 3)
	}
	if s.Kind() != value.KindString {
		return c.onError(env, 4, mongoerr.Newf(mongoerr.ConversionFailure,
			"$dateFromString requires that 'dateString' be a string, found: %s with value %s", s.Kind(), s.Compact()))
	}
	if null || c.given(2) && format.IsNullish() {
		return value.Null(), nil
	}
	var ms int64
	if c.given(2) {
		ms, err = datetime.ParseFormat(s.Str(), format.Str(), z)
	} else {
		ms, err = datetime.Parse(s.Str(), z)
	}
	if err != nil {
		return c.onError(env, 4, err)
	}
	return value.DateTime(ms), nil
}

// onError returns the value for a failed conversion, if the argument was
// given.
func (c *call) onError(env *Env, i int, err error) (value.Value, error) {
	if c.given(i) && mongoerr.Is(err, mongoerr.ConversionFailure) {
		return c.args[i].eval(env)
	}
	return value.Value{}, err
}
