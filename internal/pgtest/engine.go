package pgtest

import (
	"fmt"
	"os"
	"sync/atomic"
)

// counter numbers schemas without a directory.
var counter atomic.Int64

// EngineURI names a schema of its own for the directory of a test, or a new one for
// a path that begins with a colon.
func EngineURI(path string) string {
	uri := os.Getenv(Variable)
	if uri == "" {
		s, err := once()
		if err != nil {
			panic(fmt.Sprintf("the tests need PostgreSQL: %v", err))
		}
		uri = s.URI("")
	}
	if path == "" || path[0] == ':' {
		path = fmt.Sprintf("%s%d", path, counter.Add(1))
	}
	return With(With(uri, "schema", Schema(path)), "poolSize", "8")
}
