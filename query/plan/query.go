package plan

import (
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// Kind says how a field of an index stores its values.
type Kind uint8

// The kinds of fields, as in package index.
const (
	Plain Kind = iota
	Hashed
	Wildcard
	Text
	Geo2D
	Sphere
)

// Field is one field of an index.
type Field struct {
	Path string // the dotted path; the root of a Wildcard, "" for the whole document
	Desc bool
	Kind Kind
	// First is the bit of the path's first component in a Multikey.
	First uint8
}

// Index describes an index to the planner.
type Index struct {
	Name      string
	Key       value.Doc // the key pattern
	Fields    []Field
	Version   int32
	Unique    bool
	Sparse    bool
	Hidden    bool
	Multikey  Multikey
	Clustered bool
	Partial   *match.Matcher // nil if the index is not partial
	Entries   int64

	Collation    value.Collator // nil for simple
	CollationDoc value.Doc      // the collation in full, nil for simple

	// Hash returns the value that a hashed field stores.
	Hash func(value.Value) int64
	// Takes reports whether a wildcard field indexes a path.
	Takes func(path string) bool
	// TakesAll reports whether it indexes a path and everything below it.
	TakesAll func(path string) bool
	// Cover returns the key values of a geo field that may lie in the region of a
	// node of the filter; nil means all.
	Cover func(node match.Node) []Interval
}

// Query is the query to plan.
type Query struct {
	NS      string         // the collection, for messages
	Matcher *match.Matcher // the compiled filter; nil for none
	// Implied are further conditions that all documents satisfy that match:
	// those implied by $expr with the present values of its variables.
	Implied   []match.Node
	Sort      value.Doc // nil for none
	Limit     int64     // 0 for none
	Hint      Hint
	Min, Max  value.Doc // nil for none
	Collation value.Doc // the query's collation in full, nil for simple
	Command   Command
	// Fields are the paths that the result needs, beside those of the filter; nil
	// for the whole document. A plan is covered if its index has them all.
	Fields []string
	// Interrupt, unless nil, is called at intervals during planning; an error
	// ends the planning.
	Interrupt func() error
}

// interrupted returns the error that ends planning, or nil.
func (q *Query) interrupted() error {
	if q.Interrupt == nil {
		return nil
	}
	return q.Interrupt()
}

// Command contains other arguments of the client's command; the planner uses them only in
// messages.
type Command struct {
	Limit, Skip, BatchSize int64
	Projection             value.Doc
}

// Hint names the index to be used; the zero Hint leaves the choice open.
type Hint struct {
	Name    string
	Key     value.Doc // a key pattern
	Natural int       // 1 or -1: scan the collection
	// Nameless reports whether the hint is an empty name, which matches no index.
	Nameless bool
}

// IsZero reports whether there is no hint.
func (h Hint) IsZero() bool { return h.Name == "" && h.Key == nil && h.Natural == 0 && !h.Nameless }

// Collection is what a query is planned over.
type Collection struct {
	Indexes []*Index
	Count   int64
	// Estimate counts the entries of an index in a range, but no further
	// than limit.
	Estimate func(x *Index, r Range, limit int64) int64
}

// Type is the type of a plan.
type Type uint8

// The types of plans.
const (
	CollScan  Type = iota // every record, in natural order
	IndexScan             // the ranges of an index
	ByID                  // the one entry of a value in the index on _id
	Union                 // records that any of the parts yields
	Merge                 // ranges of an index merged by what follows their prefix
	Nothing               // no document can match
)

// Plan is a way to find the documents of a query. The executor must match each
// document found against the filter again.
type Plan struct {
	Type    Type
	Reverse bool    // scan backwards
	Index   *Index  // the index of ByID, IndexScan and Merge
	Ranges  Ranges  // the ranges in the order of the scan; each ascending unless Reverse
	Parts   []*Plan // the branches of a Union
	// Bounds are the intervals per field, for explain.
	Bounds []Intervals

	// Sorted reports whether the records come in the order of the query's sort.
	Sorted bool
	// Dedup reports whether the scan may find a record more than once.
	Dedup bool
	// Exact reports whether the entries in the ranges are exactly those of the
	// matching records, so that counting entries counts matches. An executor that
	// reads entries and records in one view need not match them, as long as the
	// index has no more multikey paths than Index says.
	Exact bool
	// Covered reports whether the index contains all fields that the query needs,
	// so that records need not be fetched.
	Covered bool
	// Skip, if not 0, is for a scan of distinct values: only the first of the
	// entries that are equal in this number of fields is needed.
	Skip int
	// Filtered reports whether the filter can be matched with the values of the
	// keys, before or instead of the records.
	Filtered bool
	// Whole reports whether the ranges are the whole index.
	Whole bool

	// Near gives the point by whose distance the documents must be ordered if the
	// query has no sort. The scan does not order them.
	Near *match.Near
	// Text is the $text condition that an index search for its terms serves.
	Text *match.Text

	// Rejected are the other plans that were considered.
	Rejected []*Plan

	// Examined is the estimated number of entries to examine.
	Examined int64

	path       string    // the path that a wildcard index is searched for
	min, max   value.Doc // the bounds of min() and max()
	equalities int       // leading fields bound to single values
	rooted     bool      // a Union that is the whole filter
	compared   bool      // chosen by counting entries
}
