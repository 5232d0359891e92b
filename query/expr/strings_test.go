package expr

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
)

func TestLongRegex(t *testing.T) {
	_, err := run(t, parse(t, `{$regexMatch: {input: 'a', regex: '`+strings.Repeat("y", 32765)+`'}}`), nil)
	want := "Invalid Regex in $regexMatch: pattern string is longer than the limit set by the application"
	if e := mongoerr.From(err); err == nil || e.Code != 51111 || e.Message != want {
		t.Error(err)
	}
}
