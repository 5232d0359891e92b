package exec

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/timeseries"
	"github.com/duskdb/duskdb/value"
)

// BucketQuery is a filter on measurements, turned into one on buckets.
type BucketQuery struct {
	Info     *storage.Info        // the collection of buckets
	Meta     *catalog.Meta        // the catalog entry of the time series
	Pushdown *timeseries.Pushdown // the part of the filter that whole buckets can decide
	Query    canonical.Query      // the query on buckets
	Matcher  *match.Matcher       // the filter of measurements, nil if all match
}

// QueryBuckets prepares to read the measurements that q asks for.
func QueryBuckets(c *kernel.Call, info *storage.Info, q *canonical.Query) (*BucketQuery, error) {
	b := &BucketQuery{Meta: catalog.Of(info), Matcher: q.Matcher}
	var err error
	if b.Info, err = Lookup(c, canonical.BucketsOf(info.Namespace)); err != nil {
		return nil, err
	}
	if b.Info == nil {
		return nil, mongoerr.Newf(mongoerr.NamespaceNotFound, "the buckets of %s are gone", info.Namespace)
	}
	filter := q.Filter
	if filter == nil {
		filter = value.EmptyDoc
	}
	b.Pushdown = b.Meta.Series.NewPushdown(filter, timeseries.PushdownOptions{
		Collation: b.Meta.Collator(), OtherCollation: !canonical.SameCollation(b.Meta.Collator(), q.Collator),
	})
	b.Query = canonical.Query{Filter: b.Pushdown.Filter, Collator: q.Collator, Scope: q.Scope}
	if b.Query.Hint, err = canonical.BucketHint(b.Meta, q.Hint); err != nil {
		return nil, err
	}
	return b, canonical.CompileFilter(c, &b.Query, catalog.Of(b.Info))
}

// OpenMeasurements reads the measurements of a time series that match.
func OpenMeasurements(c *kernel.Call, x *Execution, info *storage.Info, q *canonical.Query) (*Measurements, error) {
	b, err := QueryBuckets(c, info, q)
	if err != nil {
		return nil, err
	}
	x.Packed = true
	a, err := ChooseAccessPath(c, x, b.Info, &b.Query)
	if err != nil {
		return nil, err
	}
	return b.Open(x, a, q), nil
}

// ShownBucket is a bucket as readers of system.buckets see it.
func ShownBucket(d value.Doc) value.Doc {
	if plain, err := timeseries.Expand(d); err == nil {
		return plain
	}
	return d // a damaged bucket is shown as it is
}

// Measurements unpacks the buckets of a time series. A pipeline may ask for
// the buckets instead: it is an stage.Packs.
type Measurements struct {
	x        *Execution
	B        *BucketQuery // finds the buckets that may have matching measurements
	src      RecordSource
	unpacker *timeseries.Unpacker
	open     bool
	whole    bool         // all measurements of the bucket that is open match
	Counts   bucketCounts // counters for explain
	ownOrder bool         // strings compare as in the control values
	expiry   bool         // the measurements get {$meta: "expiresAt"}
	current  value.Doc    // the bucket that is open
}

// bucketCounts are the counters of buckets for explain.
type bucketCounts struct {
	Read     int64 // buckets that were read
	Unpacked int64 // buckets that were unpacked
	Returned int64 // measurements that were returned
}

// Open opens the measurements in the buckets that an access path finds.
func (b *BucketQuery) Open(x *Execution, a *AccessPath, q *canonical.Query) *Measurements {
	m := &Measurements{x: x, B: b, src: a.Matching(x, b.Info, &b.Query), unpacker: timeseries.NewUnpacker(b.Meta.Series)}
	m.ownOrder = canonical.SameCollation(b.Meta.Collator(), q.Collator)
	m.unpacker.Only(TopFields(q.Fields))
	m.expiry = slices.Contains(q.Meta, expr.MetaExpiresAt)
	return m
}

