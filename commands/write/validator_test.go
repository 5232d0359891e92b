package write_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// The writes that a validator refuses, by its level and action, as in the manual: strict
// applies to all writes, moderate not to updates of documents that were invalid before;
// the action warn only logs, errorAndLog does both.
func TestValidatorLevels(t *testing.T) {
	t.Parallel()
	const (
		insertBad  = `{"insert": "c", "documents": [{"_id": 3, "a": -1}]}`
		worsenGood = `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a": -1}}}]}`
		changeBad  = `{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$set": {"b": 1}}}]}`
		mendBad    = `{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$set": {"a": 1}}}]}`
	)
	for _, tt := range []struct {
		options                     string
		insert, worsen, change, men int32 // codes, 0: accepted
	}{
		{``, 121, 121, 121, 0},
		{`"validationLevel": "strict", "validationAction": "error"`, 121, 121, 121, 0},
		{`"validationLevel": "moderate"`, 121, 121, 0, 0},
		{`"validationLevel": "off"`, 0, 0, 0, 0},
		{`"validationAction": "warn"`, 0, 0, 0, 0},
		{`"validationAction": "errorAndLog"`, 121, 121, 121, 0},
	} {
		for command, code := range map[string]int32{insertBad: tt.insert, worsenGood: tt.worsen, changeBad: tt.change, mendBad: tt.men} {
			for _, bypass := range []bool{false, true} {
				var log bytes.Buffer
				h := harness.NewWith(t, kernel.Options{Log: zerolog.New(&log)})
				h.OK(`{"insert": "c", "documents": [{"_id": 1, "a": 1}, {"_id": 2, "a": -1}]}`)
				h.OK(strings.TrimSuffix(`{"collMod": "c", "validator": {"a": {"$gt": 0}}, `+tt.options, `, `) + `}`)
				statement, want := command, code
				if bypass {
					statement, want = strings.TrimSuffix(command, "}")+`, "bypassDocumentValidation": true}`, 0
				}
				reply := h.Run(statement)
				failed := reply.Lookup("writeErrors").Doc().Index(0).Doc()
				if got := failed.Lookup("code").Int32(); got != want {
					t.Errorf("%s: %s answered %s, want code %d", tt.options, statement, reply, want)
				}
				if want == 121 && (failed.Lookup("errmsg").Str() != "Document failed validation" || failed.Lookup("errInfo").Doc().Lookup("failingDocumentId").IsMissing()) {
					t.Errorf("%s: %s failed with %s", tt.options, statement, failed)
				}
				warned := strings.Contains(log.String(), "Document would fail validation")
				if wantWarning := (strings.Contains(tt.options, "warn") || strings.Contains(tt.options, "AndLog")) && !bypass && command != mendBad; warned != wantWarning {
					t.Errorf("%s: %s warned: %v, want %v", tt.options, statement, warned, wantWarning)
				}
			}
		}
	}
}

// A validator that cannot be evaluated for a document refuses it, with the reason.
func TestValidatorThatFails(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{"create": "c", "validator": {"$expr": {"$gt": [{"$divide": [1, "$a"]}, 0]}}}`)
	h.OK(`{"insert": "c", "documents": [{"_id": 1, "a": 2}]}`)
	for _, command := range []string{
		`{"insert": "c", "documents": [{"_id": 2, "a": 0}]}`,
		`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a": 0}}}]}`,
	} {
		failed := h.Run(command).Lookup("writeErrors").Doc().Index(0).Doc()
		if failed.Lookup("code").Int32() != 121 || failed.Lookup("errmsg").Str() != "Document failed validation" {
			t.Errorf("%s failed with %s", command, failed)
		}
		details := failed.Lookup("errInfo").Doc().Lookup("details").Doc()
		if got, want := details.Lookup("details").String(), `{ code: 2, codeName: "BadValue", errmsg: "can't $divide by zero" }`; got != want {
			t.Errorf("%s: details %s, want %s", command, details, want)
		}
	}
	h.Holds("c", `{_id: 1, a: 2}`)
	h.OK(`{"collMod": "c", "validationAction": "warn"}`)
	h.OK(`{"insert": "c", "documents": [{"_id": 2, "a": 0}]}`)
	if reply := h.OK(`{"validate": "c"}`); reply.Lookup("nNonCompliantDocuments").SafeInt64() != 1 {
		t.Errorf("validate answered %s", reply)
	}
}

