package timeseries

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/value"
)

// Names of the indexed fields of buckets.
const (
	minPrefix = "control.min."
	maxPrefix = "control.max."
	// dataPrefix begins the path of a geospatial index, whose keys are computed
	// from the measurements (see [WithPoints]).
	dataPrefix = "data."
	metaName   = "meta"
)

// originalSpec is the field of a stored index specification with the user's
// original.
const originalSpec = "originalSpec"

// metaPath converts a path below the meta field to the path in the bucket.
func (o *Options) metaPath(path string) (string, bool) {
	if o.MetaField == "" || !strings.HasPrefix(path, o.MetaField) {
		return "", false
	}
	rest := path[len(o.MetaField):]
	return metaName + rest, rest == "" || rest[0] == '.'
}

// BucketKey translates a key pattern on measurements to one on buckets; also
// for hints and dropIndexes.
func (o *Options) BucketKey(key value.Doc) (value.Doc, error) {
	b := value.NewBuilder()
	for path, v := range key.All() {
		if inBucket, ok := o.metaPath(path); ok {
			b.Append(inBucket, v)
			continue
		}
		if v.Kind() == value.KindString && v.Str() == "2dsphere" && path != o.TimeField {
			b.Append(dataPrefix+path, v)
			continue
		}
		if !v.IsNumber() {
			return nil, o.badKey(key, path, v)
		}
		if path == "$**" || strings.HasSuffix(path, ".$**") { // a measurement is a minimum and a maximum in the bucket
			return nil, mongoerr.New(7246201, "Index Key can contain only one wildcard index field")
		}
		first, second := minPrefix, maxPrefix
		if v.AsDouble() < 0 {
			first, second = second, first
		}
		b.Append(first+path, v).Append(second+path, v)
	}
	return b.Doc(), nil
}

func (o *Options) badKey(key value.Doc, path string, v value.Value) error {
	element := path + ": " + v.String()
	if path == o.TimeField {
		return mongoerr.Newf(mongoerr.CannotCreateIndex, "BadValue: Invalid index spec for time-series collection: %s. Indexes on the time field must be ascending or descending (numbers only): %s", key, element)
	}
	return mongoerr.Newf(mongoerr.CannotCreateIndex, "BadValue: Invalid index spec for time-series collection: %s. Indexes on measurement fields must be ascending or descending (numbers only): %s", key, element)
}

// BucketIndex translates a completed index specification on measurements to
// the one that is stored for the buckets.
func (o *Options) BucketIndex(spec value.Doc) (value.Doc, error) {
	key := spec.Lookup("key").Doc()
	for _, v := range key.All() {
		if v.Kind() == value.KindString && v.Str() == "text" {
			return nil, invalid("Text indexes are not supported on time-series collections")
		}
	}
	if spec.Lookup("unique").Truthy() || spec.Lookup("prepareUnique").Truthy() {
		return nil, invalid("Unique indexes are not supported on time-series collections")
	}
	if err := o.checkSparse(spec); err != nil {
		return nil, err
	}
	partial, metaOnly, err := o.bucketPartial(spec)
	if err != nil {
		return nil, err
	}
	bucketKey, err := o.BucketKey(key)
	if err != nil {
		return nil, err
	}
	if spec.Has("expireAfterSeconds") {
		if bucketKey, err = o.expiryKey(key, partial != nil && metaOnly); err != nil {
			return nil, err
		}
	}
	b := value.NewBuilder()
	for name, v := range spec.All() {
		switch name {
		case "key":
			b.Document("key", bucketKey)
		case "partialFilterExpression":
			b.Document(name, partial)
		default:
			b.Append(name, v)
		}
	}
	return b.Document(originalSpec, spec).Doc(), nil
}

func (o *Options) checkSparse(spec value.Doc) error {
	if !spec.Has("sparse") {
		return nil
	}
	for path := range spec.Lookup("key").Doc().All() {
		if _, ok := o.metaPath(path); !ok && path != o.TimeField {
			return invalid("Sparse indexes are not supported on time-series measurements")
		}
	}
	return nil
}

// expiryKey is the key of a TTL index: the minimum of the buckets alone.
func (o *Options) expiryKey(key value.Doc, partialOnMeta bool) (value.Doc, error) {
	if key.Len() != 1 {
		return nil, mongoerr.Newf(mongoerr.CannotCreateIndex, "TTL indexes are single-field indexes, compound indexes do not support TTL. Index spec: %s", key)
	}
	path, v := key.First()
	if path != o.TimeField {
		return nil, invalid("TTL indexes on non-time fields are not supported on time-series collections")
	}
	if !partialOnMeta {
		return nil, invalid("TTL indexes on time-series collections require a partialFilterExpression on the metaField")
	}
	return value.NewDoc(minPrefix+path, v), nil
}

