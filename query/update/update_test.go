package update

import (
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// now is the instant of all tests: 2024-05-06T07:08:09Z.
const now = 1714979289000

// updateTest is one update of one document. Expected documents are compared
// with their types and field order.
type updateTest struct {
	name     string
	update   string // a document or, in brackets, a pipeline
	doc      string
	want     string // "" if the document must stay as it is
	position int    // position of the positional operator; 0 stands for none, n for n-1
	filters  []string
	insert   bool
	code     mongoerr.Code
	message  string
}

func runUpdateTests(t *testing.T, tests []updateTest) {
	t.Helper()
	for _, tt := range tests {
		name := tt.name
		if name == "" {
			name = tt.update + " on " + tt.doc
		}
		t.Run(name, func(t *testing.T) { tt.run(t) })
	}
}

func (tt updateTest) run(t *testing.T) {
	got, modified, err := tt.apply()
	if tt.code != 0 {
		e := mongoerr.From(err)
		if e == nil {
			t.Fatalf("no error, got %s, want %d %s", got, tt.code, tt.message)
		}
		if e.Code != tt.code || tt.message != "" && e.Message != tt.message {
			t.Fatalf("got  %d %s\nwant %d %s", e.Code, e.Message, tt.code, tt.message)
		}
		return
	}
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
	if err := value.Validate(got); err != nil {
		t.Fatalf("result is not BSON: %v", err)
	}
	want := tt.want
	if want == "" {
		want = tt.doc
	}
	if w := value.MustJSON(want).CanonicalJSON(); got.CanonicalJSON() != w {
		t.Errorf("got  %s\nwant %s", got.CanonicalJSON(), w)
	}
	if modified != (tt.want != "") {
		t.Errorf("modified = %v", modified)
	}
}

func (tt updateTest) apply() (value.Doc, bool, error) {
	o := Options{}
	for _, f := range tt.filters {
		o.ArrayFilters = append(o.ArrayFilters, value.MustJSON(f))
	}
	u, err := Compile(value.Document(value.MustJSON(tt.update)), o)
	if err != nil {
		return nil, false, err
	}
	return u.Apply(expr.NewEnv(now), value.MustJSON(tt.doc), ApplyOptions{Position: tt.position - 1, Insert: tt.insert})
}
