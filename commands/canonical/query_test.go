package canonical_test

import (
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// places makes a collection with a text index, a 2dsphere index and two others.
func places(t *testing.T) *harness.Harness {
	t.Helper()
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {t: "text"}, name: "t"}, {key: {p: "2dsphere"}, name: "p"}, {key: {a: 1}, name: "a"}, {key: {a: 1, b: 1}, name: "ab"}]}`)
	h.OK(`{insert: "c", documents: [{_id: 1, t: "red", p: [0, 0], a: 1, b: 1}, {_id: 2, t: "blue", p: [1, 1], a: 2, b: 1}]}`)
	return h
}

const (
	near = `p: {$near: {$geometry: {type: "Point", coordinates: [0, 0]}}}`
	text = `$text: {$search: "red"}`
)

// A filter, a sort and a hint that contradict each other are refused, with the messages
// of mongod's canonical_query.cpp and parsed_find_command.cpp.
func TestCombinations(t *testing.T) {
	t.Parallel()
	h := places(t)
	refused := func(code int32, message, query string) {
		t.Helper()
		if got := h.Fails(code, `{find: "c", `+query+`}`); got != message {
			t.Errorf("%s: %q, want %q", query, got, message)
		}
	}
	refused(2, "geoNear expression not allowed with $natural sort order", `filter: {`+near+`}, sort: {$natural: 1}`)
	refused(2, "geoNear expression not allowed with $natural hint", `filter: {`+near+`}, hint: {$natural: 1}`)
	refused(2, "text expression not allowed with $natural sort order", `filter: {`+text+`}, sort: {$natural: 1}`)
	refused(2, "text and hint not allowed in same query", `filter: {`+text+`}, hint: "a"`)
	refused(2, "text and hint not allowed in same query", `filter: {`+text+`}, hint: {a: 1}`)
	refused(2, "index hint not allowed with $natural sort order", `sort: {$natural: 1}, hint: {a: 1}`)
	refused(2, "$natural hint must be in the same direction as $natural sort order", `sort: {$natural: 1}, hint: {$natural: -1}`)
	refused(2, "$natural sort cannot be set to a value other than -1 or 1.", `sort: {$natural: 2}`)
	refused(2, "$natural sort cannot be set to a value other than -1 or 1.", `sort: {$natural: 1, a: 1}`)
	refused(2, "$natural hint cannot be set to a value other than -1 or 1.", `hint: {$natural: "x"}`)
	for query, first := range map[string]string{
		`sort: {$natural: -1}`:                         "2",
		`sort: {$natural: -1}, hint: {$natural: -1}`:   "2",
		`hint: {$natural: -1}`:                         "2",
		`hint: {}, sort: {$natural: -1}`:               "2",
		`filter: {` + near + `}, hint: "p"`:            "1",
		`filter: {$and: [{` + near + `}, {a: 2}]}`:     "2",
		`filter: {` + text + `}`:                       "1",
		`filter: {$or: [{` + text + `}, {_id: 1}]}`:    "1",
		`sort: {a: -1, b: -1, _id: 1, t: 1}, limit: 1`: "2",
		`sort: {"a.x": 1, a: -1}`:                      "2",
	} {
		docs := harness.Docs(h.OK(`{find: "c", ` + query + `}`))
		if len(docs) == 0 || docs[0].Lookup("_id").String() != first {
			t.Errorf("%s: %v, want %s first", query, docs, first)
		}
	}
}

// A tailable cursor follows the natural order: filters with an order of their own are
// refused.
func TestTailable(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "c", capped: true, size: 4096}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {t: "text"}, name: "t"}, {key: {p: "2dsphere"}, name: "p"}]}`)
	for filter, want := range map[string]string{
		text: "text and tailable cursor not allowed in same query",
		near: "Tailable cursors and geo $near cannot be used together",
	} {
		if got := h.Fails(2, `{find: "c", tailable: true, filter: {`+filter+`}}`); got != want {
			t.Errorf("%s: %q, want %q", filter, got, want)
		}
	}
}

