package agg

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/commandtest"
	"github.com/duskdb/duskdb/internal/scripts"
	"github.com/duskdb/duskdb/value"
)

// TestExpressions runs the scripts of query/expr, which says what stands in them, through
// pipelines. An expression must have the same value whether its constants are folded or come
// from the document, in a stage and in a sub-pipeline. A message may stand behind another.
func TestExpressions(t *testing.T) {
	scripts.Play(t, "../../query/expr/testdata/cases", func(t *testing.T, version string) func(where, line string) {
		s := &server{commandtest.Speaking(t, version)}
		s.insert("c", `[{}]`)
		return func(where, line string) {
			s.Helper()
			if d, ok := strings.CutPrefix(line, "doc "); ok {
				s.ok(`{delete: "c", deletes: [{q: {}, limit: 0}]}`)
				s.insert("c", `[`+d+`]`)
				return
			}
			if strings.HasPrefix(line, "direct ") {
				return
			}
			c := scripts.Read(s, where, strings.TrimPrefix(line, "pipeline "))
			first := `{$replaceWith: {r: ` + c.What + `}}` // a literal includes a field in $project
			if strings.HasPrefix(c.What, "{$") {
				first = `{$project: {_id: 0, r: ` + c.What + `}}`
			}
			for _, pipeline := range []string{`[` + first + `]`, `[{$facet: {f: [` + first + `]}}, {$replaceWith: {$first: "$f"}}]`} {
				if c.Fails() {
					s.failsAt(where, c, "c", pipeline)
					continue
				}
				result := `[{r: ` + c.Want + `}]`
				if c.Want == "missing" {
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
			c := scripts.Read(s, where, rest)
			if c.Fails() {
				s.failsAt(where, c, name, c.What)
				return
			}
			s.same(where+": "+c.What, s.aggregate(name, c.What), list(c.Want))
		}
	})
}

// eachScript runs the scripts of a folder of testdata, each on its own server.
func eachScript(t *testing.T, folder string, begin func(*server) func(where, line string)) {
	scripts.Play(t, "testdata/"+folder, func(t *testing.T, version string) func(where, line string) {
		return begin(&server{commandtest.Speaking(t, version)})
	})
}

func (s *server) failsAt(where string, c scripts.Case, coll, pipeline string) {
	s.Helper()
	_, reply := s.tryAggregate(coll, pipeline)
	if got := reply.Lookup("code"); !value.Equal(got, value.Int32(c.Code)) || !strings.Contains(reply.Lookup("errmsg").Str(), c.Want) {
		s.Errorf("%s: %s\nanswered %s\nwant     %d %s", where, pipeline, reply, c.Code, c.Want)
	}
}
