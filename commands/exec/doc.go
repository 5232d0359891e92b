// Package exec runs plans of queries over the storage: it chooses between indexes
// (with package query/plan), scans records or index entries, and turns them into
// documents in the order that was asked for.
//
// An [AccessPath] is what was chosen for a [canonical.Query]. Its iterators are:
//
//   - [ScanIterator], over the records that scans of an index or of the collection find.
//     A walker goes from entry to entry (walker.go, range_scan.go). A decoder (decode.go)
//     reads records; or, if an index has all the fields, it makes documents from the
//     entries (covered.go); or there is one entry for each distinct value
//     (distinct_scan.go). What has expired is left out (sight.go).
//   - [Merged], for scans whose results are merged in the order of a sort.
//   - the rings of a $near query (nearrings.go), each a scan.
//   - [Measurements], which unpacks the buckets of a time series.
//
// The steps of a find: [FindSpec] decodes its arguments, [ChooseAccessPath] plans it, and
// [Finder.Open] chains the iterators: records, filter, sort, skip, limit, projection.
// [InContext] is the last one and prefixes errors as mongod does.
//
// A scan reads in chunks. It reads a chunk within one view of the storage, and applies the
// filter outside of it. Between chunks the iterator holds only a position, so that a
// cursor can stay idle for any time. Records that were read ahead are read again by the
// next getMore, since they may have changed. For a $lookup, the first chunks of many ranges
// are read in one view ([FirstChunks]).
//
// [Execution] is the state that the iterators of one query share: its environment for
// expressions, the counters of explain, and the running command, which each getMore
// replaces.
//
// Finds by _id alone take the fast path (fastpath.go), which neither compiles a filter nor
// plans; a property test compares it with the planned path.
package exec
