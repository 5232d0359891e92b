package query

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/commandtest"
	"github.com/duskdb/duskdb/internal/scripts"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// statement is one line of a script about a single document: what to do to
// it, and what comes of it.
type statement struct {
	where string // file and line
	doc   string // the document, "" if the collection is empty
	verb  string // the first word, unless it belongs to a document
	parts []string
	want  scripts.Case
}

// eachStatement reads the scripts of a folder of testdata and calls f in a
// subtest per file, for each of its lines:
//
//	doc {_id: 1, a: 1}     the document of the lines that follow
//	x | y => {…}           what comes of x and y
//	x | y !! 2 text        the code of the error, and a part of its message
//	verb x | y => {…}      the same, done in another way
func eachStatement(t *testing.T, folder string, f func(*server, *statement)) {
	eachScript(t, folder, func(s *server) func(where, line string) {
		doc := ""
		return func(where, line string) {
			s.Helper()
			if rest, ok := strings.CutPrefix(line, "doc"); ok {
				doc = strings.TrimSpace(rest)
				return
			}
			st := readStatement(s, where, line)
			st.doc = doc
			f(s, st)
		}
	})
}

// eachScript plays the scripts of a folder of testdata, each on a server of
// its own.
func eachScript(t *testing.T, folder string, begin func(*server) func(where, line string)) {
	scripts.Play(t, "testdata/"+folder, func(t *testing.T, version string) func(where, line string) {
		if strings.HasPrefix(t.Name(), "TestCommands/plancache") && storagetest.HostileByEnvironment() != nil {
			t.Skip("a change of the catalog forgets plans")
		}
		return begin(&server{commandtest.Speaking(t, version)})
	})
}

func readStatement(t testing.TB, where, line string) *statement {
	t.Helper()
	st := &statement{where: where}
	c := scripts.Read(t, where, line)
	left := c.What
	st.want = c
	if verb, rest, ok := strings.Cut(left, " "); ok && verb[0] != '{' && verb[0] != '[' {
		st.verb, left = verb, rest
	}
	for part := range strings.SplitSeq(left, " | ") {
		st.parts = append(st.parts, strings.TrimSpace(part))
	}
	return st
}

// begin makes a collection that holds nothing but the statement's document.
func (s *server) begin(st *statement) {
	s.Helper()
	s.send(parse(`{delete: 'c', deletes: [{q: {}, limit: 0}]}`))
	if st.doc != "" {
		s.insertDocs("c", []value.Value{value.Document(parse(st.doc))})
	}
}

// answers compares what came of a statement: the only document of a reply,
// with the types of its values and the order of its fields, or the error.
func (s *server) answers(st *statement, how string, reply value.Doc, got value.Doc) {
	s.Helper()
	code, text := failure(reply)
	if code != st.want.Code || code != 0 && !strings.Contains(text, st.want.Want) {
		s.Errorf("%s: %s %s\ngot  error %d %s\nwant %d %s", st.where, how, st.parts, code, text, st.want.Code, st.want.Want)
	}
	if code != 0 || st.want.Fails() {
		return
	}
	if st.want.Want == "" || st.want.Want == "none" {
		if got != nil {
			s.Errorf("%s: %s %s\ngot  %s\nwant no document", st.where, how, st.parts, got)
		}
		return
	}
	if want := parse(st.want.Want); string(got) != string(want) {
		s.Errorf("%s: %s %s\ngot  %s\nwant %s", st.where, how, st.parts, got, want)
	}
}

// only returns the one document of a cursor reply, or nil.
func only(reply value.Doc) value.Doc {
	if docs := batch(reply); len(docs) == 1 {
		return docs[0]
	}
	return nil
}
