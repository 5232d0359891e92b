package match

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// genFields makes a document whose fields come in any order, and some of them twice.
func genFields(t *rapid.T) value.Doc {
	b := value.NewBuilder()
	for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "0", "other"}), 0, 5).Draw(t, "fields") {
		b.Append(name, genValue(t, 2))
	}
	return b.Doc()
}

// A Run finds what a matcher finds that looks at one document alone, and what the
// reference finds.
func TestRunAgainstReference(t *testing.T) {
	t.Parallel()
	env := expr.NewEnv(0)
	rapid.Check(t, func(t *rapid.T) {
		b := value.NewBuilder().StartArray("$and")
		for range rapid.IntRange(1, 4).Draw(t, "conditions") {
			b.Document("", genFilter(t, 1))
		}
		filter := b.End().Doc()
		m, err := Compile(filter, Options{})
		if err != nil {
			t.Fatalf("Compile(%v): %v", filter, err)
		}
		r := m.Run()
		for range 20 {
			d := genFields(t)
			want := refFilter(filter, d)
			if got, err := r.Match(env, d); got != want || err != nil {
				t.Fatalf("filter %v on %v: %v, %v; reference %v", filter, d, got, err, want)
			}
			if got, err := m.Match(env, d); got != want || err != nil {
				t.Fatalf("filter %v on %v alone: %v, %v; reference %v", filter, d, got, err, want)
			}
		}
	})
}

// Conditions that the reference does not know.
func TestRun(t *testing.T) {
	t.Parallel()
	env := expr.NewEnv(0)
	docs := []value.Doc{
		doc(`{a: 1, s: "x9"}`), doc(`{s: "x9", a: 1}`), doc(`{a: [1, 2], s: ["y", "z9"]}`), doc(`{a: 2}`), doc(`{s: "9"}`), doc(`{}`),
		doc(`{a: null, s: 9}`), doc(`{a: {b: [{c: 1}, {c: 2}]}, s: "9\n"}`), doc(`{a: 1, s: "x9", "long name of a field": 7}`),
	}
	for _, filter := range []string{
		`{a: 1, s: {$regex: "9$"}}`, `{s: {$regex: "9$"}, a: 1}`, `{s: {$regex: "[0-9]$"}, a: {$gte: 1, $lt: 2}}`, `{$expr: {$eq: ["$a", 1]}, s: {$regex: "x"}}`,
		`{a: 1, $or: [{s: "x9"}, {s: "9"}]}`, `{$nor: [{a: 1}], s: {$exists: true}}`, `{a: {$bitsAllSet: 1}}`, `{"a.b.c": 2}`, `{"a.b.0.c": {$lt: 2}}`,
		`{a: {$elemMatch: {$gt: 1}}, s: {$in: [{"$regularExpression": {pattern: "^z", options: ""}}, 4]}}`, `{a: {$not: {$gt: 1}}, s: {$ne: "x9"}}`,
		`{"long name of a field": 7, a: 1}`, `{}`, `{$alwaysFalse: 1}`, `{$jsonSchema: {required: ["a"], properties: {a: {bsonType: "int"}}}}`,
	} {
		m, r := compile(t, filter), compile(t, filter).Run()
		for range 3 {
			for _, d := range docs {
				want, err := m.Match(env, d)
				if got, gotErr := r.Match(env, d); got != want || err != nil || gotErr != nil {
					t.Errorf("%s on %v: %v, %v; alone %v, %v", filter, d, got, gotErr, want, err)
				}
			}
		}
	}
}

func TestRunsDoNotAllocate(t *testing.T) {
	d, env := person(), expr.NewEnv(0)
	r := compile(t, `{tags: {$size: 3}, name: {$regex: "^Ada"}, "addr.city": "London", age: {$gt: 30, $lt: 40}, status: {$in: ["member"]}, x: null}`).Run()
	if ok, err := r.Match(env, d); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = r.Match(env, d) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// More conditions than a Run makes itself.
func TestRunOfManyConditions(t *testing.T) {
	t.Parallel()
	env := expr.NewEnv(0)
	b, d := value.NewBuilder(), value.NewBuilder()
	for i := range int32(300) {
		name := "f" + value.Int32(i).String()
		b.Int32(name, i)
		d.Int32(name, i)
	}
	m, err := Compile(b.Doc(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := m.Run()
	all := d.Doc()
	it := all.Iter()
	for _, tt := range []struct {
		d    value.Doc
		want bool
	}{{all, true}, {value.NewBuilder().Int32("f299", 5).Raw(it.Rest()).Doc(), false}, {doc(`{f0: 0, f1: 1}`), false}} {
		if ok, err := r.Match(env, tt.d); ok != tt.want || err != nil {
			t.Errorf("%v: %v, %v", tt.d, ok, err)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	d, env := person(), expr.NewEnv(0)
	r := compile(b, `{age: {$gt: 30}, "addr.city": "London"}`).Run()
	b.SetBytes(int64(len(d)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = r.Match(env, d)
	}
}
