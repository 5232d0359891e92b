package match

import (
	"errors"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/query/script"
	"github.com/duskdb/duskdb/value"
)

// stopping is an operation that must stop.
type stopping struct{ err error }

func (s stopping) Interrupted() error { return s.err }

// Parsing a long $where ends when the operation must stop.
func TestParsingWhereIsInterrupted(t *testing.T) {
	e := script.New(script.Config{Clock: clock.System(), Real: clock.System()})
	filter := value.NewDoc("$where", value.String(strings.Repeat("a = 1; ", 2<<20)))
	stop := errors.New("stop")
	if _, err := Compile(filter, Options{Script: e, Operation: stopping{stop}}); !errors.Is(err, stop) {
		t.Error(err)
	}
}
