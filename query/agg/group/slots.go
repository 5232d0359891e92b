package group

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
)

// mongod 8.0 runs a $group that stands first, or behind nothing but what the
// query itself does, in its slot-based engine. The errors of that engine have
// codes of their own, and some have messages of their own.

// slotErrors maps the codes of the other engine. BadValue is not one of a
// single error, so its message counts too.
var slotErrors = map[mongoerr.Code]slotError{
	mongoerr.BadValue: {code: 4848401, of: "can't $divide by zero"},
	16610:             {code: 4848403},
	5733415:           {code: 4848403},
	5787902:           {code: 7548606, message: badCount},
	5787903:           {code: 7548606, message: badCount},
	5787908:           {code: 7548606, message: badCount},
	40400:             {code: 5911200, accumulator: "$mergeObjects", message: "$mergeObjects only supports objects"},
}

// badCount is the error of $firstN and the like about their n.
const badCount = "parameter 'n' must be coercible to a positive 64-bit integer"

type slotError struct {
	code        mongoerr.Code
	of          string // the message of the other engine, "": any
	accumulator string // that makes the error, "": any expression
	message     string // "": the same
}

// FindSlots notes which $group the slot-based engine would run.
func FindSlots(stages []stage.Stage) {
	for _, s := range stages {
		switch s := s.(type) {
		case *flow.Match, *order.Stage:
			continue
		case *Stage:
			s.slots = true
		}
		return
	}
}

// slotError is an error of the stage with the code of the engine that would
// run it.
func (s *Stage) slotError(err error) error {
	e := mongoerr.From(err)
	to, ok := slotErrors[e.Code]
	if !s.slots || !ok || to.of != "" && to.of != e.Message || to.accumulator != "" && !s.has(to.accumulator) {
		return err
	}
	if to.message == "" {
		to.message = e.Message
	}
	return mongoerr.New(to.code, to.message)
}

func (s *Stage) has(op string) bool {
	for _, a := range s.Fields {
		if a.Op == op {
			return true
		}
	}
	return false
}
