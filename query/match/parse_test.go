package match

import (
	"errors"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/query/script"
	"github.com/duskdb/duskdb/query/text"
	"github.com/duskdb/duskdb/value"
)

// stopping is an operation that must stop.
type stopping struct{ err error }

func (s stopping) Interrupted() error { return s.err }

// anyText is a text index.
type anyText struct{}

func (anyText) DefaultLanguage() string                          { return "english" }
func (anyText) MatchText(*text.Query, value.Doc) (float64, bool) { return 0, false }

// Parsing a long $where or $text ends when the operation must stop.
func TestParsingIsInterrupted(t *testing.T) {
	e := script.New(script.Config{Clock: clock.System(), Real: clock.System()})
	filter := value.NewDoc("$where", value.String(strings.Repeat("a = 1; ", 2<<20)))
	stop := errors.New("stop")
	if _, err := Compile(filter, Options{Script: e, Operation: stopping{stop}}); !errors.Is(err, stop) {
		t.Error("$where:", err)
	}
	filter = value.NewDoc("$text", value.Document(value.NewDoc("$search", value.String(strings.Repeat("word ", 5000)))))
	if _, err := Compile(filter, Options{Text: anyText{}, Operation: stopping{stop}}); !errors.Is(err, stop) {
		t.Error("$text:", err)
	}
}
