package crud_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// statements are n documents that fn makes.
func statements(n int, fn func(i int) value.Doc) value.Value {
	list := make([]value.Value, n)
	for i := range list {
		list[i] = value.Document(fn(i))
	}
	return value.NewArray(list...)
}

// needsLongKeys leaves out an engine that cannot have the keys of these tests.
func needsLongKeys(t *testing.T) {
	if engines.ForTests() == "postgres" {
		t.Skip("an entry of an index has at most 8 KB in PostgreSQL")
	}
}

// TestRepliesOfErrorsFit: whatever the errors quote, and however many there are, the reply has
// room for them: all are there, with their codes.
func TestRepliesOfErrorsFit(t *testing.T) {
	t.Parallel()
	needsLongKeys(t)
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {k: 1}, name: "k", unique: true}]}`)
	h.OK(`{create: "valid", validator: {$and: [` + strings.TrimSuffix(strings.Repeat(`{a: {$type: "int"}}, `, 20), ", ") + `]}}`)
	long := value.String(strings.Repeat("x", 300_000))
	h.RunOn("test", value.NewDoc("insert", value.String("c"), "documents", statements(1, func(int) value.Doc { return value.NewDoc("k", long) })))
	const n = 100
	failing := value.NewDoc("$expr", value.Document(value.NewDoc("$toInt", value.String("$$long"))))
	filter := func(int) value.Doc { return value.NewDoc("q", value.Document(failing), "limit", value.Int32(0)) }
	let := value.Document(value.NewDoc("long", long))
	for name, command := range map[string]value.Doc{
		"duplicate keys": value.NewDoc("insert", value.String("c"), "ordered", value.Bool(false), "documents",
			statements(n, func(int) value.Doc { return value.NewDoc("k", long) })),
		"validation": value.NewDoc("insert", value.String("valid"), "ordered", value.Bool(false), "documents",
			statements(n, func(int) value.Doc { return value.NewDoc("a", long) })),
		"expressions": value.NewDoc("delete", value.String("c"), "ordered", value.Bool(false), "let", let, "deletes", statements(n, filter)),
	} {
		reply := h.RunOn("test", command)
		errs := reply.Lookup("writeErrors").Doc()
		if errs.Len() != n || len(reply) > 10<<20 {
			t.Errorf("%s: %d errors in %d bytes: %.300s", name, errs.Len(), len(reply), reply)
		}
		for i := range n {
			e := errs.Index(i).Doc()
			if e.Lookup("index").Int32() != int32(i) || e.Lookup("code").Int32() == 0 || !e.Has("errmsg") || len(e.Lookup("errmsg").Str()) > mongoerr.MaxMessage {
				t.Fatalf("%s: error %d is %.200s", name, i, e)
			}
		}
		if first := errs.Index(0).Doc().Lookup("errmsg").Str(); len(first) == 0 {
			t.Errorf("%s: the first error has no message", name)
		}
	}
	bulk := value.NewDoc("bulkWrite", value.Int32(1), "ordered", value.Bool(false), "let", let, "nsInfo", value.NewArray(value.Document(value.NewDoc("ns", value.String("test.c")))),
		"cursor", value.Document(value.NewDoc("batchSize", value.Int32(1000))),
		"ops", statements(n, func(int) value.Doc {
			return value.NewDoc("delete", value.Int32(0), "filter", value.Document(failing), "multi", value.Bool(false))
		}))
	if reply := h.RunOn("admin", bulk); reply.Lookup("nErrors").SafeInt64() != n || len(reply) > 3<<20 {
		t.Errorf("bulkWrite: %s errors in %d bytes: %.300s", reply.Lookup("nErrors"), len(reply), reply)
	}
}

// TestReplyTooLarge: a result that is too large for a document is an error that fits, and so is
// an error whose further fields are too large.
func TestReplyTooLarge(t *testing.T) {
	t.Parallel()
	needsLongKeys(t)
	h := harness.New(t)
	long := value.String(strings.Repeat("x", 9<<20))
	for i := range 3 {
		h.RunOn("test", value.NewDoc("insert", value.String("c"), "documents", statements(1, func(int) value.Doc {
			return value.NewDoc("_id", value.Int32(int32(i)), "s", long)
		})))
	}
	if text := h.Fails(10334, `{aggregate: "c", pipeline: [{$facet: {a: [{$match: {}}]}}], cursor: {}}`); len(text) > mongoerr.MaxMessage {
		t.Errorf("$facet: a message of %d bytes", len(text))
	}
	filters := make([]string, 0, 4)
	for i := range 4 {
		name := "i" + strconv.Itoa(i)
		filters = append(filters, `{key: {`+name+`: 1}, name: "`+name+`"}`)
	}
	h.OK(`{createIndexes: "c", indexes: [` + strings.Join(filters, ", ") + `]}`)
	h.OK(`{createIndexes: "u", indexes: [{key: {s: 1}, name: "s", unique: true}]}`)
	insert := value.NewDoc("insert", value.String("u"), "documents", statements(1, func(int) value.Doc { return value.NewDoc("s", long) }))
	h.RunOn("test", insert)
	reply := h.RunOn("test", insert)
	if e := reply.Lookup("writeErrors").Doc().Index(0).Doc(); e.Lookup("code").Int32() != 11000 || len(reply) > 17<<20 {
		t.Errorf("%d bytes: %.300s", len(reply), reply)
	}
	fm := value.NewDoc("findAndModify", value.String("u"), "query", value.Document(value.NewDoc("_id", value.Int32(1))),
		"update", value.Document(value.NewDoc("s", long)), "upsert", value.Bool(true))
	if reply := h.RunOn("test", fm); reply.Lookup("code").Int32() != 11000 || len(reply) > 17<<20 {
		t.Errorf("findAndModify: %d bytes: %.300s", len(reply), reply)
	}
}