// Error 11000 has the duplicate key and its index.
func TestDuplicateKeyDetails(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{"createIndexes": "c", "indexes": [{"key": {"a": 1, "b": -1}, "name": "ab", "unique": true}, {"key": {"s": 1}, "name": "s", "unique": true, "sparse": true, "collation": {"locale": "en", "strength": 2}}]}`)
	h.OK(`{"insert": "c", "documents": [{"_id": 1, "a": 1, "b": "x", "s": "Name"}, {"_id": 2, "a": 2}]}`)
	for _, tt := range []struct{ command, text, pattern, value string }{
		{`{"insert": "c", "documents": [{"_id": 3, "a": 1, "b": "x"}]}`,
			`E11000 duplicate key error collection: test.c index: ab dup key: { a: 1, b: "x" }`, `{ a: 1, b: -1 }`, `{ a: 1, b: "x" }`},
		{`{"update": "c", "updates": [{"q": {"a": 2}, "u": {"$set": {"a": 1, "b": "x"}}}]}`,
			`E11000 duplicate key error collection: test.c index: ab dup key: { a: 1, b: "x" }`, `{ a: 1, b: -1 }`, `{ a: 1, b: "x" }`},
		{`{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$set": {"a": 1, "b": "x"}}}]}`,
			`E11000 duplicate key error collection: test.c index: ab dup key: { a: 1, b: "x" }`, `{ a: 1, b: -1 }`, `{ a: 1, b: "x" }`},
		{`{"insert": "c", "documents": [{"_id": 3, "s": "NAME"}]}`,
			`E11000 duplicate key error collection: test.c index: s collation: *`, `{ s: 1 }`, ``},
	} {
		failed := h.Run(tt.command).Lookup("writeErrors").Doc().Index(0).Doc()
		text := failed.Lookup("errmsg").Str()
		if failed.Lookup("code").Int32() != 11000 || !harness.Fits(text, tt.text) {
			t.Errorf("%s failed with %s, want %s", tt.command, failed, tt.text)
		}
		if got := failed.Lookup("keyPattern").String(); got != tt.pattern {
			t.Errorf("%s: keyPattern %s, want %s", tt.command, got, tt.pattern)
		}
		if got := failed.Lookup("keyValue"); tt.value != "" && got.String() != tt.value || got.Kind() != value.KindDocument {
			t.Errorf("%s: keyValue %s, want %s", tt.command, got, tt.value)
		}
	}
	h.Finds(`{"find": "c", "projection": {"_id": 1, "a": 1}}`, `[{"_id":1,"a":1},{"_id":2,"a":2}]`)
}

// The key in the message is abridged byte by byte, as mongod's: a long string loses its end, if need
// be in the middle of a character. The document keyValue has it whole.
func TestLongDuplicateKey(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{"createIndexes": "c", "indexes": [{"key": {"name": 1}, "name": "name", "unique": true}]}`)
	name := strings.Repeat("°", 79) + "xx" // 160 bytes
	insert := `{"insert": "c", "documents": [{"name": "` + name + `"}]}`
	h.OK(insert)
	failed := h.Run(insert).Lookup("writeErrors").Doc().Index(0).Doc()
	want := `dup key: { name: "` + name[:150] + `..." }`
	if got := failed.Lookup("errmsg").Str(); !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q at the end", got, want)
	}
	if got := failed.Lookup("keyValue").Doc().Lookup("name").Str(); got != name {
		t.Errorf("keyValue has %q", got)
	}
	odd := "x" + name[:158] // 159 bytes are not too many
	insert = `{"insert": "c", "documents": [{"name": "` + odd + `"}]}`
	h.OK(insert)
	failed = h.Run(insert).Lookup("writeErrors").Doc().Index(0).Doc()
	if got := failed.Lookup("errmsg").Str(); !strings.HasSuffix(got, `{ name: "`+odd+`" }`) {
		t.Error(got)
	}
}
