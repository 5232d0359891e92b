package args

import (
	"math"

	"github.com/duskdb/duskdb/value"
)

// WholeBatch is the size of the first batch of commands that return everything in one
// reply, unless the client asks for less.
const WholeBatch = math.MaxInt32

type cursorArgs struct {
	BatchSize int64 `arg:"batchSize,nonneg"`
}

var cursorSpec = New[cursorArgs]("cursor")

// BatchSize reads the argument {batchSize: n} of a command that makes a cursor,
// as mongod's SimpleCursorOptions; otherwise is the default for n.
// prefix is how messages name the argument ("listIndexes.cursor").
func BatchSize(prefix string, cursor value.Doc, otherwise int64) (int64, error) {
	a := cursorArgs{BatchSize: otherwise}
	err := cursorSpec.DecodeNested(prefix, cursor, &a)
	return a.BatchSize, err
}
