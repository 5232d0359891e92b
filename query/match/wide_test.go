package match

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Many conditions give what each gives by itself.
func TestWideAgainstReference(t *testing.T) {
	t.Parallel()
	env := expr.NewEnv(0)
	rapid.Check(t, func(t *rapid.T) {
		docs := []value.Doc{genFields(t), genFields(t), genFields(t)}
		op := rapid.SampledFrom([]string{"$and", "$or", "$nor"}).Draw(t, "operator")
		likely := op == "$and" // what most conditions give for the first document
		exceptions := rapid.IntRange(0, 2).Draw(t, "exceptions")
		b := value.NewBuilder().StartArray(op)
		n := 0
		for range 300 {
			c := genFilter(t, 1)
			if refFilter(c, docs[0]) != likely {
				if exceptions--; exceptions < 0 {
					continue
				}
			}
			b.Document("", c)
			n++
		}
		if n == 0 {
			t.Skip("no condition")
		}
		filter := b.End().Doc()
		m, err := Compile(filter, Options{})
		if err != nil {
			t.Fatalf("Compile(%v): %v", filter, err)
		}
		r := m.Run()
		for _, d := range docs {
			want := refFilter(filter, d)
			if got, err := m.Match(env, d); got != want || err != nil {
				t.Fatalf("filter %v on %v: %v, %v; reference %v", filter, d, got, err, want)
			}
			if got, err := r.Match(env, d); got != want || err != nil {
				t.Fatalf("a run of %v on %v: %v, %v; reference %v", filter, d, got, err, want)
			}
		}
	})
}

// Conditions on many paths, also below a field, are arranged.
func TestWideIsUsed(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"f", "o.f", "o.p.f"} {
		b := value.NewBuilder()
		for i := range int32(100) {
			b.Int32(prefix+value.Int32(i).String(), i)
		}
		m, err := Compile(b.Doc(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		w := m.Root().(*And).wide
		if w == nil || len(w.others) > 0 {
			t.Fatalf("%s: %+v", prefix, w)
		}
		l := w.fields
		for l.below[0] != nil {
			l = l.below[0]
		}
		if len(l.fields) != 100 {
			t.Errorf("%s: %d fields", prefix, len(l.fields))
		}
	}
}

// However long a path is, conditions are arranged no deeper than documents are.
func TestWideOfLongPaths(t *testing.T) {
	t.Parallel()
	path := strings.Repeat("a.", 10_000) + "a"
	b := value.NewBuilder().StartArray("$and")
	for i := range int32(2 * wideFrom) {
		b.Document("", value.NewDoc(path, value.Document(value.NewDoc("$ne", value.Int32(i)))))
	}
	m, err := Compile(b.End().Doc(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	levels := 0
	for l := m.Root().(*And).wide.fields; l != nil; l = l.below[0] {
		levels++
	}
	if levels < 2 || levels > value.MaxDepth+1 {
		t.Errorf("%d levels", levels)
	}
	if ok, err := m.Match(nil, value.MustJSON(`{"a": {"a": 1}}`)); !ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
}
