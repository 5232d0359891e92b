package group

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
)

// mongod 8.0 runs a $group in its slot-based engine if it is the first stage, or if the
// query itself does all stages before it. The errors of that engine have other codes,
// and some have other messages.

// slotErrors maps the codes of the classic engine to those of the slot-based engine.
// Several errors have the code BadValue, so there the message is compared, too.
var slotErrors = map[mongoerr.Code]slotError{
	mongoerr.BadValue: {code: 4848401, of: "can't $divide by zero"},
	16610:             {code: 4848403},
	5733415:           {code: 4848403},
	5787902:           {code: 7548606, message: badCount},
	5787903:           {code: 7548606, message: badCount},
	5787908:           {code: 7548606, message: badCount},
	40400:             {code: 5911200, accumulator: "$mergeObjects", message: "$mergeObjects only supports objects"},
}

// badCount is the message of $firstN and similar accumulators for a wrong n.
const badCount = "parameter 'n' must be coercible to a positive 64-bit integer"

type slotError struct {
	code        mongoerr.Code
	of          string // message of the classic engine; "": any
	accumulator string // the accumulator that fails; "": any expression
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

// slotError returns an error of the stage with the code of the engine that would run it
// in mongod.
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
