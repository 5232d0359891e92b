package catalog

import (
	"slices"

	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/text"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/timeseries"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// Kind is the sort of collection that a namespace names.
type Kind uint8

const (
	Ordinary   Kind = iota // documents as they are
	View                   // a pipeline over another collection
	TimeSeries             // a view of its buckets
	Buckets                // holds the buckets of a time series
)

// Type is the type of a collection in listings.
func (k Kind) Type() string {
	switch k {
	case View:
		return "view"
	case TimeSeries:
		return "timeseries"
	}
	return "collection"
}

// Meta is what the commands know of a collection, derived once
// from its options and indexes whenever these change. It is immutable.
type Meta struct {
	Kind      Kind  // which sort of collection
	Capped    bool  // bounded by CappedLen and CappedMax
	CappedMax int64 // documents, 0: no limit
	CappedLen int64 // bytes

	ViewOn   string    // the collection that a view reads
	Pipeline value.Doc // pipeline of a view

	Clustered   *index.Spec // nil: records are in insertion order
	ExpireAfter *int64      // seconds, of a clustered or time-series collection

	Series *timeseries.Options // options of a time series and of its buckets

	Validator        *match.Matcher // nil: every document is valid
	ValidationLevel  string         // "strict" or "moderate"; "off" has no validator
	ValidationAction string         // "error", "warn" or "errorAndLog"

	Collation *collation.Collation // nil: simple
	Indexes   []*index.Spec        // all except the internal ones of expiry
	Listed    []*index.Spec        // the ones that clients see
	hasID     bool                 // there is an index on _id
	Text      *text.Index          // the text index; nil without one
	Plans     *PlanCache           // the only part that changes

	PreImages bool // changeStreamPreAndPostImages is enabled
	IsQueue   bool // a message queue or its dead-letter queue

	// TSIndex stands for the indexes of document TTL in listings; it is nil where
	// that is off, and never a real index.
	TSIndex *index.Spec

	Rules  *ttl.Rules          // what expires, nil: nothing
	DocTTL *ttl.DocumentPolicy // nil: off (see [Meta.Visible])
}

// Indexer gives the storage engine the meaning of options and
// specifications.
type Indexer struct{ index.Indexer }

// NewIndexer makes the Indexer to open an engine with.
func NewIndexer() storage.Indexer { return Indexer{} }

// OrphanIndexes returns the indexes of a collection that a repair makes for documents
// whose collection is lost.
func OrphanIndexes() []storage.IndexSpec { return []storage.IndexSpec{index.IDSpec(nil).Stored()} }

// Attach implements storage.Indexer.
func (Indexer) Attach(info *storage.Info) any {
	m := &Meta{Plans: &PlanCache{}}
	o := info.Options
	m.readKind(info.Namespace, o)
	m.Capped = o.Lookup("capped").Truthy()
	m.CappedLen, m.CappedMax = o.Lookup("size").SafeInt64(), o.Lookup("max").SafeInt64()
	m.PreImages = o.Lookup("changeStreamPreAndPostImages").Doc().Lookup("enabled").Truthy()
	if c := o.Lookup("collation"); c.Kind() == value.KindDocument {
		m.Collation, _ = collation.Parse(c.Doc())
	}
	if e := o.Lookup("expireAfterSeconds"); e.IsNumber() {
		n := e.SafeInt64()
		m.ExpireAfter = &n
	}
	m.IsQueue = queue.IsQueue(o)
	m.hasID = info.Index(reserved.IDIndex) != nil
	m.readValidator(o)
	for i := range info.Indexes {
		spec := index.Of(&info.Indexes[i])
		if spec == nil || index.IsInternal(spec.Name) {
			continue
		}
		m.Indexes = append(m.Indexes, spec)
		if spec.Clustered {
			m.Clustered = spec
		}
		if spec.Kind == index.Text {
			d := spec.Doc()
			m.Text, _ = text.NewIndex(d.Lookup("weights").Doc(), d.Lookup("default_language").Str(), d.Lookup("language_override").Str())
		}
	}
	m.Listed = m.Indexes
	if m.Kind == Buckets { // clients see it as clustered by _id
		m.Listed = slices.DeleteFunc(slices.Clone(m.Indexes), (*index.Spec).IsID)
	}
	if m.Kind != TimeSeries { // in a time series the buckets expire
		m.Rules = ttl.NewRules(info)
	}
	if m.Rules != nil && m.Rules.Document != nil {
		m.DocTTL = m.Rules.Document
		m.listTSIndex()
	}
	return m
}

// Index implements storage.Indexer. If documents are shown with _ts, indexes with _ts in
// their key are built from the documents as they are shown. Geospatial indexes of time
// series are built from the measurements in the buckets.
func (x Indexer) Index(options value.Doc, spec storage.IndexSpec) (storage.Index, error) {
	i, err := x.Indexer.Index(options, spec)
	if s, ok := i.(*index.Spec); ok && err == nil && ExposesTS(ttl.LoadDocumentPolicy(options.Lookup("documentTtl"))) && s.Mentions(ttl.TSField) {
		return s.Showing(ttl.WithTS), nil
	}
	if s, ok := i.(*index.Spec); ok && err == nil && options.Has("timeseries") && timeseries.HasPoints(s.Key) {
		return s.Showing(timeseries.WithPoints(s.Key)), nil
	}
	return i, err
}

func (m *Meta) readKind(ns storage.Namespace, o value.Doc) {
	switch {
	case o.Has("viewOn"):
		m.Kind = View
		m.ViewOn, m.Pipeline = o.Lookup("viewOn").Str(), o.Lookup("pipeline").Doc()
	case o.Has("timeseries") && reserved.IsBuckets(ns.Coll):
		m.Kind, m.Series = Buckets, timeseries.LoadOptions(o.Lookup("timeseries"))
	case o.Has("timeseries"):
		m.Kind, m.Series = TimeSeries, timeseries.LoadOptions(o.Lookup("timeseries"))
	}
}

// readValidator compiles the validator. It was compiled before it was
// stored, so that a failure cannot happen here.
func (m *Meta) readValidator(o value.Doc) {
	spec := o.Lookup("validator").Doc()
	m.ValidationLevel, m.ValidationAction = o.Lookup("validationLevel").Str(), o.Lookup("validationAction").Str()
	if m.ValidationLevel == "" {
		m.ValidationLevel = "strict"
	}
	if m.ValidationAction == "" {
		m.ValidationAction = "error"
	}
	if spec == nil || spec.IsEmpty() || m.ValidationLevel == "off" {
		return
	}
	m.Validator, _ = match.Compile(spec, match.Options{Collation: m.Collator()})
}

// Collator is the collection's default collation for comparisons, nil for
// simple.
func (m *Meta) Collator() value.Collator {
	if m.Collation == nil {
		return nil
	}
	return m.Collation
}

// PlainText compiles $text on a collection without a text index. The query is refused
// later, since the index is missing.
var PlainText, _ = text.NewIndex(value.EmptyDoc, "", "")

// AnyText compiles the $text of pipelines that are not run.
func AnyText(string, string) match.TextMatcher { return PlainText }

// TextMatcher returns what compiles $text on this collection.
func (m *Meta) TextMatcher() match.TextMatcher {
	if m.Text != nil {
		return m.Text
	}
	return PlainText
}

// None is the Meta of a collection that does not exist.
var None = &Meta{}

// Of returns the Meta of a collection. info may be nil.
func Of(info *storage.Info) *Meta {
	if info == nil {
		return None
	}
	if m, ok := info.Meta.(*Meta); ok {
		return m
	}
	return None
}

// FastPath reports whether a collection's records can be found by _id and
// returned, or changed, as they are.
func (m *Meta) FastPath() bool {
	return m.hasID && m.Kind == Ordinary && m.Collation == nil && !m.IsQueue && (m.DocTTL == nil || !m.DocTTL.ExposeTS)
}

// KeysSuffice reports whether every entry of an index stands for a document that
// is shown as it is stored, unless it has expired.
func (m *Meta) KeysSuffice() bool {
	return !m.IsQueue && m.Kind == Ordinary && (m.DocTTL == nil || !m.DocTTL.ExposeTS)
}

// ReadThrough reports whether a collection is read through a pipeline: a find, a
// count or a distinct on it becomes an aggregate, to run and to explain.
func (m *Meta) ReadThrough() bool { return m.Kind == View || m.Kind == TimeSeries }

// MayHide reports whether documents of the collection can be stored and yet not
// visible.
func (m *Meta) MayHide() bool { return m.DocTTL != nil }

// Visible reports whether a command at an instant, in milliseconds since the epoch,
// sees a record: whether it has not expired by document TTL (semantics.md §7).
func (m *Meta) Visible(r *storage.Record, now int64) bool { return m.DocTTL.Visible(r, now) }

// Shown is a stored document as finds return it: with _ts if the policy exposes
// it. ts is the instant of its last write.
func (m *Meta) Shown(d value.Doc, ts int64) value.Doc {
	if d == nil || m.DocTTL == nil || !m.DocTTL.ExposeTS {
		return d
	}
	return ttl.WithTS(&storage.Record{TS: ts, Doc: d})
}
