// Package query holds the end-to-end tests of the query language:
// filters, projections, sorts, updates, indexes and plans, as commands say
// them and as replies answer. The rules of each operator are tested where it
// is compiled; here the question is whether all parts together tell the same
// story, with every index that might change it.
package query

import (
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/commandtest"
	"github.com/duskdb/duskdb/internal/relaxed"
	"github.com/duskdb/duskdb/value"
)

// server is a server without a network, with short ways to talk to it.
type server struct{ *commandtest.Server }

func newServer(tb testing.TB) *server { return &server{commandtest.New(tb)} }

// parse reads a document as people write it in a shell.
func parse(text string) value.Doc { return relaxed.MustDoc(text) }

// send runs a command on the database "test".
func (s *server) send(body value.Doc) value.Doc {
	s.Helper()
	return s.Send("test", body)
}

// run runs a command that must succeed.
func (s *server) run(command string) value.Doc {
	s.Helper()
	return s.must(parse(command))
}

func (s *server) must(body value.Doc) value.Doc {
	s.Helper()
	reply := s.send(body)
	if !reply.Lookup("ok").Truthy() || reply.Has("writeErrors") {
		s.Fatalf("%s\nanswered %s", body, reply)
	}
	return reply
}

// failure is the code and the text of a failed command, or of its first
// write error.
func failure(reply value.Doc) (code int32, text string) {
	if first := reply.Lookup("writeErrors").Doc().Index(0); !first.IsMissing() {
		reply = first.Doc()
	}
	return reply.Lookup("code").Int32(), reply.Lookup("errmsg").Str()
}

// fails runs a command that must fail with a code, and a message that has
// the text in it.
func (s *server) fails(code int32, text, command string) value.Doc {
	s.Helper()
	reply := s.send(parse(command))
	got, message := failure(reply)
	if got != code || !strings.Contains(message, text) {
		s.Errorf("%s\nanswered %d %q\nwant     %d %q", command, got, message, code, text)
	}
	return reply
}

// batch returns the documents of a cursor reply.
func batch(reply value.Doc) []value.Doc { return commandtest.Batch(reply) }

func cursorID(reply value.Doc) int64 { return reply.Lookup("cursor").Doc().Lookup("id").Int64() }

// ids runs a find and joins the _ids it answers, in their order.
func (s *server) ids(command string) string {
	s.Helper()
	return idsOf(batch(s.run(command)))
}

func idsOf(docs []value.Doc) string {
	var out []string
	for _, d := range docs {
		out = append(out, d.Lookup("_id").String())
	}
	return strings.Join(out, " ")
}

func sortedIDs(docs []value.Doc) string {
	list := strings.Fields(idsOf(docs))
	slices.Sort(list)
	return strings.Join(list, " ")
}

func (s *server) insertDocs(coll string, docs []value.Value) {
	s.Helper()
	s.must(value.NewDoc("insert", value.String(coll), "documents", value.NewArray(docs...)))
}

// index creates an index; spec is "{a: 1}" or "{a: 1}, sparse: true".
func (s *server) index(coll, spec string) {
	s.Helper()
	s.run(`{createIndexes: '` + coll + `', indexes: [{key: ` + spec + `, name: '` + indexName + `'}]}`)
}

// indexName is the name of the one index that a test adds.
const indexName = "ix"

// want compares two texts.
func (s *server) want(what, got, want string) {
	s.Helper()
	if got != want {
		s.Errorf("%s\ngot  %s\nwant %s", what, got, want)
	}
}
