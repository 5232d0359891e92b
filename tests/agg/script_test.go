package agg

import (
	"strconv"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/commandtest"
	"github.com/duskdb/duskdb/value"
)

// TestExpressions runs the scripts of testdata/expressions: the values of expressions for
// one document.
//
//	doc {a: 1}               the document of the lines that follow
//	{$add: ["$a", 1]} => 2   the value, with its type; "missing": none
//	{$add: ["$a", ""]} !! 14 only numbers     the code, and a part of the message
//
// An expression must have the same value whether its constants are folded or come from the
// document, in $project, $group and a sub-pipeline.
func TestExpressions(t *testing.T) {
	eachScript(t, "expressions", func(s *server) func(where, line string) {
		s.insert("c", `[{}]`)
		return func(where, line string) {
			s.Helper()
			if d, ok := strings.CutPrefix(line, "doc "); ok {
				s.ok(`{delete: "c", deletes: [{q: {}, limit: 0}]}`)
				s.insert("c", `[`+d+`]`)
				return
			}
			expression, want, code := readLine(s, where, line)
			for _, pipeline := range []string{
				`[{$project: {_id: 0, r: ` + expression + `}}]`,
				`[{$facet: {f: [{$project: {_id: 0, r: ` + expression + `}}]}}, {$replaceWith: {$first: "$f"}}]`,
			} {
				if code != 0 {
					s.failsAt(where, code, want, "c", pipeline)
					continue
				}
				result := `[{r: ` + want + `}]`
				if want == "missing" {
					result = `[{}]`
				}
				s.same(where+": "+pipeline, s.aggregate("c", pipeline), list(result))
			}
		}
	})
}

// TestPipelines runs the scripts of testdata/pipelines:
//
//	coll c [{_id: 1}]               the documents of a collection
//	index c {key: {a: 1}, name: "a"}  an index of it
//	c [{$limit: 1}] => [{_id: 1}]   what a pipeline gives, in order
//	c [{$limit: 0}] !! 15958 the limit must be positive
//
// The collection 1 stands for the database.
func TestPipelines(t *testing.T) {
	eachScript(t, "pipelines", func(s *server) func(where, line string) {
		return func(where, line string) {
			s.Helper()
			name, rest, _ := strings.Cut(line, " ")
			switch name {
			case "coll":
				name, docs, _ := strings.Cut(rest, " ")
				s.run(`{drop: "%s"}`, name)
				s.insert(name, docs)
				return
			case "index":
				name, spec, _ := strings.Cut(rest, " ")
				s.ok(`{createIndexes: "%s", indexes: [%s]}`, name, spec)
				return
			}
			pipeline, want, code := readLine(s, where, rest)
			if code != 0 {
				s.failsAt(where, code, want, name, pipeline)
				return
			}
			s.same(where+": "+pipeline, s.aggregate(name, pipeline), list(want))
		}
	})
}

// eachScript runs the scripts of a folder of testdata, each on its own server.
func eachScript(t *testing.T, folder string, begin func(*server) func(where, line string)) {
	commandtest.Scripts(t, folder, func(t *testing.T) func(where, line string) { return begin(newServer(t)) })
}

// readLine splits a line into the operation and its expected outcome: a result, or the
// code of an error and a part of its message.
func readLine(t testing.TB, where, line string) (what, want string, code int32) {
	t.Helper()
	if what, want, ok := strings.Cut(line, " => "); ok {
		return what, want, 0
	}
	what, want, ok := strings.Cut(line, " !! ")
	number, part, _ := strings.Cut(want, " ")
	n, err := strconv.Atoi(number)
	if !ok || err != nil {
		t.Fatalf("%s: what is %q?", where, line)
	}
	return what, part, int32(n)
}

func (s *server) failsAt(where string, code int32, part, coll, pipeline string) {
	s.Helper()
	_, reply := s.tryAggregate(coll, pipeline)
	if got := reply.Lookup("code"); !value.Equal(got, value.Int32(code)) || !strings.Contains(reply.Lookup("errmsg").Str(), part) {
		s.Errorf("%s: %s\nanswered %s\nwant     %d %s", where, pipeline, reply, code, part)
	}
}
