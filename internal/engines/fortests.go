package engines

import (
	"cmp"
	"os"

	"github.com/duskdb/duskdb/storage"
)

// TestVariable is the environment variable that names the engine of the
// servers in tests: all suites can run with every engine.
const TestVariable = "DUSKDB_TEST_ENGINE"

// ForTests is the name of the engine of the servers in tests.
func ForTests() string { return cmp.Or(os.Getenv(TestVariable), Default) }

// TestURI names the database of an engine over the network, for tests that name none: one
// for the directory of a test, or a new one for Memory. It is nil where no such database is.
var TestURI func(path string) string

// Wrap is called by Open with each engine, and the server gets what it returns. Tests that
// need it set it before they open the first.
var Wrap func(storage.Engine) storage.Engine
