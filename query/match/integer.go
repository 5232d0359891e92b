package match

import (
	"math"

	"github.com/duskdb/duskdb/internal/mongoerr"
)

// integer reads an argument that must be a whole number of any type.
func integer(e element) (int64, error) {
	n, complaint := e.v.ExactInt64()
	if complaint != "" {
		return 0, mongoerr.Newf(mongoerr.FailedToParse, "%s: %v", complaint, e)
	}
	return n, nil
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
