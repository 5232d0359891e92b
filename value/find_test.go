package value_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

func TestFindAgreesWithLookup(t *testing.T) {
	d := value.MustJSON(`{"a":1,"ab":"x","b":{"a":2},"":true,"c":[1,2],"a":3,"long name":{"$numberDecimal":"1.5"},"r":{"$regularExpression":{"pattern":"p","options":"i"}},"n":null,"z":{"$minKey":1}}`)
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"", "a", "ab", "abc", "b", "c", "long name", "long", "r", "n", "z", "zz"}).Draw(t, "key")
		if got, want := d.Find(key), d.Lookup(key); canonicalOrMissing(got) != canonicalOrMissing(want) {
			t.Fatalf("%q: %s, want %s", key, got, want)
		}
	})
	if v := value.EmptyDoc.Find("a"); !v.IsMissing() {
		t.Errorf("found %s in an empty document", v)
	}
	if v := value.Doc(nil).Find("a"); !v.IsMissing() {
		t.Errorf("found %s in no document", v)
	}
}

func canonicalOrMissing(v value.Value) string {
	if v.IsMissing() {
		return "missing"
	}
	return canonical(v)
}

var findDoc = value.MustJSON(`{"_id":1,"name":"somebody","qty":12,"price":3.5,"disc":0.1,"tags":["a","b","c"],"item":{"code":"x1"},"status":"A"}`)

func BenchmarkFind(b *testing.B) {
	for b.Loop() {
		findDoc.Find("status")
	}
}

func BenchmarkLookup(b *testing.B) {
	for b.Loop() {
		findDoc.Lookup("status")
	}
}
