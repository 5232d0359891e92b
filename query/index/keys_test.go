package index

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// mustParse compiles a specification and names it if it has no name.
func mustParse(t testing.TB, json string) *Spec {
	t.Helper()
	spec := value.MustJSON(json)
	if !spec.Has("name") {
		spec = withName(spec)
	}
	s, err := Parse(spec, ParseOptions{})
	if err != nil {
		t.Fatalf("Parse(%s): %v", json, err)
	}
	return s
}

func withName(spec value.Doc) value.Doc {
	b := value.NewBuilder()
	for name, v := range spec.All() {
		b.Append(name, v)
	}
	b.String("name", DefaultName(spec.Lookup("key").Doc()))
	return b.Doc()
}

// entries renders the keys of a document in index order.
func entries(t testing.TB, s *Spec, json string) (string, bool) {
	t.Helper()
	doc := value.MustJSON(json)
	keys, multikey, err := s.Keys(nil, storage.Record{ID: 1, Doc: doc})
	if err != nil {
		t.Fatalf("Keys(%s): %v", json, err)
	}
	out := ""
	for i, key := range keys {
		if i > 0 && bytes.Compare(keys[i-1], key) >= 0 {
			t.Errorf("keys of %s are not ordered or not distinct", json)
		}
		d := s.KeyValue(doc, key)
		if d == nil {
			t.Fatalf("KeyValue(%s) does not find key %d", json, i)
		}
		out += d.String()
	}
	return out, multikey != 0
}

