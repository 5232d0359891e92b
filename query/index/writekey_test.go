package index

import (
	"bytes"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// A key that is written into memory of the caller is the only one that Keys returns.
func TestWriteKey(t *testing.T) {
	t.Parallel()
	specs := []struct {
		spec   string
		writes bool // the keys of documents without arrays
	}{
		{`{"key": {"_id": 1}}`, true},
		{`{"key": {"a": 1}}`, true},
		{`{"key": {"a": -1}}`, true},
		{`{"key": {"a": 1, "b.c": -1}}`, true},
		{`{"key": {"a": 1}, "sparse": true}`, true},
		{`{"key": {"a": 1}, "unique": true, "collation": {"locale": "en", "strength": 2}}`, true},
		{`{"key": {"a": 1}, "partialFilterExpression": {"a": {"$gt": 1}}}`, false},
		{`{"key": {"a": "hashed"}}`, false},
		{`{"key": {"$**": 1}}`, false},
		{`{"key": {"a": "text"}}`, false},
	}
	docs := []struct {
		doc    string
		arrays bool
	}{
		{`{"_id": 1, "a": 1, "b": {"c": 2}}`, false},
		{`{"_id": {"$oid": "5f1f6a6e3c1b2a0001020304"}, "a": "A word", "b": {"c": null}}`, false},
		{`{"_id": 1, "a": 1.5, "b": 7}`, false},
		{`{"_id": 1, "a": {"$numberDecimal": "1.50"}}`, false},
		{`{"_id": 1, "a": {"$numberLong": "9007199254740993"}}`, false},
		{`{"_id": 1, "b": {"c": {"$date": "2026-01-01T00:00:00Z"}}}`, false},
		{`{"_id": 1}`, false},
		{`{"_id": 1, "a": [1, 2], "b": {"c": 1}}`, true},
		{`{"_id": 1, "a": 1, "b": [{"c": 1}]}`, true},
		{`{"_id": 1, "a": []}`, true},
	}
	for _, c := range specs {
		s := mustParse(t, c.spec)
		written := 0
		for _, d := range docs {
			r := storage.Record{ID: 1, Doc: value.MustJSON(d.doc)}
			key, ok := s.WriteKey(make([]byte, 0, 4), r)
			keys, multikey, err := s.Keys(nil, r)
			if ok && (err != nil || len(keys) != 1 || multikey != 0 || !bytes.Equal(key, keys[0])) {
				t.Errorf("%s of %s: %x, want %x (multikey %v), %v", c.spec, d.doc, key, keys, multikey, err)
			}
			if ok {
				written++
			}
			if c.writes && !d.arrays && len(keys) == 1 && !ok {
				t.Errorf("%s of %s: not written", c.spec, d.doc)
			}
		}
		if c.writes != (written > 0) {
			t.Errorf("%s: %d keys written", c.spec, written)
		}
	}
}
