// Package agg runs aggregation pipelines through the whole command
// layer of a server with data on disk: what a client would see, stage by stage,
// with results taken from MongoDB's manual and public tests.
package agg

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/internal/commandtest"
	"github.com/duskdb/duskdb/internal/relaxed"
	"github.com/duskdb/duskdb/value"
)

// server is a server without a network, with short ways to talk to it.
type server struct{ *commandtest.Server }

func newServer(tb testing.TB, parameters ...string) *server {
	return &server{commandtest.New(tb, parameters...)}
}

// doc reads a document as people write it in a shell.
func doc(text string) value.Doc { return relaxed.MustDoc(text) }

// list reads an array of documents.
func list(text string) (out []value.Doc) {
	for v := range doc(`{"a":` + text + `}`).Lookup("a").Doc().Values() {
		out = append(out, v.Doc())
	}
	return out
}

func (s *server) send(ctx context.Context, db string, body value.Doc) value.Doc {
	s.Helper()
	return s.SendContext(ctx, db, body)
}

// run runs a command on the database "test", or on the one in front of it:
// "admin: {…}".
func (s *server) run(command string, args ...any) value.Doc {
	s.Helper()
	if len(args) > 0 {
		command = fmt.Sprintf(command, args...)
	}
	db, rest, ok := strings.Cut(command, ": {")
	if !ok || strings.ContainsAny(db, `{" `) {
		db = "test"
	} else {
		command = "{" + rest
	}
	return s.send(context.Background(), db, doc(command))
}

// ok runs a command that must succeed.
func (s *server) ok(command string, args ...any) value.Doc {
	s.Helper()
	reply := s.run(command, args...)
	if !reply.Lookup("ok").Truthy() || reply.Has("writeErrors") {
		s.Fatalf("%s\nanswered %s", command, reply)
	}
	return reply
}

// insert fills a collection.
func (s *server) insert(coll, docs string) {
	s.Helper()
	s.insertDocs(coll, list(docs))
}

func (s *server) insertDocs(coll string, docs []value.Doc) {
	s.Helper()
	for len(docs) > 0 {
		n := min(len(docs), 10000)
		b := value.NewBuilder().String("insert", coll)
		b.StartArray("documents")
		for _, d := range docs[:n] {
			b.Document("", d)
		}
		b.End()
		if reply := s.send(context.Background(), "test", b.Doc()); reply.Has("writeErrors") || !reply.Lookup("ok").Truthy() {
			s.Fatalf("insert into %s: %s", coll, reply)
		}
		docs = docs[n:]
	}
}

// batch returns the documents of a cursor reply.
func batch(reply value.Doc) []value.Doc { return commandtest.Batch(reply) }

// aggregate runs a pipeline to its end. more are further options of the
// command, such as `collation: {…}`.
func (s *server) aggregate(coll, pipeline string, more ...string) []value.Doc {
	s.Helper()
	docs, reply := s.tryAggregate(coll, pipeline, more...)
	if !reply.Lookup("ok").Truthy() {
		s.Fatalf("%s %s\nanswered %s", coll, pipeline, reply)
	}
	return docs
}

func (s *server) tryAggregate(coll, pipeline string, more ...string) ([]value.Doc, value.Doc) {
	s.Helper()
	options := ""
	for _, m := range more {
		options += ", " + m
	}
	db := "test"
	if before, after, ok := strings.Cut(coll, "."); ok {
		db, coll = before, after
	}
	name := `"` + coll + `"`
	if coll == "1" {
		name = "1"
	}
	reply := s.send(context.Background(), db, doc(fmt.Sprintf(`{aggregate: %s, pipeline: %s, cursor: {}%s}`, name, pipeline, options)))
	docs := batch(reply)
	for id := reply.Lookup("cursor").Doc().Lookup("id").Int64(); id != 0; {
		ns := reply.Lookup("cursor").Doc().Lookup("ns").Str()
		_, coll, _ := strings.Cut(ns, ".")
		reply = s.send(context.Background(), db, value.NewDoc("getMore", value.Int64(id), "collection", value.String(coll)))
		docs = append(docs, batch(reply)...)
		id = reply.Lookup("cursor").Doc().Lookup("id").Int64()
	}
	return docs, reply
}

// gives checks the result of a pipeline, in order and with types.
func (s *server) gives(coll, pipeline, want string, more ...string) {
	s.Helper()
	s.same(pipeline, s.aggregate(coll, pipeline, more...), list(want))
}

// givesAnyOrder checks the result of a pipeline that promises no order.
func (s *server) givesAnyOrder(coll, pipeline, want string, more ...string) {
	s.Helper()
	got, expected := s.aggregate(coll, pipeline, more...), list(want)
	sortDocs(got)
	sortDocs(expected)
	s.same(pipeline, got, expected)
}

func sortDocs(docs []value.Doc) {
	slices.SortFunc(docs, func(a, b value.Doc) int { return strings.Compare(a.String(), b.String()) })
}

// same compares documents byte by byte.
func (s *server) same(what string, got, want []value.Doc) {
	s.Helper()
	for i := range max(len(got), len(want)) {
		g, w := value.EmptyDoc, value.EmptyDoc
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if string(g) != string(w) {
			s.Errorf("%s\ndocument %d is  %s\nwant           %s\n(%d documents, want %d)", what, i, g, w, len(got), len(want))
			return
		}
	}
}

// fails checks the code of a pipeline's error and returns its message.
func (s *server) fails(code int32, coll, pipeline string, more ...string) string {
	s.Helper()
	_, reply := s.tryAggregate(coll, pipeline, more...)
	if reply.Lookup("ok").Truthy() || reply.Lookup("code").Int32() != code {
		s.Errorf("%s %s\nanswered %s, want code %d", coll, pipeline, reply, code)
	}
	return reply.Lookup("errmsg").Str()
}

// says checks an error's code and whole message.
func (s *server) says(code int32, message, coll, pipeline string, more ...string) {
	s.Helper()
	if got := s.fails(code, coll, pipeline, more...); got != message {
		s.Errorf("%s %s\nsays  %s\nwant  %s", coll, pipeline, got, message)
	}
}

func request(body value.Doc) *commands.Request { return &commands.Request{Body: body} }
