package parameters

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// parameter is a line of the table that is being written.
type parameter kernel.Parameter

// when says when a parameter can be set.
type when struct{ start, runTime bool }

var (
	always    = when{true, true}
	atStart   = when{start: true}
	atRunTime = when{runTime: true}
	never     = when{}
)

// The bounds of numbers, in mongod's terms.
var (
	gt  = kernel.GreaterThan
	gte = kernel.AtLeast
	lt  = kernel.LessThan
	lte = kernel.AtMost
)

func line(name string, w when, initial value.Value, check func(value.Value) (value.Value, error)) parameter {
	return parameter{Name: name, Initial: initial, Startup: w.start, Runtime: w.runTime, Check: check}
}

func boolean(name string, w when, initial bool) parameter {
	return line(name, w, value.Bool(initial), kernel.CheckBool)
}

func integer(name string, w when, initial int32, bounds ...kernel.Bound) parameter {
	return line(name, w, value.Int32(initial), kernel.CheckInt32(name, bounds...))
}

func long(name string, w when, initial int64, bounds ...kernel.Bound) parameter {
	return line(name, w, value.Int64(initial), kernel.CheckInt64(name, bounds...))
}

func double(name string, w when, initial float64, bounds ...kernel.Bound) parameter {
	return line(name, w, value.Double(initial), kernel.CheckDouble(name, bounds...))
}

// text is a string, one of the allowed ones if there are any.
func text(name string, w when, initial string, allowed ...string) parameter {
	return line(name, w, value.String(initial), kernel.CheckString(name, allowed...))
}

func document(name string, w when, initial string) parameter {
	return line(name, w, value.Document(value.MustJSON(initial)), kernel.CheckDocument(name))
}

// onChange has a function called with what was stored.
func (p parameter) onChange(f func(s *kernel.Service, v value.Value)) parameter {
	p.OnChange = f
	return p
}
