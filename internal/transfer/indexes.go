package transfer

import (
	"fmt"
	"math"

	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/value"
)

// createIndexes makes the indexes after the documents are there, which is faster and
// lets TTL indexes see all of them. One that cannot be made does not prevent others.
func (c *restored) createIndexes() {
	list := c.indexes()
	if len(list) == 0 || c.d.NoIndexes {
		return
	}
	err := c.makeIndexes(list...)
	if err == nil {
		return
	}
	for _, spec := range list {
		if err := c.makeIndexes(spec); err != nil {
			c.d.lost(fmt.Errorf("%s: the index %s: %w", c.ns(), spec.Doc().Lookup("name"), err))
		}
	}
}

// makeIndexes lets the server ignore options that it does not know, as mongorestore does.
func (c *restored) makeIndexes(list ...value.Value) error {
	_, err := c.d.to.Run(value.NewDoc("createIndexes", value.String(c.name), "indexes", value.NewArray(list...),
		"ignoreUnknownIndexOptions", value.Bool(true), "$db", value.String(c.db)))
	return err
}

// indexes are the specifications of the dump in a form that the server takes: without
// the versions and namespaces of old servers, and those that come with the collection.
func (c *restored) indexes() (list []value.Value) {
	locale := c.option("collation").Doc().Lookup("locale").Str()
	collated := locale != "" && locale != "simple" && !c.d.NoOptions
	var keys []value.Doc
	for v := range c.meta.Lookup("indexes").Doc().Values() {
		spec := v.Doc()
		key := spec.Lookup("key").Doc()
		if spec.Lookup("name").Str() == reserved.IDIndex || spec.Lookup("clustered").Truthy() {
			continue
		}
		if c.d.ConvertLegacy {
			if key = convertKey(key); contains(keys, key) {
				c.d.notice("%s: the index %s is not restored: another one has the same key after the conversion", c.ns(), spec.Lookup("name"))
				continue
			}
			keys = append(keys, key)
		}
		b := value.NewBuilder()
		for name, field := range spec.All() {
			switch name {
			case "ns", "v":
			case "key":
				b.Document("key", key)
			case "expireAfterSeconds":
				b.Append(name, c.seconds(spec, field))
			default:
				b.Append(name, field)
			}
		}
		if collated && !spec.Has("collation") { // it would inherit that of the collection
			b.Document("collation", value.NewDoc("locale", value.String("simple")))
		}
		list = append(list, value.Document(b.Doc()))
	}
	return list
}

// seconds repairs NaN, which servers before 5.0 took, and by which they removed nothing:
// the result is what listIndexes of later servers shows instead.
func (c *restored) seconds(spec value.Doc, v value.Value) value.Value {
	if !v.IsNaN() {
		return v
	}
	c.d.notice("%s: expireAfterSeconds of the index %s is NaN: it is restored as %d; collMod changes it", c.ns(), spec.Lookup("name"), math.MaxInt32)
	return value.Int32(math.MaxInt32)
}

// convertKey makes the key of an index valid that a server before 3.4 took: values that
// are neither numbers nor names of a kind of index stood for ascending order.
func convertKey(key value.Doc) value.Doc {
	b := value.NewBuilder()
	for name, v := range key.All() {
		switch {
		case v.IsNumber() && math.Abs(v.AsDouble()) < 1e-9:
			order := int32(1)
			if v.AsDouble() < 0 {
				order = -1
			}
			v = value.Int32(order)
		case v.Kind() == value.KindString && v.Str() != "", v.IsNumber():
		default:
			v = value.Int32(1)
		}
		b.Append(name, v)
	}
	return b.Doc()
}

// contains reports whether a key is among others, where 1 and 1.0 are equal.
func contains(keys []value.Doc, key value.Doc) bool {
	for _, k := range keys {
		if value.Compare(value.Document(k), value.Document(key)) == 0 {
			return true
		}
	}
	return false
}
