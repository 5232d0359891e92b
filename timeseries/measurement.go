package timeseries

import (
	"slices"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Check refuses a document that is not a measurement, and one whose bucket would be larger
// than a document can be: it has most values three times.
func (o *Options) Check(d value.Doc) error {
	if d.Lookup(o.TimeField).Kind() != value.KindDateTime {
		return mongoerr.Newf(mongoerr.BadValue, "'%s' must be present and contain a valid BSON UTC datetime value", o.TimeField)
	}
	if len(d) <= maxSize/3-4096 {
		return nil
	}
	b := NewBucket(o, 0, o.meta(d), nil)
	b.Append(d)
	if n := b.size + b.extremes(value.EmptyDoc); n > maxSize {
		return mongoerr.Newf(mongoerr.BSONObjectTooLarge, "object to insert too large. size in bytes: %d, max size: %d", n, maxSize)
	}
	return nil
}

// TransactionError returns the error for a write within a multi-document
// transaction.
func TransactionError(command string) error {
	const text = "Cannot %s a time-series collection in a multi-document transaction"
	how := "perform a " + command + " on"
	if command == "insert" {
		how = "insert into"
	}
	return mongoerr.Newf(mongoerr.OperationNotSupportedInTransaction, text, how)
}

// time returns the instant of a measurement, in milliseconds.
func (o *Options) time(d value.Doc) int64 { return d.Lookup(o.TimeField).DateTime() }

// meta returns the normalised meta value of a measurement, or Missing.
func (o *Options) meta(d value.Doc) value.Value {
	if o.MetaField == "" {
		return value.Value{}
	}
	return normalize(d.Lookup(o.MetaField))
}

// normalize sorts the fields of documents by name, so that meta values that
// differ only in the order of fields share their buckets.
func normalize(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindDocument:
		b := value.NewBuilder()
		for _, f := range sortedFields(v.Doc()) {
			b.Append(f.name, normalize(f.v))
		}
		return value.Document(b.Doc())
	case value.KindArray:
		var a value.ArrayBuilder
		for e := range v.Doc().Values() {
			a.Append(normalize(e))
		}
		return a.Value()
	}
	return v
}

type metaField struct {
	name string
	v    value.Value
}

// sortedFields returns the fields of a document sorted by name, with
// normalised values.
func sortedFields(d value.Doc) []metaField {
	var fields []metaField
	for name, v := range d.All() {
		fields = append(fields, metaField{name, v})
	}
	slices.SortStableFunc(fields, func(a, b metaField) int {
		switch {
		case a.name < b.name:
			return -1
		case a.name > b.name:
			return 1
		}
		return 0
	})
	return fields
}

// appendMetaKey appends bytes that are equal for equal meta values only.
func appendMetaKey(dst []byte, meta value.Value) []byte {
	if meta.IsMissing() {
		return dst
	}
	return value.Marshal(dst, meta)
}
