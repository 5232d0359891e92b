package flow_test

import (
	"testing"

	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/text"
	"github.com/duskdb/duskdb/value"
)

// indexed is a text index that finds documents by their field "s".
type indexed struct{}

func (indexed) MatchText(q *text.Query, d value.Doc) (float64, bool) {
	return float64(len(d.Lookup("s").Str())), d.Has("s")
}

func (indexed) DefaultLanguage() string { return "english" }

func TestTextScore(t *testing.T) {
	h := aggtest.NewHost()
	h.Colls["test.c"] = aggtest.Docs(t, `[{"_id": 1, "s": "xx"}, {"_id": 2}, {"_id": 3, "s": "xxx"}]`)
	o := stage.Options{DB: "test", Coll: "c", Text: func(string, string) match.TextMatcher { return indexed{} }}
	got, err := aggtest.Drain(t, `[{"$match": {"$text": {"$search": "x"}}}, {"$sort": {"s": {"$meta": "textScore"}}}, {"$project": {"m": {"$meta": "textScore"}}}]`, o, aggtest.Exec(&streaming{h}))
	if want := aggtest.Canonical(aggtest.Docs(t, `[{"_id": 3, "m": 3.0}, {"_id": 1, "m": 2.0}]`)); err != nil || aggtest.Canonical(got) != want {
		t.Error(aggtest.Canonical(got), err)
	}
}

// streaming is a host that matches while it is read, so the metadata are those of the
// document returned last.
type streaming struct{ *aggtest.Host }

func (h *streaming) Open(x *stage.Exec, r stage.Request) (stage.Source, error) {
	src := stage.Docs(h.Colls[r.DB+"."+r.Coll]...)
	it, err := (&flow.Match{Matcher: r.Matcher}).Open(x, src)
	return stage.Source{Iterator: it}, err
}
