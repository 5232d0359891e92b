package catalog

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/value"
)

// IndexCount returns how many indexes commands report of the collection, in which the
// clustered index does not count.
func (m *Meta) IndexCount() int {
	n := len(m.Listed)
	if m.Clustered != nil && m.Kind != Buckets {
		n--
	}
	return n
}

// IsWildcard reports whether the index argument of dropIndexes is "*", all indexes.
func IsWildcard(v value.Value) bool { return v.Str() == "*" }

// IndexToDrop checks that the index of that name exists and may be dropped.
func (m *Meta) IndexToDrop(name string) (string, error) {
	for _, s := range m.Indexes {
		if s.Name != name {
			continue
		}
		if s.Clustered {
			return "", mongoerr.New(5979800, "cannot drop the clustered index")
		}
		if s.IsID() {
			return "", mongoerr.New(mongoerr.InvalidOptions, "cannot drop _id index")
		}
		return name, nil
	}
	return "", mongoerr.Newf(mongoerr.IndexNotFound, "index not found with name [%s]", name)
}

// IndexByKey returns the one index with a key pattern. Several are an error
// (AmbiguousIndexKeyPattern).
func (m *Meta) IndexByKey(key value.Doc) (*index.Spec, error) {
	var found []*index.Spec
	for _, s := range m.Listed {
		if value.CompareDocs(s.Key, key, nil) == 0 {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return nil, mongoerr.Newf(mongoerr.IndexNotFound, "can't find index with key: %s", key)
	case 1:
		return found[0], nil
	}
	return nil, mongoerr.Newf(mongoerr.AmbiguousIndexKeyPattern, "%d indexes found for key: %s, identify by name instead. Conflicting indexes: %s, %s", len(found), key, found[0].Catalog(), found[1].Catalog())
}

// Elements returns the elements of an array.
func Elements(array value.Doc) (list []value.Value) {
	for v := range array.Values() {
		list = append(list, v)
	}
	return list
}

// UserIndex finds the one index of a time series with a key pattern in the
// user's terms. Several kinds of index on buckets look the same to users.
func (m *Meta) UserIndex(buckets *Meta, key value.Doc) (string, error) {
	var found []value.Doc
	for _, spec := range buckets.Indexes {
		d, ok := m.Series.UserIndex(spec.Doc())
		if ok && value.CompareDocs(d.Lookup("key").Doc(), key, nil) == 0 {
			found = append(found, d)
		}
	}
	switch len(found) {
	case 0:
		return "", mongoerr.Newf(mongoerr.IndexNotFound, "can't find index with key: %s", key)
	case 1:
		return found[0].Lookup("name").Str(), nil
	}
	return "", mongoerr.Newf(mongoerr.AmbiguousIndexKeyPattern, "%d indexes found for key: %s, identify by name instead. Conflicting indexes: %s, %s", len(found), key, found[0], found[1])
}
