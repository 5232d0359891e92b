package stage

import (
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// Host is the world outside a pipeline. Its methods are called by the
// goroutine that runs the pipeline. They return MongoDB errors.
type Host interface {
	// Resolve returns what a name refers to: a collection or a view. A collection
	// that does not exist is not an error.
	Resolve(db, coll string) (Namespace, error)
	// Open reads a collection (never a view). The source must return exactly the
	// documents that match r.Matcher. It may ignore the rest of r.
	Open(x *Exec, r Request) (Source, error)
	// Special opens a source that is not a collection: $collStats, $indexStats,
	// $currentOp, $listSessions, $listLocalSessions, $planCacheStats,
	// $listCatalog, $querySettings, $listSampledQueries, $changeStream.
	Special(x *Exec, s Special) (Iterator, error)
	// Out opens the target of an $out stage: a new collection, which replaces the old
	// one when it is committed.
	Out(x *Exec, t OutTarget) (OutWriter, error)
	// Merge opens the target of a $merge stage. It fails with 51183 if the
	// on-fields are not covered by a unique index.
	Merge(x *Exec, t MergeTarget) (MergeWriter, error)
}

// Preparer is a Host that can plan a request once and open it many times, with a
// different value in its filter each time.
type Preparer interface {
	// Prepare plans a request whose matcher contains eq. Before each Open the caller
	// sets eq.Value to a scalar. Prepare returns nil if it would be no faster than
	// Host.Open.
	Prepare(x *Exec, r Request, eq *match.Compare) (Prepared, error)
}

// Prepared is a planned request.
type Prepared interface {
	// Open reads the documents for the present value. It closes the source that was
	// opened before.
	Open() (Source, error)
	// Ahead returns for how many values ReadAhead should be called now: few at first,
	// because no more may be wanted.
	Ahead() int
	// ReadAhead reads for the values of the next Opens together, as far as that is
	// useful. Open reads what ReadAhead cannot.
	ReadAhead(values []value.Value)
}

// Scanned is a Prepared that reads all of the collection each time. The caller may read
// the collection once instead, and keep the documents.
type Scanned interface {
	Prepared
	// Version changes when documents that were read have to be read again. It stays
	// the same during a command.
	Version() uint64
}

// Namespace is the collection or view that a name refers to.
type Namespace struct {
	DB, Coll string    // the collection; for a view, its underlying collection
	Pipeline value.Doc // the stages of the view, an array; nil for a collection
}

// Request asks a Host for the documents of a collection.
type Request struct {
	DB, Coll  string
	Filter    value.Doc       // nil: everything
	Matcher   *match.Matcher  // Filter compiled; nil: everything
	Sort      value.Doc       // desired order; Source.Sorted reports whether the source has it
	Limit     int64           // no more documents are needed, 0: no limit; with Sort only if the host sorts
	Fields    []string        // the only fields that are needed, nil: all
	Distinct  string          // a path; one document for each of its values is enough. "": all are needed
	Last      bool            // asks, with Distinct, for the last in the order of Sort instead
	Near      *Near           // documents by distance; the host sets the metadata
	Meta      []expr.MetaKind // metadata that the documents must have
	Collation value.Collator
}

// Source is an opened collection.
type Source struct {
	Iterator
	Sorted bool // reports whether the documents are in the order of Request.Sort
	// Backwards reports whether the documents come in the opposite order, one of each
	// group. Request.Last asks for this.
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
	Key         string  // indexed field; "" if the host must find the index
}

// Special names a source that is not a collection.
type Special struct {
	Stage    string    // such as "$collStats"
	DB, Coll string    // the target of the aggregate command; Coll is "" for {aggregate: 1}
	Spec     value.Doc // checked specification

	// Events has the conditions of a $match behind $changeStream on operationType and
	// ns; nil without any.
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
	// Abort discards the new collection. After Commit it does nothing.
	Abort()
}

// MergeTarget is where $merge writes.
type MergeTarget struct {
	DB, Coll string
	On       []string // identifying fields; nil: _id
	Insert   bool     // documents are inserted without a search for a match
	Scripted bool     // JavaScript makes the new document
}

// MergeWriter writes the results of a $merge stage.
type MergeWriter interface {
	// On are the identifying fields.
	On() []string
	// Nullish reports whether documents without values there can be found: not by a sparse
	// index.
	Nullish() bool
	// Apply searches for each of docs the stored document with equal identifying
	// fields. It calls change with the number i of the document and the stored
	// document, nil if it found none, and stores the document that change returns. If
	// change returns nil, nothing is written. change may be called more than once for
	// a document. After an error the other documents are written nevertheless.
	Apply(docs []value.Doc, change func(i int, old value.Doc) (value.Doc, error)) error
	// Close ends the writing.
	Close() error
}
