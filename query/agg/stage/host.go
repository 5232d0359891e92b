package stage

import (
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// Host is the world outside a pipeline. Its methods are called by the
// goroutine that runs the pipeline. They return MongoDB errors.
type Host interface {
	// Resolve tells what a namespace is. A collection that does not exist is
	// an empty one, not an error.
	Resolve(db, coll string) (Namespace, error)
	// Open reads a collection (never a view). The source must give exactly
	// the documents that match r.Matcher; all else in r are offers it may
	// make use of.
	Open(x *Exec, r Request) (Source, error)
	// Special opens a source that is no collection: $collStats, $indexStats,
	// $currentOp, $listSessions, $listLocalSessions, $planCacheStats,
	// $listCatalog, $querySettings, $listSampledQueries, $changeStream.
	Special(x *Exec, s Special) (Iterator, error)
	// Out opens the target of an $out stage: a new collection that takes the
	// place of the old one when committed.
	Out(x *Exec, t OutTarget) (OutWriter, error)
	// Merge opens the target of a $merge stage. It fails with 51183 if the
	// on-fields are not covered by a unique index.
	Merge(x *Exec, t MergeTarget) (MergeWriter, error)
}

// Preparer is a Host that can open one request again and again with other
// values in one place of it.
type Preparer interface {
	// Prepare plans a request whose matcher holds eq. Before each opening the
	// caller puts a scalar into eq.Value. It returns nil if the host would
	// do no better than by Open.
	Prepare(x *Exec, r Request, eq *match.Compare) (Prepared, error)
}

// Prepared is a planned request.
type Prepared interface {
	// Open reads the documents for the present value. It ends what was
	// opened before.
	Open() (Source, error)
}

// Namespace is what a Host knows of a name.
type Namespace struct {
	DB, Coll string         // of the collection itself, which a view is over
	Pipeline value.Doc      // of the view, an array; nil for a collection
	Collator value.Collator // default collation
}

// Request asks a Host for the documents of a collection.
type Request struct {
	DB, Coll  string
	Filter    value.Doc       // nil: everything
	Matcher   *match.Matcher  // Filter compiled; nil: everything
	Sort      value.Doc       // wished order; Source.Sorted tells if it is kept
	Limit     int64           // no more documents are needed, 0: no limit; with Sort only if the host sorts
	Fields    []string        // the only fields that are needed, nil: all
	Hint      value.Value     // index hint of the command
	Distinct  string          // of documents with equal values at this path the first is enough; "": all are wanted
	Last      bool            // with Distinct, it is the last in the order of Sort instead
	Near      *Near           // documents by distance; the host sets the metadata
	Sample    int64           // so many random documents will do, 0: no sample
	Meta      []expr.MetaKind // metadata of the documents that is wanted
	Collation value.Collator
}

// Source is an opened collection.
type Source struct {
	Iterator
	Sorted bool // in the order of Request.Sort
	// Backwards tells that they come in the opposite of that order, one of
	// each group: what Request.Last asks for.
	Backwards bool
}

// Near asks for documents in order of distance ($geoNear). The host sets
// MetaGeoNearDistance (metres for GeoJSON, else units or radians) and
// MetaGeoNearPoint of each document.
type Near struct {
	Point       value.Value // GeoJSON point or legacy pair
	Spherical   bool
	MinDistance float64
	MaxDistance float64 // +Inf: no limit
	Key         string  // indexed field, "" if the index is to be found
}

// Special names a source that is no collection.
type Special struct {
	Stage    string    // such as "$collStats"
	DB, Coll string    // of the aggregate command; Coll is "" for {aggregate: 1}
	Spec     value.Doc // checked specification

	// Events is what a $match behind $changeStream says of an event's
	// operationType and ns; nil: nothing.
	Events *match.Matcher
}

// OutTarget is where $out writes.
type OutTarget struct {
	DB, Coll   string
	TimeSeries value.Doc // options of a new time series, nil: none
}

// OutWriter writes the collection of an $out stage.
type OutWriter interface {
	// Write adds a document, which has an _id.
	Write(d value.Doc) error
	// Commit puts the new collection in place of the old one.
	Commit() error
	// Abort throws away what was written; after Commit it does nothing.
	Abort()
}

// MergeTarget is where $merge writes.
type MergeTarget struct {
	DB, Coll string
	On       []string // identifying fields; nil: _id
	Insert   bool     // documents are inserted without looking for their like
	Scripted bool     // what becomes of a document is for JavaScript to say
}

// MergeWriter writes the results of a $merge stage.
type MergeWriter interface {
	// On are the identifying fields.
	On() []string
	// Apply finds for each document the one whose identifying fields equal
	// its own and replaces it by what change returns for the i-th. change
	// gets nil if there is none, and then returns the document to insert; if
	// it returns nil nothing is written. It may be called more than once.
	// An error does not keep the other documents from being written.
	Apply(docs []value.Doc, change func(i int, old value.Doc) (value.Doc, error)) error
	// Close ends the writing.
	Close() error
}
