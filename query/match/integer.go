package match

import (
	"math"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// integer reads an argument that must be a whole number of any type.
func integer(e element) (int64, error) {
	if !e.v.IsNumber() {
		return 0, mongoerr.Newf(mongoerr.FailedToParse, "Expected a number in: %v", e)
	}
	if n, ok := e.v.AsInt64(); ok {
		return n, nil
	}
	if e.v.Kind() == value.KindDouble {
		f := e.v.Double()
		switch {
		case math.IsNaN(f):
			return 0, mongoerr.Newf(mongoerr.FailedToParse, "Expected an integer, but found NaN in: %v", e)
		case f < 1<<63 && f >= -(1<<63):
			return 0, mongoerr.Newf(mongoerr.FailedToParse, "Expected an integer: %v", e)
		}
	}
	return 0, mongoerr.Newf(mongoerr.FailedToParse, "Cannot represent as a 64-bit integer: %v", e)
}

// natural reads an integer that may not be negative.
func natural(e element) (int64, error) {
	n, err := integer(e)
	if err == nil && n < 0 {
		err = mongoerr.Newf(mongoerr.FailedToParse, "Expected a non-negative number in: %v", e)
	}
	return n, err
}

// natural32 reads a non-negative integer that fits an int.
func natural32(e element) (int, error) {
	n, err := natural(e)
	if err == nil && n > math.MaxInt32 {
		err = mongoerr.Newf(mongoerr.FailedToParse, "Cannot represent %v in an int", e)
	}
	return int(n), err
}
