package index

import (
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// An index that says that a change keeps its keys has the same keys before and after it.
func TestKeepsKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec, old, new string
		keeps          bool
	}{
		{`{"key": {"_id": 1}}`, `{"_id": 1, "a": 1}`, `{"_id": 1, "a": 2}`, true},
		{`{"key": {"_id": 1}}`, `{"_id": {"a": 1}, "n": 1}`, `{"_id": {"a": 1}}`, true},
		{`{"key": {"_id": 1}}`, `{"_id": 1}`, `{"_id": 2}`, false},
		{`{"key": {"_id": 1}}`, `{"_id": 1}`, `{"_id": 1.0}`, false},
		{`{"key": {"_id": 1}}`, `{"a": 1}`, `{"a": 1}`, false},
		{`{"key": {"_id": 1}}`, `{"a": 1, "_id": 1}`, `{"a": 1, "_id": 2}`, false},
		{`{"key": {"_id": 1}}`, `{}`, `{}`, false},
		{`{"key": {"a": 1}}`, `{"_id": 1, "a": 1}`, `{"_id": 1, "a": 2}`, false},
		{`{"key": {"_id": 1, "a": 1}}`, `{"_id": 1, "a": 1}`, `{"_id": 1, "a": 2}`, false},
		{`{"key": {"_id.a": 1}}`, `{"_id": {"a": 1}}`, `{"_id": {"a": 1}, "b": 1}`, false},
	} {
		s := mustParse(t, c.spec)
		old, changed := storage.Record{ID: 1, Doc: value.MustJSON(c.old)}, storage.Record{ID: 1, Doc: value.MustJSON(c.new)}
		if got := s.KeepsKeys(old, changed); got != c.keeps {
			t.Errorf("%s, %s to %s: %v, want %v", c.spec, c.old, c.new, got, c.keeps)
		}
	}
}
