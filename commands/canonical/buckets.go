package canonical

import (
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// BucketsOf is the collection that holds the buckets of a time series.
func BucketsOf(ns storage.Namespace) storage.Namespace {
	return storage.Namespace{DB: ns.DB, Coll: reserved.Buckets(ns.Coll)}
}

// BucketHint turns a hint on measurements into one on buckets.
func BucketHint(m *catalog.Meta, hint value.Value) (value.Value, error) {
	if hint.Kind() != value.KindDocument || hint.Doc().IsEmpty() {
		return hint, nil
	}
	if _, natural := Natural(hint.Doc()); natural {
		return hint, nil
	}
	key, err := m.Series.BucketKey(hint.Doc())
	return value.Document(key), err
}
