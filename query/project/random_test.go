package project

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

func drawDoc(t *rapid.T, depth int) value.Doc {
	b := value.NewBuilder()
	names := rapid.SampledFrom([]string{"a", "b", "c", "_id"})
	for _, name := range rapid.SliceOfNDistinct(names, 0, 4, rapid.ID).Draw(t, "names") {
		b.Append(name, drawValue(t, depth))
	}
	return b.Doc()
}

func drawValue(t *rapid.T, depth int) value.Value {
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		if depth > 0 {
			return value.Document(drawDoc(t, depth-1))
		}
	case 1:
		if depth > 0 {
			var vs []value.Value
			for range rapid.IntRange(0, 3).Draw(t, "len") {
				vs = append(vs, drawValue(t, depth-1))
			}
			return value.NewArray(vs...)
		}
	}
	return value.Int32(int32(rapid.IntRange(0, 9).Draw(t, "int")))
}

// drawPaths draws paths of which none leads to another.
func drawPaths(t *rapid.T) (paths []string) {
	part := rapid.SampledFrom([]string{"a", "b", "c"})
	for range rapid.IntRange(1, 3).Draw(t, "paths") {
		path := strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "path"), ".")
		clash := false
		for _, p := range paths {
			clash = clash || p == path || strings.HasPrefix(p, path+".") || strings.HasPrefix(path, p+".")
		}
		if !clash {
			paths = append(paths, path)
		}
	}
	return paths
}

func compilePaths(t *rapid.T, paths []string, v value.Value) *Projection {
	b := value.NewBuilder()
	for _, p := range paths {
		b.Append(p, v)
	}
	p, err := Compile(b.Doc(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRandomInclusion compares inclusion and exclusion with a model that works on paths
// of scalars.
func TestRandomInclusion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, paths := drawDoc(t, 4), drawPaths(t)
		env := expr.NewEnv(0)
		in, err := compilePaths(t, paths, value.Int32(1)).Apply(env, nil, d)
		if err != nil {
			t.Fatal(err)
		}
		out, err := compilePaths(t, paths, value.Int32(0)).Apply(env, nil, d)
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range []value.Doc{in, out} {
			if err := value.Validate(got); err != nil {
				t.Fatal(err)
			}
		}
		var wantIn, wantOut []string
		for _, s := range scalars("", d) {
			path, _, _ := strings.Cut(s, "=")
			switch {
			case path == "_id" || strings.HasPrefix(path, "_id."):
				wantIn, wantOut = append(wantIn, s), append(wantOut, s)
			case named(paths, path):
				wantIn = append(wantIn, s)
			default:
				wantOut = append(wantOut, s)
			}
		}
		if got := scalars("", in); fmt.Sprint(got) != fmt.Sprint(wantIn) {
			t.Fatalf("include %v of %s: got %s", paths, d, in)
		}
		if got := scalars("", out); fmt.Sprint(got) != fmt.Sprint(wantOut) {
			t.Fatalf("exclude %v of %s: got %s", paths, d, out)
		}
	})
}

func named(paths []string, path string) bool {
	for _, p := range paths {
		if p == path || strings.HasPrefix(path, p+".") {
			return true
		}
	}
	return false
}

// scalars lists the scalars of a document with their paths, arrays being
// transparent.
func scalars(prefix string, d value.Doc) (out []string) {
	for name, v := range d.All() {
		out = append(out, scalarsOf(prefix+name, v)...)
	}
	return out
}

func scalarsOf(path string, v value.Value) (out []string) {
	switch v.Kind() {
	case value.KindDocument:
		return scalars(path+".", v.Doc())
	case value.KindArray:
		for e := range v.Doc().Values() {
			out = append(out, scalarsOf(path, e)...)
		}
		return out
	}
	return []string{path + "=" + v.String()}
}

// TestRandomAddition: $addFields keeps what it does not name, byte by byte.
func TestRandomAddition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, paths := drawDoc(t, 4), drawPaths(t)
		b := value.NewBuilder()
		touched := map[string]bool{}
		for _, p := range paths {
			b.Append(p, value.String("new"))
			first, _, _ := strings.Cut(p, ".")
			touched[first] = true
		}
		p, err := Compile(b.Doc(), Options{Mode: AddFields})
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Apply(expr.NewEnv(0), nil, d)
		if err != nil || value.Validate(got) != nil {
			t.Fatal(err, got)
		}
		rest := func(d value.Doc) (out []byte) {
			for it := d.Iter(); it.Next(); {
				if !touched[it.Key()] {
					out = append(out, it.Element()...)
				}
			}
			return out
		}
		if !bytes.Equal(rest(got), rest(d)) {
			t.Fatalf("%v on %s: %s", paths, d, got)
		}
	})
}