// A projection or a sort by metadata needs a query that produces it.
func TestMetadata(t *testing.T) {
	t.Parallel()
	h := places(t)
	for query, want := range map[string]string{
		`projection: {s: {$meta: "textScore"}}`:       "query requires text score metadata, but it is not available",
		`projection: {s: {$meta: "geoNearDistance"}}`: "query requires $geoNear distance metadata, but it is not available",
		`projection: {s: {$meta: "geoNearPoint"}}`:    "query requires $geoNear point metadata, but it is not available",
		`sort: {s: {$meta: "textScore"}}`:             "query requires text score metadata, but it is not available",
	} {
		if got := h.Fails(40218, `{find: "c", filter: {a: 1}, `+query+`}`); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	if got := h.Fails(2, `{find: "c", projection: {k: {$meta: "sortKey"}}}`); got != "cannot use sortKey $meta projection without a sort" {
		t.Errorf("sortKey without a sort: %q", got)
	}
	for query, field := range map[string]string{
		`filter: {` + text + `}, projection: {s: {$meta: "textScore"}}, sort: {s: {$meta: "textScore"}}`: "s",
		`filter: {` + near + `}, projection: {s: {$meta: "geoNearDistance"}}`:                            "s",
		`sort: {a: 1}, projection: {k: {$meta: "sortKey"}}`:                                              "k",
		`filter: {a: 1}, showRecordId: true`:                                                             "$recordId",
		`filter: {a: 1}, hint: "a", returnKey: true`:                                                     "a",
	} {
		docs := harness.Docs(h.OK(`{find: "c", ` + query + `}`))
		if len(docs) == 0 || !docs[0].Has(field) {
			t.Errorf("%s: %v, want %s in the first", query, docs, field)
		}
	}
}

// An upsert must know the document to insert, which $expr does not define.
func TestUpsertWithExpr(t *testing.T) {
	t.Parallel()
	h := places(t)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{update: "c", updates: [{q: {$expr: {$eq: ["$a", 1]}}, u: {$set: {x: 1}}, upsert: true}]}`, Code: 224, Text: "$expr is not allowed in the query predicate for an upsert"},
		{DB: "test", Command: `{find: "nothing", filter: {` + text + `}}`, Code: 27},
		{DB: "test", Command: `{find: "c", filter: {a: {$nope: 1}}}`, Code: 2, Text: "unknown operator: $nope"},
	})
	h.OK(`{create: "bare"}`)
	h.Fails(27, `{find: "bare", filter: {`+text+`}}`)
}

// Only plain equality on _id leads straight to a document.
func TestPointID(t *testing.T) {
	t.Parallel()
	for filter, want := range map[string]string{
		`{_id: 1}`: "1", `{_id: {$eq: "x"}}`: `"x"`, `{_id: {a: 1}}`: "{ a: 1 }",
		`{}`: "", `{a: 1}`: "", `{_id: 1, a: 1}`: "", `{_id: {$gt: 1}}`: "", `{_id: {$eq: 1, $gt: 0}}`: "",
		`{_id: null}`: "", `{_id: [1]}`: "", `{_id: {$eq: null}}`: "", `{_id: {$eq: [1]}}`: "", `{_id: {$regularExpression: {pattern: "x", options: ""}}}`: "",
	} {
		v, ok := canonical.PointID(harness.Relaxed(filter))
		if ok != (want != "") || ok && v.String() != want {
			t.Errorf("%s: %v, %v, want %q", filter, v, ok, want)
		}
	}
}

// The collation of a command overrides that of the collection; "simple" stands for no collation.
func TestCollations(t *testing.T) {
	t.Parallel()
	parse := func(spec string) value.Collator {
		c, err := collation.Parse(harness.Relaxed(spec))
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			return nil
		}
		return c
	}
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{`{locale: "en"}`, `{locale: "en", strength: 3}`, true},
		{`{locale: "en"}`, `{locale: "en", strength: 2}`, false},
		{`{locale: "simple"}`, `{locale: "en"}`, false},
		{`{locale: "simple"}`, `{locale: "simple"}`, true},
	} {
		if got := canonical.SameCollation(parse(tt.a), parse(tt.b)); got != tt.same {
			t.Errorf("%s and %s: same is %v", tt.a, tt.b, got)
		}
	}
	h := harness.New(t)
	h.OK(`{create: "c", collation: {locale: "en", strength: 2}}`)
	h.OK(`{insert: "c", documents: [{_id: 1, s: "a"}, {_id: 2, s: "A"}]}`)
	for option, n := range map[string]int{``: 2, `, collation: {}`: 2, `, collation: {locale: "simple"}`: 1, `, collation: {locale: "en"}`: 1} {
		if docs := harness.Docs(h.OK(`{find: "c", filter: {s: "A"}` + option + `}`)); len(docs) != n {
			t.Errorf("with %q %d documents, want %d", option, len(docs), n)
		}
	}
	h.Fails(2, `{find: "c", collation: {locale: "no such"}}`)
	if len(canonical.CollationDoc(nil)) != 0 {
		t.Error("simple comparison has a specification")
	}
}

// A hint is read as a name, a direction of $natural or a key pattern.
func TestHintOf(t *testing.T) {
	t.Parallel()
	for hint, want := range map[string]plan.Hint{
		`{h: "a"}`: {Name: "a"}, `{h: ""}`: {Nameless: true}, `{h: {$natural: -1}}`: {Natural: -1}, `{h: {$natural: 1}}`: {Natural: 1}, `{h: {}}`: {},
	} {
		h := canonical.HintOf(harness.Relaxed(hint).Lookup("h"))
		if fmt.Sprint(h) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, want %+v", hint, h, want)
		}
	}
	h := canonical.HintOf(value.Document(harness.Relaxed(`{a: 1}`)))
	if h.Key.String() != "{ a: 1 }" {
		t.Errorf("hint of a key pattern: %+v", h)
	}
}

// A hint on measurements is one on buckets.
func TestBucketHints(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}}`)
	h.OK(`{insert: "s", documents: [{t: {$date: {$numberLong: "0"}}, m: 1}]}`)
	for _, hint := range []string{`{m: 1, t: 1}`, `"m_1_t_1"`, `{$natural: 1}`, `{}`} {
		if docs := harness.Docs(h.OK(`{find: "s", hint: ` + hint + `}`)); len(docs) != 1 {
			t.Errorf("hint %s: %v", hint, docs)
		}
	}
	if got := canonical.BucketsOf(storage.Namespace{DB: "d", Coll: "s"}).String(); got != "d.system.buckets.s" {
		t.Errorf("buckets are in %s", got)
	}
}
