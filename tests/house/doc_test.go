// Package house holds what every package of the module has to keep: which may import
// which, how recursion and maps are bounded, what the promised packages export.
package house

import (
	"os"
	"testing"
)

// TestMain runs the tests in the directory of the module, whose files they read.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// data holds the lists that the tests compare with, seen from the directory of the module.
const data = "tests/house/testdata"
