package update

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// drawValue draws any value over a few names, so that paths meet.
func drawValue(t *rapid.T, depth int) value.Value {
	n := 7
	if depth == 0 {
		n = 5
	}
	switch rapid.IntRange(0, n).Draw(t, "kind") {
	case 0:
		return value.Int32(int32(rapid.IntRange(-2, 2).Draw(t, "int")))
	case 1:
		return value.Int64(rapid.Int64().Draw(t, "long"))
	case 2:
		return value.Double(rapid.Float64().Draw(t, "double"))
	case 3:
		return value.String(rapid.StringMatching("[ab]{0,2}").Draw(t, "string"))
	case 4:
		return value.Null()
	case 5:
		return value.Bool(rapid.Bool().Draw(t, "bool"))
	case 6:
		var vs []value.Value
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			vs = append(vs, drawValue(t, depth-1))
		}
		return value.NewArray(vs...)
	}
	return value.Document(drawDoc(t, depth-1))
}

func drawDoc(t *rapid.T, depth int) value.Doc {
	b := value.NewBuilder()
	for _, name := range rapid.SliceOfNDistinct(drawName(), 0, 4, rapid.ID).Draw(t, "names") {
		b.Append(name, drawValue(t, depth))
	}
	return b.Doc()
}

func drawName() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"a", "b", "c", "0", "1", "_id", "d"})
}

func drawPath() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{"a", "b", "c", "0", "1", "01", "$", "$[]", "$[i]", "d", "3"})
	return rapid.Custom(func(t *rapid.T) string {
		first := drawName().Draw(t, "first")
		return strings.Join(append([]string{first}, rapid.SliceOfN(part, 0, 3).Draw(t, "rest")...), ".")
	})
}

func drawUpdate(t *rapid.T) value.Doc {
	var names []string
	for name := range operators {
		names = append(names, name)
	}
	b := value.NewBuilder()
	for _, op := range rapid.SliceOfNDistinct(rapid.SampledFrom(sorted(names)), 1, 3, rapid.ID).Draw(t, "operators") {
		b.StartDocument(op)
		for _, path := range rapid.SliceOfNDistinct(drawPath(), 1, 3, rapid.ID).Draw(t, "paths") {
			b.Append(path, drawArgument(t, op))
		}
		b.End()
	}
	return b.Doc()
}

// drawArgument draws an argument that the operator mostly accepts.
func drawArgument(t *rapid.T, op string) value.Value {
	small := value.Int32(int32(rapid.IntRange(-2, 2).Draw(t, "small")))
	switch op {
	case "$inc", "$mul":
		return small
	case "$pop":
		return value.Int32(1)
	case "$rename":
		return value.String(drawPath().Draw(t, "target"))
	case "$bit":
		return value.Document(value.NewDoc("xor", small))
	case "$currentDate":
		return value.Bool(true)
	case "$pullAll":
		return value.NewArray(drawValue(t, 1), small)
	case "$push":
		return value.Document(value.NewDoc("$each", value.NewArray(drawValue(t, 1)), "$position", small, "$slice", small, "$sort", value.Int32(1)))
	}
	return drawValue(t, 2)
}

func sorted(names []string) []string {
	for i := range names {
		for j := i; j > 0 && names[j] < names[j-1]; j-- {
			names[j], names[j-1] = names[j-1], names[j]
		}
	}
	return names
}

// TestRandomUpdates: whatever the update, the result is BSON, top-level
// fields that the update does not name keep their bytes and their order, and
// an unmodified document is the same document.
func TestRandomUpdates(t *testing.T) {
	filter := value.MustJSON(`{"i":{"$gt":0}}`)
	rapid.Check(t, func(t *rapid.T) {
		spec, d := drawUpdate(t), drawDoc(t, 3)
		o := Options{}
		if bytes.Contains(spec, []byte("$[i]")) {
			o.ArrayFilters = []value.Doc{filter}
		}
		u, err := Compile(value.Document(spec), o)
		if err != nil {
			return
		}
		before := bytes.Clone(d)
		got, modified, err := u.Apply(expr.NewEnv(now), d, ApplyOptions{Position: rapid.IntRange(-1, 1).Draw(t, "position")})
		if !bytes.Equal(before, d) {
			t.Fatalf("the old document was changed")
		}
		if err != nil {
			return
		}
		if err := value.Validate(got); err != nil {
			t.Fatalf("%s on %s: %v", spec, d, err)
		}
		if !modified && !bytes.Equal(got, d) {
			t.Fatalf("%s on %s: unmodified, but %s", spec, d, got)
		}
		if g, w := untouched(u, got), untouched(u, d); !bytes.Equal(g, w) {
			t.Fatalf("%s on %s: %s", spec, d, got)
		}
	})
}

// untouched joins the top-level elements that u does not name.
func untouched(u *Update, d value.Doc) (out []byte) {
	touched := map[string]bool{}
	for _, p := range u.TouchedPaths() {
		first, _, _ := strings.Cut(p, ".")
		touched[first] = true
	}
	for it := d.Iter(); it.Next(); {
		if !touched[it.Key()] {
			out = append(out, it.Element()...)
		}
	}
	return out
}

