package catalog

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/value"
)

// clusteredFields are the fields of clusteredIndex.
var clusteredFields = map[string]bool{"key": true, "unique": true, "name": true, "v": true}

// ParseClustered checks {key, unique, name, v} and completes it.
func ParseClustered(d value.Doc) (value.Doc, error) {
	name := reserved.IDIndex
	for field, v := range d.All() {
		if k := v.Kind(); (k == value.KindNull || k == value.KindUndefined) && clusteredFields[field] {
			continue
		}
		switch field {
		case "key":
			if v.Kind() != value.KindDocument {
				return nil, args.WrongType("clusteredIndex", "key", v, "object")
			}
			if k, n := v.Doc().First(); v.Doc().Len() != 1 || k != "_id" || n.AsDouble() != 1 {
				return nil, mongoerr.New(mongoerr.InvalidIndexSpecificationOption, "The clusteredIndex option is only supported for key: {_id: 1}")
			}
		case "unique":
			if v.Kind() != value.KindBool && !v.IsNumber() {
				return nil, args.WrongType("clusteredIndex", "unique", v, args.BoolTypes)
			}
			if !v.Truthy() {
				return nil, mongoerr.New(5979700, "The clusteredIndex option requires unique: true to be specified")
			}
		case "name":
			if v.Kind() != value.KindString {
				return nil, args.WrongType("clusteredIndex", "name", v, "string")
			}
			name = v.Str()
		case "v":
			if v.SafeInt64() != 2 {
				return nil, mongoerr.Newf(5979704, "Invalid clusteredIndex specification %s; cannot create a clusteredIndex with v=%d", d, v.SafeInt64())
			}
		default:
			return nil, mongoerr.UnknownField("clusteredIndex." + field)
		}
	}
	for _, required := range []string{"key", "unique"} {
		if v := d.Lookup(required); v.IsMissing() || v.Kind() == value.KindNull || v.Kind() == value.KindUndefined {
			return nil, mongoerr.MissingField("clusteredIndex." + required)
		}
	}
	return value.NewDoc("v", value.Int32(2), "key", d.Lookup("key"), "name", value.String(name), "unique", value.Bool(true)), nil
}
