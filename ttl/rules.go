package ttl

import (
	"math"

	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Rules are the expiry rules of one collection. They are immutable: a change
// of the collection's options or indexes creates new ones.
type Rules struct {
	Indexes  []ExpiryIndex
	Skipped  int             // TTL indexes of a kind that never expires documents
	Document *DocumentPolicy // nil: off
	OnExpire *OnExpire       // nil: expired documents are deleted
}

// NewRules reads the rules from the options and indexes of a collection; nil
// if nothing in it expires and it has no TTL index to skip.
func NewRules(info *storage.Info) *Rules {
	o := info.Options
	buckets := reserved.IsBuckets(info.Namespace.Coll)
	if o.Has("viewOn") || o.Has("timeseries") && !buckets {
		return nil
	}
	r := &Rules{Document: LoadDocumentPolicy(o.Lookup("documentTtl")), OnExpire: LoadOnExpire(o)}
	series := o.Lookup("timeseries").Doc()
	for i := range info.Indexes {
		if buckets && series != nil {
			r.addPartial(&info.Indexes[i], series)
		} else {
			r.addIndex(&info.Indexes[i])
		}
	}
	if e := o.Lookup("expireAfterSeconds"); e.IsNumber() && e.SafeInt64() >= 0 {
		if buckets && series != nil {
			r.Indexes = append(r.Indexes, bucketRule(TimeSeries, bucketIndex, e.SafeInt64(), series))
		} else if name := clusteredIndex(info); name != "" {
			r.Indexes = append(r.Indexes, ExpiryIndex{Policy: Clustered, Index: name, After: milliseconds(e.SafeInt64())})
		}
	}
	r.addDocument(info)
	if len(r.Indexes) == 0 && r.Skipped == 0 && r.Document == nil {
		return nil
	}
	return r
}

// addIndex adds the expiry index of a TTL index.
func (r *Rules) addIndex(i *storage.IndexInfo) {
	e := i.Spec.Lookup("expireAfterSeconds")
	if e.IsMissing() || i.Spec.Lookup("clustered").Truthy() {
		return
	}
	key := i.Spec.Lookup("key").Doc()
	_, direction := key.First()
	if !direction.IsNumber() || !e.IsNumber() || e.SafeInt64() < 0 || key.Len() != 1 {
		r.Skipped++
		return
	}
	r.Indexes = append(r.Indexes, ExpiryIndex{
		Policy: Index, Index: i.Name, Desc: direction.AsDouble() < 0,
		After: milliseconds(e.SafeInt64()), From: math.MinInt64,
	})
}

// addPartial adds the expiry index of a TTL index on the time field of a time
// series. Its keys are the minima of the buckets.
func (r *Rules) addPartial(i *storage.IndexInfo, series value.Doc) {
	e := i.Spec.Lookup("expireAfterSeconds")
	if !e.IsNumber() {
		return
	}
	path, direction := i.Spec.Lookup("key").Doc().First()
	if path != "control.min."+series.Lookup("timeField").Str() || !direction.IsNumber() {
		r.Skipped++
		return
	}
	l := bucketRule(PartialBucket, i.Name, e.SafeInt64(), series)
	l.Desc = direction.AsDouble() < 0
	r.Indexes = append(r.Indexes, l)
}

func bucketRule(p Policy, index string, seconds int64, series value.Doc) ExpiryIndex {
	span := milliseconds(series.Lookup("bucketMaxSpanSeconds").SafeInt64())
	return ExpiryIndex{
		Policy: p, Index: index, From: math.MinInt64,
		After: value.AddClamped(milliseconds(seconds), span), span: span, time: series.Lookup("timeField").Str(),
	}
}

// clusteredIndex names the index on _id of a clustered collection.
func clusteredIndex(info *storage.Info) string {
	if !info.Options.Lookup("clusteredIndex").Truthy() {
		return ""
	}
	for i := range info.Indexes {
		if info.Indexes[i].Spec.Lookup("clustered").Truthy() {
			return info.Indexes[i].Name
		}
	}
	return reserved.IDIndex
}

func (r *Rules) addDocument(info *storage.Info) {
	if r.Document == nil {
		return
	}
	until := r.Document.Until
	if info.Index(ownIndex) != nil {
		r.Indexes = append(r.Indexes, ExpiryIndex{Policy: Document, Index: ownIndex, From: math.MinInt64, until: until})
	}
	if r.Document.Default != Never && info.Index(inheritIndex) != nil {
		r.Indexes = append(r.Indexes, ExpiryIndex{Policy: Document, Index: inheritIndex, From: math.MinInt64, After: r.Document.Default * 1000, until: until})
	}
}

// Index returns the expiry index of a policy with a name; nil if it no longer
// exists.
func (r *Rules) Index(p Policy, index string) *ExpiryIndex {
	if r == nil {
		return nil
	}
	for i := range r.Indexes {
		if r.Indexes[i].Policy == p && r.Indexes[i].Index == index {
			return &r.Indexes[i]
		}
	}
	return nil
}
