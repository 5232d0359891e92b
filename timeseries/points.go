package timeseries

import (
	"strings"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// HasPoints reports whether the keys of an index on buckets are computed from
// the measurements and not from the control values: a geospatial index.
func HasPoints(key value.Doc) bool {
	for path := range key.All() {
		if strings.HasPrefix(path, dataPrefix) {
			return true
		}
	}
	return false
}

// WithPoints returns a function that converts a bucket to the form for a
// geospatial index: its data is an array of the measurements with the columns
// in the key. An unreadable bucket has no data.
func WithPoints(key value.Doc) func(*storage.Record) value.Doc {
	columns := map[string]bool{}
	for path := range key.All() {
		if rest, ok := strings.CutPrefix(path, dataPrefix); ok {
			name, _, _ := strings.Cut(rest, ".")
			columns[name] = true
		}
	}
	return func(r *storage.Record) value.Doc {
		data, err := someColumns(r.Doc, columns)
		if err != nil {
			data = value.EmptyDoc
		}
		b := value.NewBuilder()
		for name, v := range r.Doc.All() {
			if name != "data" {
				b.Append(name, v)
			}
		}
		b.StartArray("data")
		for name, v := range data.All() {
			if !columns[name] || v.Kind() != value.KindDocument {
				continue
			}
			for e := range v.Doc().Values() {
				b.StartDocument("").Append(name, e).End()
			}
		}
		return b.End().Doc()
	}
}