// TestIdempotence: $set, $min, $max, $addToSet and $pull change nothing when
// they are applied once more.
func TestIdempotence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		op := rapid.SampledFrom([]string{"$set", "$min", "$max", "$addToSet", "$pull"}).Draw(t, "op")
		path := rapid.SampledFrom([]string{"a", "b.a", "a.1", "c.0.b", "a.$[]"}).Draw(t, "path")
		spec := value.NewDoc(op, value.Document(value.NewDoc(path, drawValue(t, 2))))
		u, err := Compile(value.Document(spec), Options{})
		if err != nil {
			return
		}
		env := expr.NewEnv(now)
		once, _, err := u.Apply(env, drawDoc(t, 3), ApplyOptions{Position: -1})
		if err != nil {
			return
		}
		if twice, modified, err := u.Apply(env, once, ApplyOptions{Position: -1}); err != nil || modified {
			t.Fatalf("%s on %s: %s, %v", spec, once, twice, err)
		}
	})
}

func FuzzUpdate(f *testing.F) {
	for _, s := range []string{
		`{"$set":{"a.b":1,"c.$":2},"$unset":{"d":1}}`, `{"$push":{"a":{"$each":[1],"$sort":-1,"$slice":-2,"$position":1}}}`,
		`{"$rename":{"a":"b.c"},"$bit":{"d":{"or":1}}}`, `{"$pull":{"a":{"$gt":1}},"$addToSet":{"b":{"$each":[1]}}}`,
		`{"$inc":{"a.$[i].b":1},"$max":{"c":1}}`, `{"a":1,"$b":2}`,
	} {
		f.Add([]byte(value.MustJSON(s)), []byte(value.MustJSON(`{"_id":1,"a":[{"b":1},2],"b":{"c":1},"d":5}`)), 0)
	}
	f.Fuzz(func(t *testing.T, spec, doc []byte, position int) {
		if value.Validate(spec) != nil || value.Validate(doc) != nil {
			return
		}
		o := Options{}
		if bytes.Contains(spec, []byte("$[i]")) {
			o.ArrayFilters = []value.Doc{value.MustJSON(`{"i":{"$gt":0}}`)}
		}
		u, err := Compile(value.Document(spec), o)
		if err != nil {
			return
		}
		for _, insert := range []bool{false, true} {
			got, _, err := u.Apply(expr.NewEnv(now), doc, ApplyOptions{Position: max(-1, position), Insert: insert})
			if err != nil {
				continue
			}
			if err := value.Validate(got); err != nil && !errors.Is(err, value.ErrDepth) {
				t.Fatalf("%s on %s: %v", value.Doc(spec), value.Doc(doc), err)
			}
		}
	})
}

// benchDoc is a document of 17 fields and about 480 bytes.
func benchDoc() value.Doc {
	b := value.NewBuilder()
	b.Append("_id", value.ObjectID(value.OID{1}))
	b.String("name", "a user of some service").String("mail", "someone@example.com").Int32("count", 5)
	for i := range 10 {
		b.String(fmt.Sprintf("field%02d", i), "some text of a field")
	}
	return b.Date("created", now).Double("score", 1.5).Bool("active", true).Doc()
}

func benchmarkApply(b *testing.B, update string) {
	d := benchDoc()
	u, err := Compile(value.Document(value.MustJSON(update)), Options{})
	if err != nil {
		b.Fatal(err)
	}
	env := expr.NewEnv(now)
	b.SetBytes(int64(len(d)))
	b.ReportAllocs()
	for b.Loop() {
		if _, modified, err := u.Apply(env, d, ApplyOptions{Position: -1}); err != nil || !modified {
			b.Fatal(modified, err)
		}
	}
}

func BenchmarkInc(b *testing.B)    { benchmarkApply(b, `{"$inc":{"count":1}}`) }
func BenchmarkSet(b *testing.B)    { benchmarkApply(b, `{"$set":{"name":"another name"}}`) }
func BenchmarkSetNew(b *testing.B) { benchmarkApply(b, `{"$set":{"x.y":1}}`) }
func BenchmarkMany(b *testing.B) {
	benchmarkApply(b, `{"$set":{"name":"n","field03":1,"z":1},"$inc":{"count":1},"$unset":{"mail":1}}`)
}
func BenchmarkReplace(b *testing.B) { benchmarkApply(b, `{"name":"another name","count":1}`) }

func BenchmarkIncIntoBuffer(b *testing.B) {
	d := benchDoc()
	u, err := Compile(value.Document(value.MustJSON(`{"$inc":{"count":1}}`)), Options{})
	if err != nil {
		b.Fatal(err)
	}
	env, buf := expr.NewEnv(now), make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := u.Apply(env, d, ApplyOptions{Position: -1, Buf: buf}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompileInc(b *testing.B) {
	spec := value.Document(value.MustJSON(`{"$inc":{"count":1}}`))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(spec, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