// TopFields are the top-level fields of paths; nil stays nil.
func TopFields(paths []string) []string {
	if paths == nil {
		return nil
	}
	fields := make([]string, len(paths))
	for i, path := range paths {
		fields[i], _, _ = strings.Cut(path, ".")
	}
	return fields
}

// Next returns the next measurement.
func (m *Measurements) Next() (value.Doc, error) {
	for {
		if d, err := m.within(); d != nil || err != nil {
			return d, err
		}
		s, err := m.bucket()
		if s == nil || err != nil {
			return nil, err
		}
		if err := m.unpack(s); err != nil {
			return nil, err
		}
	}
}

// within returns the next measurement of the bucket that is open.
func (m *Measurements) within() (value.Doc, error) {
	for m.open {
		d, ok := m.unpacker.Next()
		if !ok {
			m.open = false
			break
		}
		if !m.whole {
			hit, err := m.B.Matcher.Match(m.x.Env, d)
			if err != nil {
				return nil, err
			}
			if !hit {
				continue
			}
		}
		m.Counts.Returned++
		return d, nil
	}
	return nil, nil
}

// bucket finds the next bucket that may hold a matching measurement.
func (m *Measurements) bucket() (*timeseries.Summary, error) {
	for {
		r, ok, err := m.src.Next()
		if err != nil || !ok {
			return nil, err
		}
		s := timeseries.Summarize(m.B.Meta.Series, r.Doc)
		if m.B.Pushdown.MayMatchSummary(s) {
			m.Counts.Read++
			return s, nil
		}
	}
}

func (m *Measurements) unpack(s *timeseries.Summary) error {
	m.Counts.Unpacked++
	m.whole = m.B.Matcher == nil || m.B.Pushdown.Whole(s)
	m.open, m.current = true, s.Bucket()
	if m.expiry { // a measurement goes with its bucket
		m.x.setExpiresAt(m.B.Info, &storage.Record{Doc: m.current})
	}
	return m.unpacker.Reset(m.current)
}

// Bucket returns the bucket of the measurement that Next returned last.
func (m *Measurements) Bucket() value.Doc { return m.current }

// Close implements agg.Iterator.
func (m *Measurements) Close() { m.src.Close() }

// PackFields implements stage.Packs.
func (m *Measurements) PackFields() (shared, time string) {
	return m.B.Meta.Series.MetaField, m.B.Meta.Series.TimeField
}

// NextPack implements stage.Packs.
func (m *Measurements) NextPack() (agg.Pack, error) {
	s, err := m.bucket()
	if s == nil || err != nil {
		return nil, err
	}
	return &bucketPack{m: m, Summary: s}, nil
}

// bucketPack is a bucket as an agg.Pack.
type bucketPack struct {
	*timeseries.Summary
	m *Measurements
}

// Whole implements agg.Pack.
func (p *bucketPack) Whole() bool { return p.m.B.Matcher == nil || p.m.B.Pushdown.Whole(p.Summary) }

// Shared implements agg.Pack.
func (p *bucketPack) Shared() value.Value { return p.Meta() }

// Extreme implements agg.Pack. The control values were compared with the
// collation of the collection.
func (p *bucketPack) Extreme(path value.Path, greatest bool) (v value.Value, ok bool) {
	v, ok = p.Summary.Extreme(path, greatest)
	return v, ok && (p.m.ownOrder || v.Kind() != value.KindString)
}

// Docs implements agg.Pack.
func (p *bucketPack) Docs() agg.Iterator { return &packDocs{p: p} }

// packDocs unpacks one bucket.
type packDocs struct {
	p      *bucketPack
	opened bool
}

func (d *packDocs) Next() (value.Doc, error) {
	if !d.opened {
		d.opened = true
		if err := d.p.m.unpack(d.p.Summary); err != nil {
			return nil, err
		}
	}
	return d.p.m.within()
}

func (d *packDocs) Close() {}
