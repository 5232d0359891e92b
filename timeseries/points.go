package timeseries

import (
	"strings"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// HasPoints reports whether an index of buckets has keys of what is measured,
// and not of the control values: a geospatial one.
func HasPoints(key value.Doc) bool {
	for path := range key.All() {
		if strings.HasPrefix(path, dataPrefix) {
			return true
		}
	}
	return false
}

// WithPoints is a bucket as a geospatial index sees it: its data are an array of
// what was measured, with the columns that the key names. A bucket that cannot be
// read has none.
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