func TestPlainKeys(t *testing.T) {
	tests := []struct {
		spec, doc, want string
		multikey        bool
	}{
		{`{"key":{"a":1}}`, `{"a":5}`, `{ a: 5 }`, false},
		{`{"key":{"a":1}}`, `{"b":5}`, `{ a: null }`, false},
		{`{"key":{"a":1}}`, `{"a":null}`, `{ a: null }`, false},
		{`{"key":{"a":1}}`, `{"a":{"b":1}}`, `{ a: { b: 1 } }`, false},
		{`{"key":{"a":1}}`, `{"a":[1,2,3]}`, `{ a: 1 }{ a: 2 }{ a: 3 }`, true},
		{`{"key":{"a":1}}`, `{"a":[1,1,1]}`, `{ a: 1 }`, true},
		{`{"key":{"a":1}}`, `{"a":[]}`, `{ a: undefined }`, true},
		{`{"key":{"a":1}}`, `{"a":[[1,2]]}`, `{ a: [ 1, 2 ] }`, true},
		{`{"key":{"a":1}}`, `{"a":[[]]}`, `{ a: [] }`, true},
		{`{"key":{"a":-1}}`, `{"a":[1,2]}`, `{ a: 2 }{ a: 1 }`, true},
		{`{"key":{"a.b":1}}`, `{"a":{"b":4}}`, `{ a.b: 4 }`, false},
		{`{"key":{"a.b":1}}`, `{"a":4}`, `{ a.b: null }`, false},
		{`{"key":{"a.b":1}}`, `{"a":[{"b":4},{"b":5}]}`, `{ a.b: 4 }{ a.b: 5 }`, true},
		{`{"key":{"a.b":1}}`, `{"a":[{"b":4},{"c":5}]}`, `{ a.b: null }{ a.b: 4 }`, true},
		{`{"key":{"a.b":1}}`, `{"a":[{"b":4},3]}`, `{ a.b: null }{ a.b: 4 }`, true},
		{`{"key":{"a.b":1}}`, `{"a":[{"b":[4,5]},{"b":6}]}`, `{ a.b: 4 }{ a.b: 5 }{ a.b: 6 }`, true},
		{`{"key":{"a.b":1}}`, `{"a":[]}`, `{ a.b: null }`, true},
		{`{"key":{"a.b":1}}`, `{"a":{"b":[]}}`, `{ a.b: undefined }`, true},
		{`{"key":{"a.b":1}}`, `{"a":[[{"b":1}]]}`, `{ a.b: null }`, true},
		{`{"key":{"a":1,"b":1}}`, `{"a":5,"b":[1,2]}`, `{ a: 5, b: 1 }{ a: 5, b: 2 }`, true},
		{`{"key":{"a":1,"b":-1}}`, `{"a":5,"b":[1,2]}`, `{ a: 5, b: 2 }{ a: 5, b: 1 }`, true},
		{`{"key":{"a.b":1,"a.c":1}}`, `{"a":[{"b":1,"c":1},{"b":2,"c":2}]}`, `{ a.b: 1, a.c: 1 }{ a.b: 2, a.c: 2 }`, true},
		{`{"key":{"a.b":1,"a.c":1}}`, `{"a":[{"b":1},{"b":[1,2,3],"c":2}]}`, `{ a.b: 1, a.c: null }{ a.b: 1, a.c: 2 }{ a.b: 2, a.c: 2 }{ a.b: 3, a.c: 2 }`, true},
		{`{"key":{"a":1,"a.b":1}}`, `{"a":[{"b":1}]}`, `{ a: { b: 1 }, a.b: 1 }`, true},
		{`{"key":{"a.0":1}}`, `{"a":[1,2]}`, `{ a.0: 1 }`, true},
		{`{"key":{"a.0":1}}`, `{"a":[[1,2]]}`, `{ a.0: [ 1, 2 ] }`, true},
		{`{"key":{"a.0":1}}`, `{"a":{"0":7}}`, `{ a.0: 7 }`, false},
		{`{"key":{"a.1.b":1}}`, `{"a":[{"b":1},{"b":2}]}`, `{ a.1.b: 2 }`, true},
		{`{"key":{"a.5":1}}`, `{"a":[1,2]}`, `{ a.5: null }`, true},
		{`{"key":{"a":1},"sparse":true}`, `{"b":5}`, ``, false},
		{`{"key":{"a":1},"sparse":true}`, `{"a":null}`, `{ a: null }`, false},
		{`{"key":{"a":1,"b":1},"sparse":true}`, `{"b":5}`, `{ a: null, b: 5 }`, false},
		{`{"key":{"a":1,"b":1},"sparse":true}`, `{"c":5}`, ``, false},
		{`{"key":{"a":1},"partialFilterExpression":{"n":{"$gt":5}}}`, `{"a":1,"n":5}`, ``, false},
		{`{"key":{"a":1},"partialFilterExpression":{"n":{"$gt":5}}}`, `{"a":1,"n":6}`, `{ a: 1 }`, false},
	}
	for _, tt := range tests {
		got, multikey := entries(t, mustParse(t, tt.spec), tt.doc)
		if got != tt.want || multikey != tt.multikey {
			t.Errorf("%s of %s:\n got %s %v\nwant %s %v", tt.spec, tt.doc, got, multikey, tt.want, tt.multikey)
		}
	}
}

func TestKeyErrors(t *testing.T) {
	tests := []struct {
		spec, doc string
		code      mongoerr.Code
		msg       string
	}{
		{`{"key":{"a":1,"b":1}}`, `{"a":[1],"b":[2]}`, 171, "cannot index parallel arrays [b] [a]"},
		{`{"key":{"a.x":1,"a.y":1}}`, `{"a":[{"x":[1],"y":[2]}]}`, 171, "cannot index parallel arrays [y] [x]"},
		{`{"key":{"x.a":1,"x.b":1}}`, `{"x":{"a":[1],"b":[2]}}`, 171, "cannot index parallel arrays [b] [a]"},
		{`{"key":{"a.0":1}}`, `{"a":[{"0":1}]}`, 16746, "field: '0' for array: { 0: { 0: 1 } }"},
	}
	for _, tt := range tests {
		s := mustParse(t, tt.spec)
		_, _, err := s.Keys(nil, storage.Record{Doc: value.MustJSON(tt.doc)})
		if e := mongoerr.From(err); e == nil || e.Code != tt.code || !bytes.Contains([]byte(e.Message), []byte(tt.msg)) {
			t.Errorf("%s of %s: %v", tt.spec, tt.doc, err)
		}
		if got := s.KeyValues(value.MustJSON(tt.doc)); len(got) > 1 {
			t.Errorf("KeyValues of %s: %v", tt.doc, got)
		}
	}
}

