// Package plan decides how a query finds its documents: by which index and
// which parts of it, or by looking at every document.
//
// It is pure: [Make] is given the compiled filter, the sort, a description
// of the collection's indexes and a way to estimate how many entries a range
// of keys has, and answers with a [Plan]. Whoever runs the plan scans the
// ranges of keys it names, fetches the records and matches each of them
// again: a plan only narrows. Its ranges may hold too much, never too
// little.
//
// From the filter to the ranges it is three steps. [Intervals] are read off
// the nodes of the filter, field by field: the values under which an index
// may list a matching document. For each index the intervals of its fields
// are combined as far as multikey, sparse, partial and collation rules allow
// it. Then intervals become ranges of key bytes, which are what is counted,
// compared and scanned.
//
// The package is for the rest of DuskDB: it may change with any version.
package plan