// bucketPartial translates a partial filter to one on buckets. metaOnly
// reports whether it uses only the meta field.
func (o *Options) bucketPartial(spec value.Doc) (filter value.Doc, metaOnly bool, err error) {
	v, ok := spec.Get("partialFilterExpression")
	if !ok {
		return nil, false, nil
	}
	if c := spec.Lookup("collation"); !c.IsMissing() {
		return nil, false, mongoerr.New(mongoerr.IndexOptionsConflict, "On a time-series collection, partialFilterExpression and collation arguments are incompatible")
	}
	p := o.newPushdown(v.Doc(), PushdownOptions{}, 0)
	if p.MetaOnly {
		return p.Filter, true, nil
	}
	if spec.Has("expireAfterSeconds") {
		return nil, false, nil // which the key of a TTL index refuses
	}
	if filter = o.partialFilter(v.Doc()); filter == nil {
		return nil, false, mongoerr.Newf(5916301, "Error translating non-metadata time-series predicate to operate on buckets: %s", v.Doc())
	}
	return filter, false, nil
}

// onlyDates reports whether a predicate consists only of comparisons with
// dates.
func onlyDates(v value.Value) bool {
	if v.Kind() == value.KindDateTime {
		return true
	}
	if v.Kind() != value.KindDocument {
		return false
	}
	for op, arg := range v.Doc().All() {
		if _, ok := compareOps[op]; !ok || arg.Kind() != value.KindDateTime {
			return false
		}
	}
	return !v.Doc().IsEmpty()
}

// UserIndex converts a stored index specification to the one that listIndexes
// shows; ok is false for an internal index.
func (o *Options) UserIndex(stored value.Doc) (spec value.Doc, ok bool) {
	original := stored.Lookup(originalSpec).Doc()
	if original == nil {
		return o.reverse(stored)
	}
	b := value.NewBuilder()
	for name, v := range original.All() {
		switch name {
		case "hidden":
		case "expireAfterSeconds":
			b.Append(name, stored.Lookup(name))
		default:
			b.Append(name, v)
		}
	}
	if stored.Lookup("hidden").Truthy() {
		b.Bool("hidden", true)
	}
	return b.Doc(), true
}

// reverse translates an index that was created on the buckets.
func (o *Options) reverse(stored value.Doc) (spec value.Doc, ok bool) {
	if name := stored.Lookup("name").Str(); name == "" || stored.Has("internal") || name == reserved.IDIndex {
		return nil, false
	}
	key, ok := o.userKey(stored.Lookup("key").Doc())
	if !ok {
		return nil, false
	}
	b := value.NewBuilder()
	for name, v := range stored.All() {
		if name == "key" {
			b.Document("key", key)
		} else {
			b.Append(name, v)
		}
	}
	return b.Doc(), true
}

// userKey translates a key pattern on buckets to one on measurements.
func (o *Options) userKey(key value.Doc) (value.Doc, bool) {
	b := value.NewBuilder()
	for it := key.Iter(); it.Next(); {
		path, v := it.Key(), it.Value()
		if rest, ok := strings.CutPrefix(path, metaName); ok && o.MetaField != "" && (rest == "" || rest[0] == '.') {
			b.Append(o.MetaField+rest, v)
			continue
		}
		first, second := minPrefix, maxPrefix
		if v.AsDouble() < 0 {
			first, second = second, first
		}
		field, ok := strings.CutPrefix(path, first)
		if !ok || !v.IsNumber() || !it.Next() || it.Key() != second+field || !value.Equal(it.Value(), v) {
			return nil, false
		}
		b.Append(field, v)
	}
	return b.Doc(), true
}

// DefaultIndex returns the index on measurements that is created with a
// collection that has a meta field; nil without a meta field.
func (o *Options) DefaultIndex() value.Doc {
	if o.MetaField == "" {
		return nil
	}
	key := value.NewDoc(o.MetaField, value.Int32(1), o.TimeField, value.Int32(1))
	return value.NewDoc("v", value.Int32(2), "key", value.Document(key), "name", value.String(o.MetaField+"_1_"+o.TimeField+"_1"))
}
