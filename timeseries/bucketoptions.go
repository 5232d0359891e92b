package timeseries

import "github.com/duskdb/duskdb/value"

// BucketOptions are the options of the collection that holds the buckets, as
// listCollections shows them. expireAfter is nil if nothing expires.
func (o *Options) BucketOptions(expireAfter *int64) value.Doc {
	b := value.NewBuilder()
	b.StartDocument("validator").Document("$jsonSchema", o.schema()).End()
	b.Bool("clusteredIndex", true)
	if expireAfter != nil {
		b.Int64("expireAfterSeconds", *expireAfter)
	}
	return b.Document("timeseries", o.Doc()).Doc()
}

// schema returns the validator of buckets.
func (o *Options) schema() value.Doc {
	b := value.NewBuilder()
	b.String("bsonType", "object")
	stringArray(b, "required", "_id", "control", "data")
	b.StartDocument("properties")
	bsonType(b, "_id", "objectId")
	b.StartDocument("control").String("bsonType", "object")
	stringArray(b, "required", "version", "min", "max")
	b.StartDocument("properties")
	bsonType(b, "version", "number")
	for _, end := range []string{"min", "max"} {
		b.StartDocument(end).String("bsonType", "object")
		stringArray(b, "required", o.TimeField)
		b.StartDocument("properties")
		bsonType(b, o.TimeField, "date")
		b.End().End()
	}
	bsonType(b, "closed", "bool")
	b.StartDocument("count").String("bsonType", "number").Int32("minimum", 1).End()
	b.End().Bool("additionalProperties", false).End()
	bsonType(b, "data", "object")
	b.StartDocument("meta").End()
	b.End().Bool("additionalProperties", false)
	return b.Doc()
}

func bsonType(b *value.Builder, field, kind string) {
	b.StartDocument(field).String("bsonType", kind).End()
}

func stringArray(b *value.Builder, name string, list ...string) {
	b.StartArray(name)
	for _, s := range list {
		b.String("", s)
	}
	b.End()
}
