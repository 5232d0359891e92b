package aggtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Docs reads a JSON array of documents.
func Docs(t testing.TB, json string) []value.Doc {
	t.Helper()
	d, err := value.ParseJSON(`{"v": ` + json + `}`)
	if err != nil {
		t.Fatalf("%v in %s", err, json)
	}
	var out []value.Doc
	for e := range d.Lookup("v").Doc().Values() {
		out = append(out, e.Doc())
	}
	return out
}

// Array reads a JSON array as a document.
func Array(t testing.TB, json string) value.Doc {
	t.Helper()
	d, err := value.ParseJSON(`{"v": ` + json + `}`)
	if err != nil {
		t.Fatalf("%v in %s", err, json)
	}
	return d.Lookup("v").Doc()
}

// Now is the time of the runs, in milliseconds.
const Now = 1_700_000_000_000

// Exec returns a run on a host, which may use the disk.
func Exec(h stage.Host) *stage.Exec {
	return &stage.Exec{Env: expr.NewEnv(Now), Host: h, AllowDiskUse: true}
}

// Run runs a pipeline on test.c of a host.
func Run(t testing.TB, h stage.Host, pipeline string) ([]value.Doc, error) {
	t.Helper()
	return runAs(t, dialect.Mongo82, h, pipeline)
}

// runAs is Run in a version of MongoDB.
func runAs(t testing.TB, d dialect.Dialect, h stage.Host, pipeline string) ([]value.Doc, error) {
	t.Helper()
	p, err := agg.Compile(Array(t, pipeline), stage.Options{DB: "test", Coll: "c", Scope: expr.NewScope(d)})
	if err != nil {
		return nil, err
	}
	it, err := p.Open(Exec(h))
	if err != nil {
		return nil, err
	}
	return ReadAll(it)
}

// Canonical prints documents so that types show.
func Canonical(ds []value.Doc) string {
	var b strings.Builder
	for _, d := range ds {
		b.WriteString(d.CanonicalJSON())
		b.WriteByte('\n')
	}
	return b.String()
}

// Case is a pipeline over documents and what comes out: documents, or
// an error "code: message".
type Case struct {
	Name     string
	Docs     string
	Pipeline string
	Want     string
	Err      string
	As       dialect.Dialect // version of MongoDB; the zero value is the newest
}

// RunCases runs each case on a new host, which prepare may fill.
func RunCases(t *testing.T, tests []Case, prepare func(*Host)) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.Name, func(t *testing.T) {
			h := NewHost()
			if tt.Docs != "" {
				h.Colls["test.c"] = Docs(t, tt.Docs)
			}
			if prepare != nil {
				prepare(h)
			}
			got, err := runAs(t, tt.As, h, tt.Pipeline)
			if tt.Err != "" {
				CheckError(t, err, tt.Err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if g, w := Canonical(got), Canonical(Docs(t, tt.Want)); g != w {
				t.Errorf("got\n%swant\n%s", g, w)
			}
		})
	}
}

// CheckCompile compiles a pipeline, and compares the error with want; "" stands for
// success.
func CheckCompile(t *testing.T, o stage.Options, pipeline, want string) {
	t.Helper()
	_, err := agg.Compile(Array(t, pipeline), o)
	if want != "" {
		CheckError(t, err, want)
	} else if err != nil {
		t.Error(err)
	}
}

// CheckError compares an error with "code: message"; a message that ends in
// … need only begin so.
func CheckError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", want)
	}
	e := mongoerr.From(err)
	got := fmt.Sprintf("%d: %s", e.Code, e.Message)
	if prefix, ok := strings.CutSuffix(want, "…"); ok && strings.HasPrefix(got, prefix) {
		return
	}
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Drain runs a pipeline to its end.
func Drain(t testing.TB, pipeline string, o stage.Options, x *stage.Exec) ([]value.Doc, error) {
	p, err := agg.Compile(Array(t, pipeline), o)
	if err != nil {
		t.Fatalf("%s: %v", pipeline, err)
	}
	it, err := p.Open(x)
	if err != nil {
		return nil, err
	}
	return ReadAll(it)
}

// Shape prints the stages of a pipeline as one array.
func Shape(p *pipeline.Pipeline) string {
	var vs []value.Value
	for _, d := range p.Explain(pipeline.QueryPlanner, nil) {
		vs = append(vs, value.Document(d))
	}
	return value.NewArray(vs...).JSON()
}

// WithJoins adds the collections of the manual's pages on $lookup and
// $graphLookup.
func WithJoins(t *testing.T) func(*Host) {
	return func(m *Host) {
		m.Colls["test.inventory"] = Docs(t, `[{"_id": 1, "sku": "almonds", "instock": 120}, {"_id": 2, "sku": "bread", "instock": 80},
			{"_id": 3, "sku": "cashews", "instock": 60}, {"_id": 4, "sku": "pecans", "instock": 70}, {"_id": 5, "sku": null}, {"_id": 6}]`)
		m.Colls["test.warehouses"] = Docs(t, `[{"_id": 1, "item": "almonds", "w": "A", "instock": 120}, {"_id": 2, "item": "pecans", "w": "A", "instock": 80},
			{"_id": 3, "item": "almonds", "w": "B", "instock": 60}]`)
		m.Colls["test.employees"] = Docs(t, `[{"_id": 1, "name": "Dev"}, {"_id": 2, "name": "Eliot", "boss": "Dev"}, {"_id": 3, "name": "Ron", "boss": "Eliot"},
			{"_id": 4, "name": "Andrew", "boss": "Eliot"}, {"_id": 5, "name": "Asya", "boss": "Ron"}, {"_id": 6, "name": "Dan", "boss": "Andrew"}]`)
		m.Colls["test.loop"] = Docs(t, `[{"_id": 1, "to": 2}, {"_id": 2, "to": [1, 3]}, {"_id": 3, "to": 1}]`)
		m.Views["test.few"] = stage.Namespace{DB: "test", Coll: "inventory", Pipeline: Array(t, `[{"$match": {"instock": {"$lt": 100}}}]`)}
	}
}

// ReadAll reads it to its end and closes it.
func ReadAll(it stage.Iterator) (docs []value.Doc, err error) {
	defer it.Close()
	for {
		d, err := it.Next()
		if d == nil || err != nil {
			return docs, err
		}
		docs = append(docs, d)
	}
}
