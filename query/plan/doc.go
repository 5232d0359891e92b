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
// Flags that travel between these steps:
//
//	flag                       set by                                read by
//	reader.nested              elements, for what is inside a        elements: a $elemMatch inside another
//	                           $elemMatch                            one gives no bounds
//	bound.exact                each bound: a key in the set proves   not: only an exact bound has a
//	                           the match, without arrays             complement; fieldBounds.exact
//	fieldBounds.exact          field: all terms on it are exact,     exact, for Plan.Exact
//	                           and may be used together
//	conditions.besideText      union, in branches beside a $text     scan: keeps an index even if a
//	                                                                 condition only demands presence
//	Plan.Whole                 scan: the bounds say nothing;         union refuses such a branch; make
//	                           minMax takes it back                  prefers other plans, and counts all
//	Plan.Exact                 scan, and union if all parts are:     cover, distinct, counts without
//	                           no condition is left to match         records, explain (COUNT_SCAN, FETCH)
//	Plan.Sorted                sort; union without a sort; scans     make prefers it; the executor and
//	                           of the collection in natural order    explain sort if it is false
//	Plan.Covered               cover, union and distinct, if the     make prefers it; the executor reads
//	                           keys have all of Query.Fields         keys alone; explain omits FETCH
//	Plan.Filtered              cover: the keys can be matched        the executor matches them first;
//	                           although they are not exact           explain shows the filter at IXSCAN
//	Plan.Dedup                 scan: arrays, or ranges that          the executor drops records that it
//	                           overlap; union, wildcard              has seen
//	Plan.rooted                union that is the whole filter        explain: SUBPLAN
//
// # Choosing
//
// If several indexes can serve a query, the planner counts the entries in the ranges of
// each, up to a limit, unless the entries of one index are exactly the matching documents.
// The choice is cached for the shape of the query, together with the collection's indexes.
// The cache stores only the index; the ranges are computed from the present values, so a
// cached plan may be slow but never wrong. If it does ten times the expected work, the query
// is planned again.
//
// The package is for the rest of DuskDB: it may change with any version.
package plan
