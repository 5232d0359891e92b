package timeseries

import "github.com/duskdb/duskdb/value"

// Summary is the information about a bucket's measurements that needs no
// unpacking.
type Summary struct {
	h     header
	o     *Options
	doc   value.Doc
	last  int64 // the greatest time
	timed bool  // control has the times
}

// Summarize reads the control values of a bucket.
func Summarize(o *Options, bucket value.Doc) *Summary {
	s := &Summary{h: readHeader(o, bucket), o: o, doc: bucket}
	last := s.h.max.Lookup(o.TimeField)
	if s.h.min.Lookup(o.TimeField).Kind() == value.KindDateTime && last.Kind() == value.KindDateTime {
		s.timed, s.last = true, last.DateTime()
	}
	return s
}

// Bucket is the bucket itself.
func (s *Summary) Bucket() value.Doc { return s.doc }

// Times returns an instant that is not after any measurement, and the time of
// the last one; ok is false if control does not have them.
func (s *Summary) Times() (from, last int64, ok bool) { return s.h.minimum, s.last, s.timed }

// Meta is the value that all measurements share, Missing if they have none.
func (s *Summary) Meta() value.Value {
	if s.o.MetaField == "" {
		return value.Value{}
	}
	return s.doc.Lookup("meta")
}

// Count is the number of measurements.
func (s *Summary) Count() (int64, error) {
	if s.h.count >= 0 {
		return int64(s.h.count), nil
	}
	n, err := Count(s.o, s.doc)
	return int64(n), err
}

// Extreme returns the minimum or maximum at a path, for $min and $max
// with the collation of the collection: Missing if all values are nullish. ok
// is false if control does not determine it:
//
//   - of the time, whose minimum is rounded, it tells only the greatest;
//   - of documents and arrays it holds the extremes of their parts;
//   - below a path it tells only if there are documents and nothing else;
//   - null, which $min and $max ignore, is less than most values.
func (s *Summary) Extreme(path value.Path, greatest bool) (v value.Value, ok bool) {
	parts := path.Parts()
	lo, hi := s.h.min, s.h.max
	for i, name := range parts {
		low, high := lo.Lookup(name), hi.Lookup(name)
		if low.IsMissing() || high.IsMissing() {
			return value.Value{}, low.IsMissing() && high.IsMissing()
		}
		if i < len(parts)-1 {
			if low.Kind() != value.KindDocument || high.Kind() != value.KindDocument {
				return value.Value{}, false
			}
			lo, hi = low.Doc(), high.Doc()
			continue
		}
		if v = low; greatest {
			v = high
		}
	}
	switch {
	case v.IsNullish() || v.Kind() == value.KindDocument || v.Kind() == value.KindArray:
		return value.Value{}, false
	case !greatest && path.String() == s.o.TimeField:
		return value.Value{}, false
	}
	return v, true
}
