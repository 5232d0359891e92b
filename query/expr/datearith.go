package expr

import (
	"math"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr/datetime"
	"github.com/duskdb/duskdb/value"
)

func unitOf(c *call, v value.Value) (datetime.Unit, error) {
	if v.Kind() != value.KindString {
		return 0, mongoerr.Newf(5439013, "%s requires 'unit' to be a string, but got %s", c.op.name, v.Kind())
	}
	u, err := datetime.ParseUnit(v.Str())
	if err != nil {
		return 0, mongoerr.From(err).WithPrefix(c.op.name + " parameter 'unit' value parsing failed")
	}
	return u, nil
}

// weekStart evaluates startOfWeek, which applies to weeks only.
func (c *call) weekStart(env *Env, i int, u datetime.Unit) (day datetime.Weekday, null bool, err error) {
	if u != datetime.Week || !c.given(i) {
		return datetime.Sunday, false, nil
	}
	v, err := c.args[i].eval(env)
	switch {
	case err != nil:
		return 0, false, err
	case v.IsNullish():
		return 0, true, nil
	case v.Kind() != value.KindString:
		return 0, false, mongoerr.Newf(5439015, "%s requires 'startOfWeek' to be a string, but got %s", c.op.name, v.Kind())
	}
	day, ok := datetime.ParseWeekday(v.Str())
	if !ok {
		err = mongoerr.Newf(5439016, "%s parameter 'startOfWeek' value cannot be recognized as a day of a week: %s", c.op.name, v.Str())
	}
	return day, false, err
}

var paramsDateAdd = []param{{"startDate", 5166402}, {"unit", 5166402}, {"amount", 5166402}, {"timezone", 0}}

func evalDateAdd(c *call, env *Env) (value.Value, error) { return moveDate(c, env, 1) }

func evalDateSubtract(c *call, env *Env) (value.Value, error) { return moveDate(c, env, -1) }

// moveDate evaluates $dateAdd (sign 1) and $dateSubtract (sign -1).
func moveDate(c *call, env *Env, sign int64) (value.Value, error) {
	start, err := c.args[0].eval(env)
	if err != nil || start.IsNullish() {
		return value.Null(), err
	}
	unit, err := c.args[1].eval(env)
	if err != nil || unit.IsNullish() {
		return value.Null(), err
	}
	if unit.Kind() != value.KindString {
		return value.Value{}, c.dialect.Error(dialect.DateAddUnit, c.op.name, unit.Kind())
	}
	u, err := datetime.ParseUnit(unit.Str())
	if err != nil {
		return value.Value{}, err
	}
	amount, err := c.args[2].eval(env)
	if err != nil || amount.IsNullish() {
		return value.Null(), err
	}
	z, null, err := c.zone(env, 3)
	if null || err != nil {
		return value.Null(), err
	}
	ms, ok := toDate(start)
	if !ok {
		return value.Value{}, mongoerr.Newf(5166403, "%s requires startDate to be convertible to a date", c.op.name)
	}
	n, ok := amount.AsInt64()
	if !ok {
		return value.Value{}, mongoerr.Newf(5166405, "%s expects integer amount of time units", c.op.name)
	}
	if sign < 0 && n == math.MinInt64 {
		return value.Value{}, mongoerr.Newf(6045000, "invalid $dateSubtract 'amount' parameter value: %d", n)
	}
	moved, err := datetime.Add(ms, u, sign*n, z)
	return value.DateTime(moved), err
}

var paramsDateDiff = []param{{"startDate", 5166303}, {"endDate", 5166304}, {"unit", 5166305}, {"timezone", 0}, {"startOfWeek", 0}}

// evalDateDiff evaluates $dateDiff: the number of boundaries of a unit between
// two dates.
func evalDateDiff(c *call, env *Env) (value.Value, error) {
	var vals [4]value.Value
	if null, err := c.evalAll(env, vals[:]); null || err != nil {
		return value.Null(), err
	}
	u, err := unitOf(c, vals[2])
	if err != nil {
		return value.Value{}, err
	}
	day, null, err := c.weekStart(env, 4, u)
	if null || err != nil {
		return value.Null(), err
	}
	z, null, err := c.zone(env, 3)
	if null || err != nil {
		return value.Null(), err
	}
	start, err := c.needDate(vals[0], "startDate", dialect.DateDiffDate)
	if err != nil {
		return value.Value{}, err
	}
	end, err := c.needDate(vals[1], "endDate", dialect.DateDiffDate)
	if err != nil {
		return value.Value{}, err
	}
	n, err := datetime.Diff(start, end, u, z, day)
	return value.Int64(n), err
}

// evalAll evaluates the leading arguments that are given. null reports whether
// one of them is null, which takes precedence over other errors.
func (c *call) evalAll(env *Env, vals []value.Value) (null bool, err error) {
	for i := range vals {
		if !c.given(i) {
			continue
		}
		if vals[i], err = c.args[i].eval(env); err != nil || vals[i].IsNullish() {
			return true, err
		}
	}
	return false, nil
}

func (c *call) needDate(v value.Value, name string, wrong *dialect.Error) (int64, error) {
	ms, ok := toDate(v)
	if !ok {
		return 0, c.dialect.Error(wrong, c.op.name, name, v.Kind())
	}
	return ms, nil
}

// nullStart returns null if 'startOfWeek' is a constant null: mongod's
// optimizer does not check whether the unit is a week. If all other arguments
// are constant, there is nothing to optimize.
func nullStart(c *call) node {
	if start, ok := c.args[4].(constant); ok && start.v.IsNullish() && !allConstant(c.args) {
		return constant{value.Null()}
	}
	return nil
}

var paramsDateTrunc = []param{{"date", 5439009}, {"unit", 5439010}, {"binSize", 0}, {"timezone", 0}, {"startOfWeek", 0}}

// evalDateTrunc evaluates $dateTrunc: the start of the bin that contains a
// date.
func evalDateTrunc(c *call, env *Env) (value.Value, error) {
	var vals [4]value.Value
	if null, err := c.evalAll(env, vals[:]); null || err != nil {
		return value.Null(), err
	}
	u, err := unitOf(c, vals[1])
	if err != nil {
		return value.Value{}, err
	}
	day, null, err := c.weekStart(env, 4, u)
	if null || err != nil {
		return value.Null(), err
	}
	size := int64(1)
	if c.given(2) {
		if size, err = binSize(vals[2]); err != nil {
			return value.Value{}, err
		}
	}
	z, null, err := c.zone(env, 3)
	if null || err != nil {
		return value.Null(), err
	}
	ms, err := c.needDate(vals[0], "date", dialect.DateTruncDate)
	if err != nil {
		return value.Value{}, err
	}
	ms, err = datetime.Trunc(ms, u, size, z, day)
	return value.DateTime(ms), err
}

func binSize(v value.Value) (int64, error) {
	n, ok := v.AsInt64()
	if !ok {
		return 0, mongoerr.Newf(5439017, "$dateTrunc requires 'binSize' to be a 64-bit integer, but got value '%s' of type %s", v, v.Kind())
	}
	if n <= 0 {
		return 0, mongoerr.Newf(5439018, "$dateTrunc requires 'binSize' to be greater than 0, but got value %d", n)
	}
	return n, nil
}