func FuzzProject(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"b.c":1,"_id":0}`, `{"a":0,"b.c":0}`, `{"a":{"$slice":[1,2]},"x":"$b"}`, `{"a":{"$elemMatch":{"b":1}}}`,
		`{"a":{"b":{"$add":[1,"$d"]}},"a.c":"x"}`,
	} {
		for mode := range byte(3) {
			f.Add([]byte(value.MustJSON(s)), []byte(value.MustJSON(`{"_id":1,"a":[{"b":1},2,[3]],"b":{"c":1},"d":5}`)), mode)
		}
	}
	f.Fuzz(func(t *testing.T, spec, doc []byte, mode byte) {
		if value.Validate(spec) != nil || value.Validate(doc) != nil {
			return
		}
		p, err := Compile(spec, Options{Mode: Mode(mode % 3)})
		if err != nil {
			return
		}
		p.Deps(func(string) {}, func() {})
		got, err := p.Apply(expr.NewEnv(0), nil, doc)
		if err != nil {
			return
		}
		if err := value.Validate(got); err != nil && !errors.Is(err, value.ErrDepth) {
			t.Fatalf("%s on %s: %v", value.Doc(spec), value.Doc(doc), err)
		}
	})
}

func TestDeps(t *testing.T) {
	for _, tt := range []struct {
		spec, want string
		mode       Mode
	}{
		{spec: `{"a":1,"b.c":1}`, want: "a b.c _id"},
		{spec: `{"a":1,"_id":0}`, want: "a"},
		{spec: `{"x":{"$add":["$a","$b.c"]},"_id":0}`, want: "a b.c"},
		{spec: `{"a":0}`, want: "*"},
		{spec: `{"a":"$b"}`, want: "* b", mode: AddFields},
	} {
		p, err := Compile(value.MustJSON(tt.spec), Options{Mode: tt.mode})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		p.Deps(func(path string) { got = append(got, path) }, func() { got = append(got, "*") })
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: got %s, want %s", tt.spec, s, tt.want)
		}
	}
}

func TestProperties(t *testing.T) {
	compile := func(spec string, mode Mode) *Projection {
		p, err := Compile(value.MustJSON(spec), Options{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := compile(`{}`, Find); !p.IsIdentity() || p.IsInclusion() || !p.IsSimple() {
		t.Error("empty projection")
	}
	if p := compile(`{"a":1}`, Find); p.IsIdentity() || !p.IsInclusion() || !p.IsSimple() || p.NeedsPosition() {
		t.Error("inclusion")
	}
	if p := compile(`{"a":{"$slice":1}}`, Find); p.IsIdentity() || p.IsSimple() {
		t.Error("slice")
	}
	dst := []byte("before")
	d, err := compile(`{"a":1}`, Find).Apply(expr.NewEnv(0), dst, value.MustJSON(`{"a":1,"b":2}`))
	if err != nil || d.JSON() != `{"a":1}` || string(dst) != "before" {
		t.Error(d, err)
	}
}

func benchmarkApply(b *testing.B, mode Mode, spec string) {
	doc := value.NewBuilder().Int32("_id", 1)
	for i := range 16 {
		doc.String(fmt.Sprintf("field%02d", i), "some text of a field")
	}
	d := doc.Doc()
	p, err := Compile(value.MustJSON(spec), Options{Mode: mode})
	if err != nil {
		b.Fatal(err)
	}
	env, buf := expr.NewEnv(0), make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Apply(env, buf, d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInclude(b *testing.B)   { benchmarkApply(b, Find, `{"field03":1,"field12":1}`) }
func BenchmarkExclude(b *testing.B)   { benchmarkApply(b, Find, `{"field03":0,"field12":0}`) }
func BenchmarkCompute(b *testing.B)   { benchmarkApply(b, Aggregate, `{"x":"$field03","y":"$field12"}`) }
func BenchmarkAddFields(b *testing.B) { benchmarkApply(b, AddFields, `{"field03":"$field12"}`) }
