package value

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// trace lists what Each yields, as value@position.
func trace(path, doc string, leaf Leaf) string {
	p := ParsePath(path)
	var out []string
	p.Each(MustJSON(doc), leaf, func(v Value, at int) bool {
		s := v.String()
		if at >= 0 {
			s += fmt.Sprintf("@%d", at)
		}
		out = append(out, s)
		return false
	})
	return strings.Join(out, " ")
}

func TestPathEach(t *testing.T) {
	cases := []struct {
		path, doc string
		leaf      Leaf
		want      string
	}{
		{"a", `{"a": 5}`, LeafTraverse, `5`},
		{"a", `{"b": 5}`, LeafTraverse, `missing`},
		{"a", `{"a": [5, 4]}`, LeafTraverse, `5@0 4@1 [ 5, 4 ]`},
		{"a", `{"a": [5, 4]}`, LeafWhole, `[ 5, 4 ]`},
		{"a", `{"a": [5, 4]}`, LeafElements, `5@0 4@1`},
		{"a", `{"a": []}`, LeafTraverse, `[]`},
		{"a", `{"a": []}`, LeafElements, ``},
		{"a.b", `{"a": 4}`, LeafTraverse, `missing`},
		{"a.b", `{"a": {"b": 5}}`, LeafTraverse, `5`},
		{"a.b", `{"a": []}`, LeafTraverse, ``},
		{"a.b", `{"a": [1, 2]}`, LeafTraverse, ``},
		{"a.b", `{"a": [{"b": 5}, 3, {}, {"b": [9, 11]}, {"b": 7}]}`, LeafTraverse,
			`5@0 missing@2 9@3 11@3 [ 9, 11 ]@3 7@4`},
		{"a.b", `{"a": [{"b": [9, 11]}]}`, LeafWhole, `[ 9, 11 ]@0`},
		{"a.b", `{"a": [[{"b": 1}]]}`, LeafTraverse, ``},
		{"a.0", `{"a": [5, [2, 4]]}`, LeafTraverse, `5`},
		{"a.1", `{"a": [5, [2, 4]]}`, LeafTraverse, `[ 2, 4 ]`},
		{"a.1", `{"a": [5, {"1": 4}]}`, LeafTraverse, `4@1 { 1: 4 }`},
		{"a.1.b", `{"a": [5, {"b": 4}]}`, LeafTraverse, `missing@1 4`},
		{"a.1.b", `{"a": [5, [{"b": 4}, {"b": 6}], 3]}`, LeafTraverse, `4@0 6@1`},
		{"a.0.0", `{"a": [[7, 8]]}`, LeafTraverse, `7`},
		{"a.00", `{"a": [5]}`, LeafTraverse, ``},
		{"a.0", `{"a": {"0": 5}}`, LeafTraverse, `5`},
		{"", `{"": 5}`, LeafTraverse, `5`},
		{"a.", `{"a": 5}`, LeafTraverse, `missing`},
		{"a.", `{"a": {}}`, LeafTraverse, `missing`},
		{"a.", `{"a": {"": 5}}`, LeafTraverse, `5`},
		{"a.", `{"a": {"": [5, 4]}}`, LeafTraverse, `5@0 4@1 [ 5, 4 ]`},
		{"a.", `{"a": [5, {"": 4}]}`, LeafTraverse, `5@0 { : 4 }@1 [ 5, { : 4 } ]`},
		{"a.", `{"a": [5, {"": 4}]}`, LeafWhole, `[ 5, { : 4 } ]`},
		{"a.", `{"a": []}`, LeafTraverse, `[]`},
		{"a.", `{"a": []}`, LeafElements, ``},
		{"a..", `{"a": [5, {"": {"": 4}}]}`, LeafTraverse, `4@1`},
		{"a.b.", `{"a": [{"b": [5]}, {"b": 4}]}`, LeafTraverse, `5@0 [ 5 ]@0 missing@1`},
		{"a.0.", `{"a": [5]}`, LeafTraverse, ``},
		{"a.0.", `{"a": [[5, 4]]}`, LeafTraverse, `5@0 4@1 [ 5, 4 ]`},
		{"a.0.", `{"a": [{"": 5}]}`, LeafTraverse, `missing@0 5`},
	}
	for _, c := range cases {
		if got := trace(c.path, c.doc, c.leaf); got != c.want {
			t.Errorf("%s in %s (%d):\n got %s\nwant %s", c.path, c.doc, c.leaf, got, c.want)
		}
	}
}

func TestPathEachFrom(t *testing.T) {
	p := ParsePath("i.b")
	var got []string
	collect := func(v Value, at int) bool { got = append(got, v.String()); return false }
	p.EachFrom(Document(MustJSON(`{"b": 1}`)), 1, LeafTraverse, collect)
	p.EachFrom(Array(MustJSON(`{"0": {"b": 2}, "1": 3}`)), 1, LeafTraverse, collect)
	p.EachFrom(Int32(7), 1, LeafTraverse, collect)
	p.EachFrom(Int32(7), 2, LeafTraverse, collect)
	if want := []string{"1", "2", "missing", "7"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPathGet(t *testing.T) {
	d := MustJSON(`{"a": {"b": [1]}, "c": [{"d": 1}]}`)
	for path, want := range map[string]string{"a.b": "[ 1 ]", "c.d": "missing", "c": "[ { d: 1 } ]", "x.y": "missing"} {
		if got := ParsePath(path).Get(d).String(); got != want {
			t.Errorf("Get(%s) = %s, want %s", path, got, want)
		}
	}
}

func TestPathWalkStops(t *testing.T) {
	n := 0
	found := ParsePath("a.b").Walk(MustJSON(`{"a": [{"b": 1}, {"b": 2}]}`), func(Value) bool { n++; return true })
	if !found || n != 1 {
		t.Errorf("found %v after %d values", found, n)
	}
}

func BenchmarkPathEach(b *testing.B) {
	d := MustJSON(`{"_id": 1, "name": "x", "a": {"b": 5}}`)
	p := ParsePath("a.b")
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		p.Each(d, LeafTraverse, func(v Value, _ int) bool { n++; return true })
	}
}
