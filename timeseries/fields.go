package timeseries

import "github.com/duskdb/duskdb/value"

// fields finds the fields of a document for a number of names, in time that grows with the
// document and the names, and not with their product.
type fields struct {
	d      value.Doc
	it     value.Iter             // the next field: names tend to come in the document's order
	byName map[string]value.Value // nil: all names have come in that order
}

// shortDoc is up to which size a document is searched for each name.
const shortDoc = 2048

func newFields(d value.Doc) *fields { return &fields{d: d, it: d.Iter()} }

// lookup returns the first field with a name, or Missing.
func (f *fields) lookup(name string) value.Value {
	if len(f.d) <= shortDoc {
		return f.d.Lookup(name)
	}
	if f.byName == nil {
		if f.it.Next() && string(f.it.KeyBytes()) == name {
			return f.it.Value()
		}
		f.byName = map[string]value.Value{}
		for name, v := range f.d.All() {
			if _, ok := f.byName[name]; !ok {
				f.byName[name] = v
			}
		}
	}
	return f.byName[name]
}
