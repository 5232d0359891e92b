package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// planSpecial plans the collections that expire or are stored in a way of
// their own; nil for an ordinary collection.
func (c *Call) planSpecial(ns storage.Namespace, a *createArgs) (*creation, error) {
	switch {
	case !a.MessageQueue.IsMissing():
		return c.planQueue(ns, a)
	case !a.TimeSeries.IsMissing():
		return c.planTimeSeries(ns, a)
	case !a.ClusteredIndex.IsMissing():
		return c.planClustered(ns, a)
	case !a.ExpireAfter.IsMissing():
		return nil, errExpireAfterOption()
	}
	return nil, nil
}

func errExpireAfterOption() error {
	return mongoerr.New(mongoerr.InvalidOptions, "'expireAfterSeconds' is only supported on time-series collections or when the 'clusteredIndex' option is specified")
}

// planClustered plans a collection ordered by _id (semantics.md §5).
func (c *Call) planClustered(ns storage.Namespace, a *createArgs) (*creation, error) {
	v := a.ClusteredIndex
	if v.Kind() != value.KindDocument {
		if !v.IsNumber() && v.Kind() != value.KindBool {
			return nil, wrongType("create", "clusteredIndex", v, "bool, object")
		}
		if !a.ExpireAfter.IsMissing() && !v.Truthy() {
			return nil, errExpireAfterOption()
		}
		if v.Truthy() {
			return nil, mongoerr.New(5979703, "the 'clusteredIndex' option in legacy format is only supported on internal collections")
		}
		return nil, nil
	}
	spec, err := parseClustered(v.Doc())
	if err != nil {
		return nil, err
	}
	options, err := c.planOptions(a)
	if err != nil {
		return nil, err
	}
	var b value.Builder
	b.Reset(nil)
	b.Document("clusteredIndex", spec)
	if !a.ExpireAfter.IsMissing() {
		seconds, err := ttl.ParseCollectionSeconds(a.ExpireAfter, c.now)
		if err != nil {
			return nil, err
		}
		b.Int64("expireAfterSeconds", seconds)
	}
	it := options.Iter()
	b.Raw(it.Rest())
	id := value.NewDoc("v", value.Int32(2), "key", spec.Lookup("key"), "name", spec.Lookup("name"), "unique", value.Bool(true), "clustered", value.Bool(true))
	col, err := a.collation()
	if err != nil {
		return nil, err
	}
	if col != nil { // it orders the _ids, and tells which are the same
		o := newOptions(id)
		o.set("collation", value.Document(col.Doc()))
		id = o.doc()
	}
	return &creation{parts: []creationPart{{ns: ns, options: b.Doc(), indexes: []storage.IndexSpec{{Name: idIndex, Spec: id}}}}}, nil
}

// clusteredFields are the fields of clusteredIndex.
var clusteredFields = map[string]bool{"key": true, "unique": true, "name": true, "v": true}

// parseClustered checks {key, unique, name, v} and completes it.
func parseClustered(d value.Doc) (value.Doc, error) {
	name := idIndex
	for field, v := range d.All() {
		if k := v.Kind(); (k == value.KindNull || k == value.KindUndefined) && clusteredFields[field] {
			continue
		}
		switch field {
		case "key":
			if v.Kind() != value.KindDocument {
				return nil, wrongType("clusteredIndex", "key", v, "object")
			}
			if k, n := v.Doc().First(); v.Doc().Len() != 1 || k != "_id" || n.AsDouble() != 1 {
				return nil, mongoerr.New(mongoerr.InvalidIndexSpecificationOption, "The clusteredIndex option is only supported for {_id: 1}")
			}
		case "unique":
			if v.Kind() != value.KindBool && !v.IsNumber() {
				return nil, wrongType("clusteredIndex", "unique", v, boolTypes)
			}
			if !v.Truthy() {
				return nil, mongoerr.New(5979700, "'clusteredIndex.unique' must be 'true'")
			}
		case "name":
			if v.Kind() != value.KindString {
				return nil, wrongType("clusteredIndex", "name", v, "string")
			}
			name = v.Str()
		case "v":
			if v.SafeInt64() != 2 {
				return nil, mongoerr.New(5979704, "'clusteredIndex.v' must be 2")
			}
		default:
			return nil, mongoerr.Newf(40415, "BSON field 'clusteredIndex.%s' is an unknown field.", field)
		}
	}
	for _, required := range []string{"key", "unique"} {
		if v := d.Lookup(required); v.IsMissing() || v.Kind() == value.KindNull || v.Kind() == value.KindUndefined {
			return nil, mongoerr.Newf(40414, "BSON field 'clusteredIndex.%s' is missing but a required field", required)
		}
	}
	return value.NewDoc("v", value.Int32(2), "key", d.Lookup("key"), "name", value.String(name), "unique", value.Bool(true)), nil
}

// checkIndexAllowed refuses indexes that the kind of collection cannot have.
func (c *Call) checkIndexAllowed(info *storage.Info, spec value.Doc) error {
	if err := queue.CheckIndex(info, spec); err != nil {
		return err
	}
	if isSystem(info.Namespace.Coll) && !isBuckets(info.Namespace.Coll) && spec.Lookup("hidden").Truthy() {
		return mongoerr.New(mongoerr.BadValue, "Can't hide index on system collection")
	}
	if metaOf(info).clustered != nil && spec.Lookup("clustered").Truthy() {
		return mongoerr.New(mongoerr.InvalidIndexSpecificationOption, "cannot create a second clustered index")
	}
	if err := ttl.LoadIndexingMode(info.Options).CheckCreateIndex(); err != nil {
		return err
	}
	return ttl.CheckTTLIndex(info.Namespace, info.Options, spec)
}