func TestWildcardKeys(t *testing.T) {
	tests := []struct{ spec, doc, want string }{
		{`{"key":{"$**":1}}`, `{"_id":1,"a":5,"b":{"c":"x","d":{}}}`,
			`{ $_path: "a", a: 5 }{ $_path: "b.c", b.c: "x" }{ $_path: "b.d", b.d: {} }`},
		{`{"key":{"$**":1}}`, `{"a":[1,{"b":2},[3],[]]}`,
			`{ $_path: "a", a: 1 }{ $_path: "a", a: [] }{ $_path: "a", a: [ 3 ] }{ $_path: "a.b", a.b: 2 }`},
		{`{"key":{"$**":1}}`, `{"a":[]}`, `{ $_path: "a", a: undefined }`},
		{`{"key":{"$**":1}}`, `{"_id":1}`, ``},
		{`{"key":{"$**":1},"wildcardProjection":{"_id":1,"a":1}}`, `{"_id":1,"a":2,"b":3}`, `{ $_path: "_id", _id: 1 }{ $_path: "a", a: 2 }`},
		{`{"key":{"$**":1},"wildcardProjection":{"a.b":0}}`, `{"a":{"b":2,"c":4}}`, `{ $_path: "a.c", a.c: 4 }`},
		{`{"key":{"$**":1},"wildcardProjection":{"a.b":1}}`, `{"a":{"b":2,"c":4}}`, `{ $_path: "a.b", a.b: 2 }`},
		{`{"key":{"a.$**":1}}`, `{"a":{"b":2,"c":4},"z":1}`, `{ $_path: "a.b", a.b: 2 }{ $_path: "a.c", a.c: 4 }`},
		{`{"key":{"a.$**":1}}`, `{"a":7}`, `{ $_path: "a", a: 7 }`},
		{`{"key":{"n":1,"a.$**":-1}}`, `{"n":3,"a":{"b":2,"c":4}}`, `{ n: 3, $_path: "a.c", a.c: 4 }{ n: 3, $_path: "a.b", a.b: 2 }`},
		{`{"key":{"n":1,"a.$**":1}}`, `{"n":3}`, `{ n: 3, $_path: MinKey, a.$**: MinKey }`},
	}
	for _, tt := range tests {
		if got, _ := entries(t, mustParse(t, tt.spec), tt.doc); got != tt.want {
			t.Errorf("%s of %s:\n got %s\nwant %s", tt.spec, tt.doc, got, tt.want)
		}
	}
}

func TestHashedKeys(t *testing.T) {
	s := mustParse(t, `{"key":{"a":"hashed"}}`)
	one, _, _ := s.Keys(nil, storage.Record{Doc: value.MustJSON(`{"a":1}`)})
	same, _, _ := s.Keys(nil, storage.Record{Doc: value.MustJSON(`{"a":1.0}`)})
	if len(one) != 1 || len(same) != 1 {
		t.Fatal("no keys")
	}
	for _, doc := range []string{`{"a":[1]}`, `{"a":[]}`} {
		if _, _, err := s.Keys(nil, storage.Record{Doc: value.MustJSON(doc)}); !mongoerr.Is(err, 16766) {
			t.Errorf("%s: %v", doc, err)
		}
	}
}

