package growth

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/commandtest"
	"github.com/duskdb/duskdb/value"
)

// theOne is the document with n of everything; it is also what updates begin with.
const theOne = `{_id: 1, v: 5, x: 2.5, d: {$date: "2026-01-01T00:00:00Z"}, r: [<<#i>>], q: [<<-#i>>], w: [<<"w#i">>], g: [<<{k: "k#i", v: #i, a: #i, b: -#i}>>],
	e: [<<{k: "k#i", v: #i}>>], z: [<<["k#i", #i]>>], o: {<<f#i: #i>>}, t: [<<true>>], t2: ["a", "b"], s: "<<ab cd ef>>", b: 1, p: [<<[1, 2]>>], p2: [1, 2, 3]}`

// fresh restores the collection upd, manyFresh the collection many.
var (
	fresh     = []string{`{delete: "upd", deletes: [{q: {}, limit: 0}]}`, `{insert: "upd", documents: [` + theOne + `]}`}
	manyFresh = []string{`{drop: "many"}`, `{insert: "many", documents: [<<{_id: #i, v: #i}>>]}`}
)

// fixture are the commands that fill a server for size n.
var fixture = []string{
	`{createIndexes: "docs", indexes: [{key: {v: 1}, name: "v"}, {key: {l: "2dsphere"}, name: "l"}, {key: {word: "text"}, name: "t"}]}`,
	`{insert: "docs", documents: [<<{_id: #i, v: #i, x: #i.5, k: 1, s: "s#i", word: "word other#i", d: {$date: {$numberLong: "17672256000#i"}}, r: [#i], o: {f: #i}, l: {type: "Point", coordinates: [0, 0.0#i]}, p: {$ref: "c", $id: #i}}>>]}`,
	`{createIndexes: "one", indexes: [{key: {word: "text"}, name: "t"}]}`,
	`{insert: "one", documents: [` + theOne + `]}`,
	`{insert: "small", documents: [{_id: 1, v: 1, x: 1.5, r: [1, 2], s: "a", k: 1, o: {f: 1}}]}`,
	`{insert: "chain", documents: [<<{_id: #i, to: #j}>>]}`,
	`{insert: "star", documents: [<<{_id: #i, from: 0, to: #i}>>]}`,
}

// many are commands of which each is sent n times, with the numbers from 0.
var many = []string{
	`{create: "c#i"}`,
	`db#i: {create: "x"}`,
	`admin: {createRole: "r#i", privileges: [{resource: {db: "test", collection: "c#i"}, actions: ["find"]}], roles: []}`,
	`$external: {createUser: "u#i", roles: [{role: "r#i", db: "admin"}]}`,
	`{ping: 1, lsid: {id: {$uuid: "00000000-0000-4000-8000-#u"}}}`,
	`{find: "docs", batchSize: 0, lsid: {id: {$uuid: "00000000-0000-4000-8000-#u"}}}`,
}

// server is a server with n documents, collections, cursors, sessions and users.
type server struct {
	*commandtest.Server
	n      int
	cursor int64         // the last that a command has opened
	number int64         // number of the next retryable write or transaction
	tokens []value.Value // lock tokens of the last received messages

	session value.Value // token of the last accepted session
}

func newServer(tb testing.TB, n int) *server {
	s := &server{Server: commandtest.New(tb, "enableTestCommands", "1"), n: n}
	for _, text := range fixture {
		s.must(text)
	}
	for _, text := range many {
		s.each(text)
	}
	return s
}

// each runs a command n times.
func (s *server) each(text string) {
	for _, c := range s.prepare(text, true) {
		s.send(c, text)
	}
}

// prepare returns the commands of a text.
func (s *server) prepare(text string, each bool) (list []command) {
	if strings.Contains(text, "NUMBER") {
		s.number++
	}
	text = strings.NewReplacer("SESSION", s.session.JSON(), "CURSOR", fmt.Sprintf(`{$numberLong: "%d"}`, s.cursor), "SAME", fmt.Sprintf(`{$numberLong: "%d"}`, s.number), "NUMBER", fmt.Sprintf(`{$numberLong: "%d"}`, s.number)).Replace(text)
	if !strings.Contains(text, "TOKEN") {
		return requests(text, s.n, each)
	}
	for i := range s.tokens {
		list = append(list, parse(numbered(strings.ReplaceAll(text, "TOKEN", s.tokens[i].JSON()), i)))
	}
	return list
}

// must runs a command that must succeed.
func (s *server) must(text string) {
	s.Helper()
	for _, c := range s.prepare(text, false) {
		s.send(c, text)
	}
}

// send sends a command that must succeed.
func (s *server) send(c command, text string) {
	s.Helper()
	if reply := s.Send(c.db, c.body); !succeeded(reply) && !strings.HasPrefix(text, "{drop") {
		s.Errorf("size %d: %.300s\nanswered %.500s", s.n, text, reply.String())
	} else if id := reply.Lookup("cursor").Doc().Lookup("id"); id.Kind() == value.KindInt64 {
		s.cursor = id.Int64()
	} else if session := reply.Lookup("session"); session.Kind() == value.KindDocument {
		s.session = session.Doc().Lookup("sessionToken").Clone()
	} else if messages := reply.Lookup("messages"); messages.Kind() == value.KindArray {
		s.tokens = nil
		for v := range messages.Doc().Values() {
			s.tokens = append(s.tokens, v.Doc().Lookup("_mq").Doc().Lookup("lockToken"))
		}
	}
}

func succeeded(reply value.Doc) bool {
	return reply.Lookup("ok").Truthy() && !reply.Has("writeErrors")
}
