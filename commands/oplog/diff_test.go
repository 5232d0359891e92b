package oplog_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/value"
)

// diff returns the difference of two versions of a document.
func diff(old, new value.Doc, touched []string) value.Doc {
	b := value.NewBuilder()
	oplog.AppendDiff(b, old, new, touched)
	return b.Doc()
}

func TestDiff(t *testing.T) {
	for name, test := range map[string]struct {
		old, new string
		touched  []string
		want     string
	}{
		"nothing":         {`{"a": 1}`, `{"a": 1}`, nil, `{}`},
		"set":             {`{"a": 1, "b": 1}`, `{"a": 2, "b": 1}`, nil, `{"u": {"a": 2}}`},
		"unset":           {`{"a": 1, "b": 1}`, `{"b": 1}`, nil, `{"d": {"a": false}}`},
		"add":             {`{"a": 1}`, `{"a": 1, "b": 2}`, nil, `{"i": {"b": 2}}`},
		"move to the end": {`{"a": 1, "b": 2}`, `{"b": 2, "a": 1}`, nil, `{"i": {"a": 1}}`},
		"below":           {`{"a": {"b": 1, "c": 1}}`, `{"a": {"b": 2, "c": 1}}`, []string{"a.b"}, `{"sa": {"u": {"b": 2}}}`},
		"whole":           {`{"a": {"b": 1, "c": 1}}`, `{"a": {"b": 2, "c": 1}}`, []string{"a"}, `{"u": {"a": {"b": 2, "c": 1}}}`},
		"push":            {`{"a": [1]}`, `{"a": [1, 2]}`, []string{"a"}, `{"sa": {"a": true, "u1": 2}}`},
		"pull":            {`{"a": [1, 2]}`, `{"a": [2]}`, []string{"a"}, `{"u": {"a": [2]}}`},
		"position":        {`{"a": [{"b": 1}, {"b": 2}]}`, `{"a": [{"b": 1}, {"b": 3}]}`, []string{"a.$.b"}, `{"sa": {"a": true, "s1": {"u": {"b": 3}}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := diff(value.MustJSON(test.old), value.MustJSON(test.new), test.touched)
			if want := value.MustJSON(test.want); got.JSON() != want.JSON() {
				t.Errorf("%s, want %s", got.JSON(), want.JSON())
			}
		})
	}
}

// genValue draws small values, so that two draws have parts in common.
func genValue(t *rapid.T, depth int) value.Value {
	n := 3
	if depth > 0 {
		n = 5
	}
	switch rapid.IntRange(0, n-1).Draw(t, "kind") {
	case 3:
		return value.Document(genDoc(t, depth-1))
	case 4:
		var list []value.Value
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			list = append(list, genValue(t, depth-1))
		}
		return value.NewArray(list...)
	case 2:
		return value.String(rapid.SampledFrom([]string{"", "x", "a longer text of some words"}).Draw(t, "text"))
	}
	return value.Int32(int32(rapid.IntRange(0, 2).Draw(t, "n")))
}

func genDoc(t *rapid.T, depth int) value.Doc {
	b := value.NewBuilder()
	for _, name := range rapid.Permutation([]string{"a", "b", "c", "d"}).Draw(t, "names")[:rapid.IntRange(0, 4).Draw(t, "fields")] {
		b.Append(name, genValue(t, depth))
	}
	return b.Doc()
}

// TestDiffApplies: the difference turns the old version into the new one,
// byte for byte.
func TestDiffApplies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, new := genDoc(t, 3), genDoc(t, 3)
		made := diff(old, new, nil)
		if err := value.Validate(made); err != nil {
			t.Fatal(err)
		}
		if got := oplog.ApplyDiff(old, made); string(got) != string(new) {
			t.Fatalf("%s + %s = %s, want %s", old, made, got, new)
		}
	})
}