func TestInternalKeys(t *testing.T) {
	const ts = 1_700_000_000_900
	tests := []struct {
		order Order
		path  string
		doc   string
		want  int64 // 0: no key
	}{
		{Inherited, "ttl", `{}`, 1_700_000_000_000},
		{Inherited, "ttl", `{"ttl":5}`, 0},
		{Inherited, "ttl", `{"ttl":-1}`, 0},
		{Inherited, "ttl", `{"ttl":"5"}`, 1_700_000_000_000},
		{Inherited, "ttl", `{"ttl":0}`, 1_700_000_000_000},
		{Inherited, "ttl", `{"ttl":20.5}`, 1_700_000_000_000},
		{Inherited, "ttl", `{"ttl":null}`, 1_700_000_000_000},
		{Own, "ttl", `{"ttl":5}`, 1_700_000_005_000},
		{Own, "ttl", `{"ttl":5.0}`, 1_700_000_005_000},
		{Own, "ttl", `{"ttl":-1}`, 0},
		{Own, "ttl", `{"ttl":2147483648}`, 0},
		{BucketMin, "control.min.t", `{"control":{"min":{"t":{"$date":{"$numberLong":"77"}}}}}`, 77},
		{BucketMax, "control.max.t", `{"control":{"min":{"t":{"$date":{"$numberLong":"77"}}}}}`, 0},
		{DatePath, "x", `{"x":[{"$date":{"$numberLong":"9"}},{"$date":{"$numberLong":"8"}},"s"]}`, 8},
		{DatePath, "x", `{"x":"s"}`, 0},
	}
	for _, tt := range tests {
		s, err := Load(InternalSpec("$ttl.test", tt.path, tt.order))
		if err != nil {
			t.Fatal(err)
		}
		keys, _, err := s.Keys(nil, storage.Record{TS: ts, Doc: value.MustJSON(tt.doc)})
		if err != nil {
			t.Fatal(err)
		}
		var want [][]byte
		if tt.want != 0 {
			want = [][]byte{DateKey(tt.want)}
		}
		if !slices.EqualFunc(keys, want, bytes.Equal) {
			t.Errorf("%s of %s: %x, want the key of %d", tt.order, tt.doc, keys, tt.want)
		}
	}
	if _, err := Load(InternalSpec("nodollar", "x", Own)); err == nil {
		t.Error("an internal index without $ was accepted")
	}
	if _, err := Load(InternalSpec("$x", "x", "what")); err == nil {
		t.Error("an unknown order was accepted")
	}
}

// TestDatesInRange: the dates up to an instant have keys of their own range, in an ascending
// and in a descending index.
func TestDatesInRange(t *testing.T) {
	first, last := []byte{value.KeyRank(value.KindDateTime)}, DateKey(10_000)
	descending := slices.Clone(last)
	value.InvertKey(descending)
	for _, c := range []struct {
		spec   string
		lo, hi []byte
	}{
		{`{"key":{"x":1},"expireAfterSeconds":10}`, first, append(last, 0xff)},
		{`{"key":{"x":-1},"expireAfterSeconds":10}`, descending, []byte{^first[0] + 1}},
	} {
		s := mustParse(t, c.spec)
		for _, tt := range []struct {
			doc  string
			want bool
		}{
			{`{"x":{"$date":{"$numberLong":"10000"}}}`, true},
			{`{"x":{"$date":{"$numberLong":"10001"}}}`, false},
			{`{"x":{"$date":{"$numberLong":"-5"}}}`, true},
			{`{"x":5}`, false}, {`{"x":"a"}`, false}, {`{}`, false}, {`{"x":{"$timestamp":{"t":1,"i":1}}}`, false},
		} {
			keys, _, _ := s.Keys(nil, storage.Record{Doc: value.MustJSON(tt.doc)})
			got := bytes.Compare(c.lo, keys[0]) <= 0 && bytes.Compare(keys[0], c.hi) < 0
			if got != tt.want {
				t.Errorf("%s, %s: %v", c.spec, tt.doc, got)
			}
		}
	}
}

func BenchmarkKeys(b *testing.B) {
	doc := value.MustJSON(`{"_id":1,"name":"x","age":30,"tags":["a","b","c"],"addr":{"city":"Ghent"}}`)
	for _, spec := range []string{`{"key":{"age":1}}`, `{"key":{"age":1,"addr.city":-1}}`, `{"key":{"tags":1}}`, `{"key":{"$**":1}}`} {
		s := mustParse(b, spec)
		b.Run(fmt.Sprint(s.Name), func(b *testing.B) {
			b.ReportAllocs()
			var dst [][]byte
			for b.Loop() {
				dst, _, _ = s.Keys(dst[:0], storage.Record{Doc: doc})
			}
		})
	}
}

// keysOf makes the keys and values of a document, and ignores errors.
func keysOf(s *Spec, doc value.Doc) {
	keys, _, _ := s.Keys(nil, storage.Record{Doc: doc})
	for _, key := range keys {
		s.KeyValue(doc, key)
	}
	s.Plan()
}
