package timeseries

import (
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// reopener finds stored buckets that the catalog does not know, for instance
// after a restart. It needs an index on meta value and time, which every
// collection with a meta field has unless it was dropped; without the index, a
// new bucket is created.
type reopener struct {
	ready bool
	index string // "": none
}

// maxTried limits the buckets that are tried.
const maxTried = 8

// reopenFor reopens a stored bucket with room for a measurement.
func (in *inserter) reopenFor(t int64, d value.Doc) error {
	if !in.reopen.ready {
		in.reopen = reopener{true, reopenIndex(in.coll.Info(), in.o)}
	}
	if in.reopen.index == "" || in.group.meta.Kind() == value.KindArray {
		return nil // an array has an entry for each element
	}
	meta := in.group.meta
	if meta.IsMissing() {
		meta = value.Null() // as in the index
	}
	prefix := value.AppendKey(nil, meta)
	keys := storage.KeyRange{
		Lo:      value.AppendKey(append([]byte(nil), prefix...), value.DateTime(value.AddClamped(t, -in.o.MaxSpan*1000+1))),
		Hi:      append(value.AppendKey(append([]byte(nil), prefix...), value.DateTime(t)), 0xff),
		Reverse: true,
	}
	var records []storage.Record
	err := in.coll.ScanRecords(in.reopen.index, keys, func(_ []byte, r storage.Record) bool {
		records = append(records, r)
		return len(records) < maxTried
	})
	if err != nil {
		return err
	}
	for _, r := range records {
		before := len(in.work)
		if err := in.open(r); err != nil {
			return err
		}
		if len(in.work) == before {
			continue
		}
		if w := in.work[before]; in.o.covers(w.minimum, t) && w.Fits(d) {
			in.cat.mu.Lock()
			in.cat.reopens++
			in.cat.mu.Unlock()
			return nil
		}
		in.work = in.work[:before]
	}
	return nil
}

// reopenIndex finds an index that begins with the meta value and the minimum
// of the time, both ascending.
func reopenIndex(info *storage.Info, o *Options) string {
	if o.MetaField == "" {
		return ""
	}
	for i := range info.Indexes {
		spec := info.Indexes[i].Spec
		if spec.Has("partialFilterExpression") || spec.Lookup("sparse").Truthy() || spec.Has("collation") {
			continue
		}
		it := spec.Lookup("key").Doc().Iter()
		if it.Next() && it.Key() == "meta" && ascending(it.Value()) &&
			it.Next() && it.Key() == minPrefix+o.TimeField && ascending(it.Value()) {
			return info.Indexes[i].Name
		}
	}
	return ""
}

func ascending(v value.Value) bool { return v.IsNumber() && v.AsDouble() > 0 }
