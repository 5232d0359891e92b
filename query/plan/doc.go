// Package plan decides how a query finds its documents: with which index and
// which ranges of its keys, or with a scan of the collection.
//
// It has no side effects: [Make] takes the compiled filter, the sort, a
// description of the collection's indexes and a function that estimates the
// number of entries in a range of keys, and returns a [Plan]. The executor
// scans the key ranges of the plan, fetches the records and matches each of
// them against the filter again. So the ranges may contain too many entries,
// but never too few.
//
// Planning has three steps. The nodes of the filter give [Intervals] for each
// field: the values under which an index may contain a matching document. For
// each index the intervals of its fields are combined, as far as the rules for
// multikey, sparse and partial indexes and for collations allow. Then the
// intervals are converted to ranges of key bytes, which are counted, compared
// and scanned.
//
// The package is for the rest of DuskDB: it may change with any version.
package plan
