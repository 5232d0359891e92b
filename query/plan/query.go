package plan

import (
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// Kind tells how a field of an index holds its values.
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
	Path string // of a Wildcard: where it begins, "" for the whole document
	Desc bool
	Kind Kind
	// First is the place of the path's first component in a Multikey.
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

	// Hash is what a hashed field holds of a value.
	Hash func(value.Value) int64
	// Takes reports whether a wildcard field lists what lies at a path.
	Takes func(path string) bool
	// TakesAll reports whether it lists all that lies at a path or below.
	TakesAll func(path string) bool
	// Cover gives the values under which a geo field lists what may lie in
	// the region that a node of the filter asks for; nil means all.
	Cover func(node match.Node) Intervals
}

// Query is what is to be planned.
type Query struct {
	NS     string
	Filter *match.Matcher
	// Implied are conditions that all documents satisfy which match Filter,
	// beside those that Filter shows: what an $expr comes to with the present
	// values of its variables.
	Implied   []match.Node
	Sort      value.Doc // nil for none
	Limit     int64     // 0 for none
	Skip      int64
	Hint      Hint
	Min, Max  value.Doc // nil for none
	Collation value.Doc // of the query in full, nil for simple
	Asked     Asked
	// Needs are the paths that the result is made of, beside what the filter
	// reads; nil for the whole document. A plan is covered if its index has
	// them all.
	Needs []string
	// Interrupt, unless nil, is asked now and then while the query is planned:
	// an error ends that.
	Interrupt func() error
}

// interrupted returns why planning must end, nil if it may go on.
func (q *Query) interrupted() error {
	if q.Interrupt == nil {
		return nil
	}
	return q.Interrupt()
}

// Asked is what the client asked for beside the query: it stands in messages
// only.
type Asked struct {
	Limit, Skip, BatchSize int64
	Projection             value.Doc
}

// Hint names the index to be used; the zero Hint leaves the choice open.
type Hint struct {
	Name    string
	Key     value.Doc // a key pattern
	Natural int       // 1 or -1: scan the collection
	// Nameless reports whether an index without a name is asked for: there is none.
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
	// Clustered reports whether records are stored by _id.
	Clustered bool
}

// Range is a piece of an index: Lo <= key < Hi, an empty bound is open.
// Prefix is the length of the part that all keys in the range share.
type Range struct {
	Lo, Hi []byte
	Prefix int
}

// Type tells what a plan does.
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

// Plan is a way to find the documents of a query. Each that it finds must be
// matched again.
type Plan struct {
	Type    Type
	Reverse bool    // scan backwards
	Index   *Index  // of ByID, IndexScan, Merge
	Ranges  []Range // in the order they are to be scanned; each ascending unless Reverse
	Parts   []*Plan // of Union
	// Bounds are the intervals per field, for explain.
	Bounds []Intervals

	// Sorted reports whether the records come in the order of the query's sort.
	Sorted bool
	// Dedup reports whether a record may come up more than once.
	Dedup bool
	// Exact reports whether the entries in the ranges are those of the matching
	// records and no others, so that counting them is counting matches.
	// Whoever goes on to fetch the records must match them all the same, as
	// they may have changed since.
	Exact bool
	// Covered reports whether the index holds all that the query needs: the values
	// of its keys stand for the records.
	Covered bool
	// Skip, if not 0, tells that of the entries that agree in so many fields
	// the first is enough: a scan for distinct values.
	Skip int
	// Filtered reports whether the filter can be matched with the values of the
	// keys, before or instead of the records.
	Filtered bool
	// Whole reports whether the ranges are the whole index.
	Whole bool

	// Near is what the documents are to be ordered by, nearest first, if the
	// query has no sort of its own. The scan does not order them.
	Near *match.Near
	// Text is the $text condition that an index search for its terms serves.
	Text *match.Text

	// Rejected are the plans that were considered too.
	Rejected []*Plan

	// Examined is how many entries the plan is expected to look at.
	Examined int64

	path       string    // that a wildcard index is asked about
	min, max   value.Doc // what min() and max() gave
	equalities int       // leading fields bound to single values
	rooted     bool      // a Union that is the whole filter
	compared   bool      // chosen by counting entries
	hinted     bool
}
