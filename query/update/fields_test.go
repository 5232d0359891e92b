package update

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

func TestFieldsParse(t *testing.T) {
	for u, want := range map[string]bool{
		`{"$inc": {"n": 1}}`: true,
		`{"$set": {"a": "x", "b": null}, "$inc": {"n": {"$numberLong": "1"}}}`: true,
		`{"$set": {"a": 1}, "$inc": {"a": 1}}`:                                 false, // a conflict
		`{"$set": {"a.b": 1}}`:                                                 false,
		`{"$set": {"_id": 1}}`:                                                 false,
		`{"$set": {"$x": 1}}`:                                                  false,
		`{"$set": {"": 1}}`:                                                    false,
		`{"$set": {"a": {}}}`:                                                  false,
		`{"$set": {"a": []}}`:                                                  false,
		`{"$set": 1}`:                                                          false,
		`{"$inc": {"a": "1"}}`:                                                 false,
		`{"$set": {}}`:                                                         false,
		`{}`:                                                                   false,
		`{"a": 1}`:                                                             false,
		`{"$unset": {"a": 1}}`:                                                 false,
		`{"$set": {"a": 1}, "$unset": {"b": 1}}`:                               false,
		`{"$set": {"a": {"$binary": {"base64": "AAAA", "subType": "02"}}}}`: false,
		`{"$set": {"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1}}`:       true,
		`{"$set": {"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}}`: false,
	} {
		var f Fields
		if got := f.Parse(value.MustJSON(u)); got != want {
			t.Errorf("%s: got %v", u, got)
		}
	}
}

// New fields are appended in the order of their names, numbers by their values, as
// MongoDB's manual says of update operators since 5.0.
func TestFieldsAdd(t *testing.T) {
	for _, c := range []struct{ doc, update, want, changed, added string }{
		{`{"a": 1}`, `{"$set": {"b": 1}}`, `{"a": 1, "b": 1}`, `{}`, `{"b": 1}`},
		{`{}`, `{"$inc": {"n": 2}}`, `{"n": 2}`, `{}`, `{"n": 2}`},
		{`{"b": 1, "z": 0}`, `{"$set": {"c": 1, "b": 2, "a": 3}, "$inc": {"aa": 4}}`, `{"b": 2, "z": 0, "a": 3, "aa": 4, "c": 1}`, `{"b": 2}`, `{"a": 3, "aa": 4, "c": 1}`},
		{`{"z": 0}`, `{"$set": {"10": 1, "9": 1}}`, `{"z": 0, "9": 1, "10": 1}`, `{}`, `{"9": 1, "10": 1}`},
		{`{"a": "x"}`, `{"$set": {"a": "x", "b": null}}`, `{"a": "x", "b": null}`, `{}`, `{"b": null}`},
	} {
		var f Fields
		if !f.Parse(value.MustJSON(c.update)) {
			t.Fatalf("%s is not plain", c.update)
		}
		got, outcome := f.Apply([]byte("before"), value.MustJSON(c.doc))
		changed, added := value.NewBuilder().Raw(f.Changed).Doc(), value.NewBuilder().Raw(f.Added).Doc()
		if outcome != Modified || !bytes.Equal(got, value.MustJSON(c.want)) || !bytes.Equal(changed, value.MustJSON(c.changed)) || !bytes.Equal(added, value.MustJSON(c.added)) {
			t.Errorf("%s of %s: got %s (%d), changed %s, added %s", c.update, c.doc, got, outcome, changed, added)
		}
	}
}

func TestFieldsApply(t *testing.T) {
	for _, c := range []struct {
		doc, update, want, changed string
		outcome                    Outcome
	}{
		{`{"_id": 1, "n": 1, "z": 2}`, `{"$inc": {"n": 1}}`, `{"_id": 1, "n": 2, "z": 2}`, `{"n": 2}`, Modified},
		{`{"n": 1, "s": "a"}`, `{"$set": {"s": "longer"}, "$inc": {"n": 0.5}}`, `{"n": 1.5, "s": "longer"}`, `{"n": 1.5, "s": "longer"}`, Modified},
		{`{"n": 1, "s": "a"}`, `{"$set": {"s": "a"}, "$inc": {"n": 0}}`, `{"n": 1, "s": "a"}`, `{}`, Unchanged},
		{`{"n": 1}`, `{"$set": {"n": 1.0}}`, `{"n": 1.0}`, `{"n": 1.0}`, Modified},
		{`{"n": 2147483647}`, `{"$inc": {"n": 1}}`, `{"n": {"$numberLong": "2147483648"}}`, `{"n": {"$numberLong": "2147483648"}}`, Modified},
		{`{"a": {"b": 1}, "z": 1}`, `{"$set": {"a": 1}}`, `{"a": 1, "z": 1}`, `{"a": 1}`, Modified},
		{`{"a": "x"}`, `{"$inc": {"a": 1}}`, "", "", Unclear},
		{`{"a": {"$numberLong": "9223372036854775807"}}`, `{"$inc": {"a": 1}}`, "", "", Unclear},
	} {
		var f Fields
		if !f.Parse(value.MustJSON(c.update)) {
			t.Fatalf("%s is not plain", c.update)
		}
		got, outcome := f.Apply([]byte("before"), value.MustJSON(c.doc))
		if outcome != c.outcome {
			t.Errorf("%s of %s: outcome %d", c.update, c.doc, outcome)
			continue
		}
		if outcome == Unclear {
			continue
		}
		b := value.NewBuilder()
		b.Raw(f.Changed)
		if changed := b.Doc(); !bytes.Equal(got, value.MustJSON(c.want)) || !bytes.Equal(changed, value.MustJSON(c.changed)) {
			t.Errorf("%s of %s: got %s, changed %s", c.update, c.doc, got, changed)
		}
	}
}

// A plain update has the same result as its compiled form.
func TestFieldsDoAsCompiled(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "b", "c", "d", "0", "e.f", "$x"})
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDoc(t, 1)
		b := value.NewBuilder()
		for _, op := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"$inc", "$set"}), 1, 2, rapid.ID).Draw(t, "operators") {
			b.StartDocument(op)
			for _, path := range rapid.SliceOfNDistinct(name, 1, 3, rapid.ID).Draw(t, "paths") {
				b.Append(path, drawArgument(t, op))
			}
			b.End()
		}
		u := b.Doc()
		var f Fields
		if !f.Parse(u) {
			return
		}
		got, outcome := f.Apply(nil, doc)
		if outcome == Unclear {
			return
		}
		compiled, err := Compile(value.Document(u), Options{})
		if err != nil {
			t.Fatalf("%s: %v", u, err)
		}
		want, modified, err := compiled.Apply(expr.NewEnv(0), doc, ApplyOptions{Position: -1})
		if err != nil || modified != (outcome == Modified) || !bytes.Equal(got, want) {
			t.Fatalf("%s of %s: got %s (%d), want %s (%v, %v)", u, doc, got, outcome, want, modified, err)
		}
	})
}

func BenchmarkFields(b *testing.B) {
	u, d := value.MustJSON(`{"$inc": {"n": 1}, "$set": {"tag": "x"}}`), value.MustJSON(`{"_id": 1, "k": 3, "n": 5, "tag": "tag1", "pad": "the quick brown fox"}`)
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		var f Fields
		if !f.Parse(u) {
			b.Fatal(u)
		}
		f.Apply(buf, d)
	}
}
