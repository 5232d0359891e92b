package index

import "github.com/duskdb/duskdb/value"

// listedTypes are the options that listIndexes shows with a fixed numeric
// type, whatever type is stored (list_indexes.idl).
var listedTypes = map[string]value.Kind{
	"min": value.KindDouble, "max": value.KindDouble, "bucketSize": value.KindDouble,
	"bits": value.KindInt32, "coarsestIndexedLevel": value.KindInt32, "finestIndexedLevel": value.KindInt32,
	"2dsphereIndexVersion": value.KindInt32, "textIndexVersion": value.KindInt32,
}

// Listed returns a specification as listIndexes shows it. Other commands, such
// as $indexStats, show the original types.
func Listed(spec value.Doc) value.Doc {
	differs := false
	for name, v := range spec.All() {
		if kind, ok := listedTypes[name]; ok && v.Kind() != kind && v.IsNumber() {
			differs = true
		}
	}
	if !differs {
		return spec
	}
	b := value.NewBuilder()
	for name, v := range spec.All() {
		switch kind := listedTypes[name]; {
		case !v.IsNumber():
		case kind == value.KindDouble:
			v = value.Double(v.AsDouble())
		case kind == value.KindInt32:
			v = value.Int32(int32(v.SafeInt64()))
		}
		b.Append(name, v)
	}
	return b.Doc()
}
