// Package exec runs plans of queries over the storage: it chooses between indexes
// (with package query/plan), scans records or index entries, and turns them into
// documents in the order that was asked for.
//
// An [AccessPath] is what was chosen for a [canonical.Query]. Its iterators are:
//
//   - [ScanIterator], over the records that scans of an index or of the collection
//     lead to. It works in three modes: it reads records; or, where an index holds all
//     that is needed, it makes documents of the entries (covered.go); or it reads one
//     entry of each distinct value (distinct_scan.go).
//   - [Merged], for scans whose results are merged in the order of a sort.
//   - the rings of a $near query (nearrings.go), each a scan.
//   - [Measurements], which unpacks the buckets of a time series.
//
// A find goes this way: [FindSpec] decodes its arguments, [ChooseAccessPath] plans it, and
// [Finder.Open] chains the iterators: records, filter, sort, skip, limit, projection.
// [InContext] stands last and prefixes errors as mongod does.
//
// A scan reads in chunks. A chunk is read within one view of the storage and judged
// outside of it; between chunks the iterator holds a position and nothing else, so that
// a cursor may sleep there for as long as it likes. When a getMore goes on, what was
// read ahead is given back and read again, since it may have changed.
//
// [Execution] is what the iterators of one query share: its environment for
// expressions, the counters of explain, and the command at work, which each getMore
// replaces.
//
// Finds by _id alone take the fast path (fastpath.go), which neither compiles nor
// plans; a property test holds it to what the planned ones do.
package exec
