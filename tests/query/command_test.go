package query

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// TestCommands plays the sessions of testdata/commands. Each line is a
// command and what it answers:
//
//	{insert: 'c', documents: [{_id: 1}]}          must succeed
//	{find: 'c'} => {cursor: {firstBatch: [{_id: 1}]}}   has these fields
//	{find: 'c', filter: {$x: 1}} !! 2 unknown      fails so
//
// A line that begins with "@alone " is played if the server stands alone, one with
// "@cluster " if it is one of several over one database.
//
// A field whose wanted value is '*' may be anything, one that is '-' must be
// missing. Documents of arrays are compared whole, unless the wanted value is
// a document whose names are positions: {'0': …}. After "getMore" a cursor
// named 'id' is the one the last find left open.
func TestCommands(t *testing.T) {
	eachScript(t, "commands", func(s *server) func(where, line string) {
		id := int64(0)
		return func(where, line string) {
			s.Helper()
			line, ok := s.ours(line)
			if !ok {
				return
			}
			line = strings.ReplaceAll(line, "getMore: 'id'", fmt.Sprintf("getMore: {$numberLong: '%d'}", id))
			if n := cursorID(s.play(where, line)); n != 0 {
				id = n
			}
		}
	})
}

// ours cuts off the mark of a line; ok says that the line is to be played.
func (s *server) ours(line string) (rest string, ok bool) {
	switch mark, rest, _ := strings.Cut(line, " "); mark {
	case "@alone":
		return rest, !s.Service.InCluster()
	case "@cluster":
		return rest, s.Service.InCluster()
	default:
		return line, true
	}
}

func (s *server) play(where, line string) value.Doc {
	s.Helper()
	command, want, fails := strings.Cut(line, " !! ")
	if !fails {
		command, want, _ = strings.Cut(line, " => ")
	}
	reply := s.send(parse(command))
	code, text := failure(reply)
	switch {
	case fails:
		number, part, _ := strings.Cut(want, " ")
		if n, _ := strconv.Atoi(number); int32(n) != code || !strings.Contains(text, part) {
			s.Errorf("%s: %s\ngot  %d %s\nwant %s", where, command, code, text, want)
		}
	case want == "":
		if code != 0 {
			s.Errorf("%s: %s\nanswered %s", where, command, reply)
		}
	default:
		if problem := differs(value.Document(reply), value.Document(parse(want)), true); problem != "" {
			s.Errorf("%s: %s\nanswered %s\nwant     %s\n%s", where, command, reply, want, problem)
		}
	}
	return reply
}

// differs compares a value with a pattern. With partial, fields that the
// pattern does not name may be there.
func differs(got, want value.Value, partial bool) string {
	if want.Kind() == value.KindString && want.Str() == "*" && !got.IsMissing() {
		return ""
	}
	switch {
	case want.Kind() == value.KindDocument && (got.Kind() == value.KindDocument || partial && got.Kind() == value.KindArray):
		for name, w := range want.Doc().All() {
			g := got.Doc().Lookup(name)
			if w.Kind() == value.KindString && w.Str() == "-" {
				if !g.IsMissing() {
					return name + " is there: " + g.String()
				}
				continue
			}
			if problem := differs(g, w, partial); problem != "" {
				return name + ": " + problem
			}
		}
		if !partial && got.Doc().Len() > want.Doc().Len() {
			return "more fields: " + got.String()
		}
		return ""
	case want.Kind() == value.KindArray && got.Kind() == value.KindArray:
		if g, w := got.Doc().Len(), want.Doc().Len(); g != w {
			return fmt.Sprintf("%d elements, want %d", g, w)
		}
		for i := range want.Doc().Len() {
			if problem := differs(got.Doc().Index(i), want.Doc().Index(i), false); problem != "" {
				return fmt.Sprint(i, ": ", problem)
			}
		}
		return ""
	}
	if !value.Equal(got, want) {
		return fmt.Sprintf("got %s, want %s", got, want)
	}
	return ""
}
