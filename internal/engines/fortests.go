package engines

import (
	"cmp"
	"os"
)

// TestVariable is the environment variable that names the engine of the
// servers in tests: all suites can run with every engine.
const TestVariable = "DUSKDB_TEST_ENGINE"

// ForTests is the name of the engine of the servers in tests.
func ForTests() string { return cmp.Or(os.Getenv(TestVariable), Default) }
