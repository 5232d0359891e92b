package match

import (
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// person is a document of 17 fields and about 480 bytes.
func person() value.Doc {
	b := value.NewBuilder()
	b.Append("_id", value.ObjectID(value.NewOID(0)))
	b.String("name", "Ada Lovelace").String("email", "ada@example.com").Int32("age", 36)
	b.StartDocument("addr").String("street", "12 St James's Square").String("city", "London").String("zip", "SW1Y 4JH").End()
	b.StartArray("tags").String("", "math").String("", "poetry").String("", "engines").End()
	b.Double("score", 99.5).Bool("active", true).Date("created", 1700000000000).Int64("visits", 1234567890123)
	b.Null("deleted").String("country", "United Kingdom").String("phone", "+44 20 7946 0000").Int32("rank", 1)
	b.String("bio", "Wrote the first published algorithm for the Analytical Engine of Charles Babbage.")
	b.Date("updated", 1700000100000).String("status", "member")
	return b.Doc()
}

func compile(t testing.TB, filter string) *Matcher {
	t.Helper()
	m, err := Compile(doc(filter), Options{})
	if err != nil {
		t.Fatalf("Compile(%s): %v", filter, err)
	}
	return m
}

func TestPlainFiltersDoNotAllocate(t *testing.T) {
	d, env := person(), expr.NewEnv(0)
	for _, f := range []string{
		`{age: {$gt: 30}, "addr.city": "London"}`,
		`{tags: "poetry"}`,
		`{$or: [{age: 1}, {status: {$in: ["member", "guest"]}}]}`,
		`{tags: {$size: 3}, name: {$regex: "^Ada"}, visits: {$mod: [3, 0]}}`,
		`{tags: {$elemMatch: {$gte: "p"}}, phone: {$exists: true}, bio: {$type: "string"}}`,
	} {
		m := compile(t, f)
		if ok, err := m.Match(env, d); !ok || err != nil {
			t.Errorf("%s: %v, %v", f, ok, err)
		}
		if n := testing.AllocsPerRun(100, func() { _, _ = m.Match(env, d) }); n > 0 {
			t.Errorf("%s: %v allocations", f, n)
		}
	}
}

func BenchmarkMatchTwoFields(b *testing.B) {
	d, env := person(), expr.NewEnv(0)
	m := compile(b, `{age: {$gt: 30}, "addr.city": "London"}`)
	b.SetBytes(int64(len(d)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = m.Match(env, d)
	}
}

func BenchmarkScanOneField(b *testing.B) {
	env := expr.NewEnv(0)
	docs := make([]value.Doc, 1000)
	for i := range docs {
		docs[i] = value.NewDoc("_id", value.Int32(int32(i)), "a", value.Int32(int32(i%97)), "s", value.String(fmt.Sprint("name", i)))
	}
	for _, f := range []string{`{a: 5}`, `{a: {$gte: 90}}`, `{s: "name77"}`, `{s: {$regex: "77$"}}`} {
		m := compile(b, f)
		b.Run(f, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				_, _ = m.Match(env, docs[i%len(docs)])
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	f := doc(`{age: {$gt: 30}, "addr.city": "London"}`)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Compile(f, Options{})
	}
}
