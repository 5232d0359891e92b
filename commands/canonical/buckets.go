package canonical

import (
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
)

// BucketsOf is the collection that holds the buckets of a time series.
func BucketsOf(ns storage.Namespace) storage.Namespace {
	return storage.Namespace{DB: ns.DB, Coll: reserved.Buckets(ns.Coll)}
}

// BucketHint turns a hint on measurements into one on buckets.
func BucketHint(m *catalog.Meta, hint plan.Hint) (_ plan.Hint, err error) {
	if hint.Key != nil {
		hint.Key, err = m.Series.BucketKey(hint.Key)
	}
	return hint, err
}
