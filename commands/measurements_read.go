package commands

import (
	"strings"

	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/timeseries"
	"github.com/duskdb/duskdb/value"
)

// measurements unpacks the buckets of a time series. A pipeline may ask for
// the buckets instead: it is an agg.Packs.
type measurements struct {
	x        *execution
	b        *bucketQuery
	src      recordSource
	unpacker *timeseries.Unpacker
	open     bool
	whole    bool // all measurements of the bucket that is open match
	counts   bucketCounts
	ownOrder bool // strings compare as in the control values
}

// bucketCounts is what was done with buckets, for explain.
type bucketCounts struct{ read, unpacked, returned int64 }

// open opens the measurements of the buckets that an access leads to.
func (b *bucketQuery) open(x *execution, a *access, q *readQuery) *measurements {
	m := &measurements{x: x, b: b, src: a.matching(x, b.info, &b.query), unpacker: timeseries.NewUnpacker(b.meta.series)}
	m.ownOrder = sameCollation(b.meta.collator(), q.collator)
	m.unpacker.Only(topFields(q.fields))
	return m
}

// topFields are the top-level fields of paths; nil stays nil.
func topFields(paths []string) []string {
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
func (m *measurements) Next() (value.Doc, error) {
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
func (m *measurements) within() (value.Doc, error) {
	for m.open {
		d, ok := m.unpacker.Next()
		if !ok {
			m.open = false
			break
		}
		if !m.whole {
			hit, err := m.b.matcher.Match(m.x.env, d)
			if err != nil {
				return nil, err
			}
			if !hit {
				continue
			}
		}
		m.counts.returned++
		return d, nil
	}
	return nil, nil
}

// bucket finds the next bucket that may hold a matching measurement.
func (m *measurements) bucket() (*timeseries.Summary, error) {
	for {
		r, ok, err := m.src.Next()
		if err != nil || !ok {
			return nil, err
		}
		s := timeseries.Summarize(m.b.meta.series, r.Doc)
		if m.b.pushdown.MayMatchSummary(s) {
			m.counts.read++
			return s, nil
		}
	}
}

func (m *measurements) unpack(s *timeseries.Summary) error {
	m.counts.unpacked++
	m.whole = m.b.matcher == nil || m.b.pushdown.Whole(s)
	m.open = true
	return m.unpacker.Reset(s.Bucket())
}

// Close implements agg.Iterator.
func (m *measurements) Close() { m.src.Close() }

// PackFields implements agg.Packs.
func (m *measurements) PackFields() (shared, time string) {
	return m.b.meta.series.MetaField, m.b.meta.series.TimeField
}

// NextPack implements agg.Packs.
func (m *measurements) NextPack() (agg.Pack, error) {
	s, err := m.bucket()
	if s == nil || err != nil {
		return nil, err
	}
	return &bucketPack{m: m, Summary: s}, nil
}

// bucketPack is a bucket as an agg.Pack.
type bucketPack struct {
	*timeseries.Summary
	m *measurements
}

// Whole implements agg.Pack.
func (p *bucketPack) Whole() bool { return p.m.b.matcher == nil || p.m.b.pushdown.Whole(p.Summary) }

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
