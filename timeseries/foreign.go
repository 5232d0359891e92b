package timeseries

import (
	"github.com/duskdb/duskdb/internal/bsoncolumn"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// columnSubtype is the subtype of binary data that is a column of mongod.
const columnSubtype = 7

// IsForeign reports whether mongod 5.2 or later compressed a bucket: control.version
// is 2 or 3, and each column is binary (see package bsoncolumn). Only [Plain] reads it.
func IsForeign(bucket value.Doc) bool {
	for v := range bucket.Lookup("data").Doc().Values() {
		if isColumn(v) {
			return true
		}
	}
	return false
}

// Plain unpacks a bucket that mongod compressed.
func Plain(bucket value.Doc) (value.Doc, error) {
	data, err := plainData(bucket.Lookup("data").Doc())
	if err != nil {
		return nil, mongoerr.Newf(mongoerr.InvalidBSON, "time-series bucket: %w", err)
	}
	return withData(bucket, versionPlain, value.Document(data)), nil
}

func isColumn(v value.Value) bool {
	subtype, _ := v.Binary()
	return v.Kind() == value.KindBinary && subtype == columnSubtype
}

// plainData unpacks the columns.
func plainData(data value.Doc) (value.Doc, error) {
	limit := bsoncolumn.Limit{Rows: maxRows, Bytes: maxData}
	var b value.Builder
	b.Reset(make([]byte, 0, 8*len(data)))
	for it := data.Iter(); it.Next(); {
		if !isColumn(it.Value()) {
			b.Raw(it.Element())
			continue
		}
		_, column := it.Value().Binary()
		var elements []byte
		err := bsoncolumn.Decode(column, &limit, func(row int, v value.Value) {
			if !v.IsMissing() {
				elements = appendElement(elements, row, v)
			}
		})
		if err != nil {
			return nil, err
		}
		b.StartDocument(it.Key()).Raw(elements).End()
	}
	d := b.Doc()
	return d, value.Validate(d) // the depth
}
