package commands

import (
	"slices"

	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/text"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/timeseries"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// kind is what sort of collection a namespace is.
type kind uint8

const (
	ordinary kind = iota
	view
	timeSeries
	timeSeriesBuckets
)

// collectionMeta is what the commands know of a collection, derived once
// from its options and indexes whenever these change. It is immutable.
type collectionMeta struct {
	kind      kind
	capped    bool
	cappedMax int64 // documents, 0: no limit
	cappedLen int64 // bytes

	viewOn   string
	pipeline value.Doc // of a view

	clustered   *index.Spec // nil: records are in insertion order
	expireAfter *int64      // seconds, of a clustered or time-series collection

	series *timeseries.Options // of a time series and of its buckets

	validator        *match.Matcher
	validationLevel  string // "strict" or "moderate"; "off" has no validator
	validationAction string // "error" or "warn"

	collation *collation.Collation // nil: simple
	indexes   []*index.Spec        // all but those that serve expiry alone
	listed    []*index.Spec        // those of them that users see
	hasID     bool                 // there is an index on _id
	text      *text.Index          // of the text index, nil if there is none
	plans     *planCache           // the one part that changes

	preImages bool
	isQueue   bool // a message queue or its dead-letter queue

	// tsIndex stands for the indexes of document TTL in listings; it is nil where
	// that is off, and never a real index.
	tsIndex *index.Spec

	rules  *ttl.Rules          // what expires, nil: nothing
	docTTL *ttl.DocumentPolicy // nil: off (see visibility.go)
}

// Indexer gives the storage engine the meaning of options and
// specifications.
type Indexer struct{ index.Indexer }

// NewIndexer makes the Indexer to open an engine with.
func NewIndexer() storage.Indexer { return Indexer{} }

// OrphanIndexes are the indexes of a collection that a repair makes of documents
// which have lost theirs.
func OrphanIndexes() []storage.IndexSpec { return []storage.IndexSpec{index.IDSpec(nil).Stored()} }

// Attach implements storage.Indexer.
func (Indexer) Attach(info *storage.Info) any {
	m := &collectionMeta{plans: &planCache{}}
	o := info.Options
	m.readKind(info.Namespace, o)
	m.capped = o.Lookup("capped").Truthy()
	m.cappedLen, m.cappedMax = o.Lookup("size").SafeInt64(), o.Lookup("max").SafeInt64()
	m.preImages = o.Lookup("changeStreamPreAndPostImages").Doc().Lookup("enabled").Truthy()
	if c := o.Lookup("collation"); c.Kind() == value.KindDocument {
		m.collation, _ = collation.Parse(c.Doc())
	}
	if e := o.Lookup("expireAfterSeconds"); e.IsNumber() {
		n := e.SafeInt64()
		m.expireAfter = &n
	}
	m.isQueue = o.Has("messageQueue")
	m.hasID = info.Index(idIndex) != nil
	m.readValidator(o)
	for i := range info.Indexes {
		spec := index.Of(&info.Indexes[i])
		if spec == nil || index.IsInternal(spec.Name) {
			continue
		}
		m.indexes = append(m.indexes, spec)
		if spec.Clustered {
			m.clustered = spec
		}
		if spec.Kind == index.Text {
			d := spec.Doc()
			m.text, _ = text.NewIndex(d.Lookup("weights").Doc(), d.Lookup("default_language").Str(), d.Lookup("language_override").Str())
		}
	}
	m.listed = m.indexes
	if m.kind == timeSeriesBuckets { // clustered by _id, for users
		m.listed = slices.DeleteFunc(slices.Clone(m.indexes), (*index.Spec).IsID)
	}
	if m.kind != timeSeries { // its buckets expire
		m.rules = ttl.NewRules(info)
	}
	if m.rules != nil && m.rules.Document != nil {
		m.docTTL = m.rules.Document
		m.listTSIndex()
	}
	return m
}

// Index implements storage.Indexer. Where readers see _ts, indexes that it
// concerns are made of what readers see; geospatial indexes of time series are
// made of the measurements in the buckets.
func (x Indexer) Index(options value.Doc, spec storage.IndexSpec) (storage.Index, error) {
	i, err := x.Indexer.Index(options, spec)
	if s, ok := i.(*index.Spec); ok && err == nil && exposesTS(ttl.LoadDocumentPolicy(options.Lookup("documentTtl"))) && s.Mentions(ttl.TSField) {
		return s.Showing(ttl.WithTS), nil
	}
	if s, ok := i.(*index.Spec); ok && err == nil && options.Has("timeseries") && timeseries.HasPoints(s.Key) {
		return s.Showing(timeseries.WithPoints(s.Key)), nil
	}
	return i, err
}

func (m *collectionMeta) readKind(ns storage.Namespace, o value.Doc) {
	switch {
	case o.Has("viewOn"):
		m.kind = view
		m.viewOn, m.pipeline = o.Lookup("viewOn").Str(), o.Lookup("pipeline").Doc()
	case o.Has("timeseries") && isBuckets(ns.Coll):
		m.kind, m.series = timeSeriesBuckets, timeseries.LoadOptions(o.Lookup("timeseries"))
	case o.Has("timeseries"):
		m.kind, m.series = timeSeries, timeseries.LoadOptions(o.Lookup("timeseries"))
	}
}

// bucketsPrefix is how the collection is named that holds the buckets of a
// time series.
const bucketsPrefix = "system.buckets."

func isBuckets(coll string) bool {
	return len(coll) > len(bucketsPrefix) && coll[:len(bucketsPrefix)] == bucketsPrefix
}

// readValidator compiles the validator. It was compiled before it was
// stored, so that a failure cannot happen here.
func (m *collectionMeta) readValidator(o value.Doc) {
	spec := o.Lookup("validator").Doc()
	m.validationLevel, m.validationAction = o.Lookup("validationLevel").Str(), o.Lookup("validationAction").Str()
	if m.validationLevel == "" {
		m.validationLevel = "strict"
	}
	if m.validationAction == "" {
		m.validationAction = "error"
	}
	if spec == nil || spec.IsEmpty() || m.validationLevel == "off" {
		return
	}
	m.validator, _ = match.Compile(spec, match.Options{Collation: m.collator()})
}

// collator is the collection's default collation for comparisons, nil for
// simple.
func (m *collectionMeta) collator() value.Collator {
	if m.collation == nil {
		return nil
	}
	return m.collation
}

// plainText compiles $text where there is no index to tell how: the query
// is then refused for want of one.
var plainText, _ = text.NewIndex(value.EmptyDoc, "", "")

// anyText compiles the $text of pipelines that are not run.
func anyText(string, string) match.TextMatcher { return plainText }

func (m *collectionMeta) textMatcher() match.TextMatcher {
	if m.text != nil {
		return m.text
	}
	return plainText
}

// idIndex is the name of the index on _id.
const idIndex = "_id_"

var noMeta = &collectionMeta{}

// metaOf returns what is known of a collection; info may be nil.
func metaOf(info *storage.Info) *collectionMeta {
	if info == nil {
		return noMeta
	}
	if m, ok := info.Meta.(*collectionMeta); ok {
		return m
	}
	return noMeta
}
