package timeseries

import (
	"slices"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Store writes buckets. It is the writer of an engine transaction.
type Store interface {
	Insert(bucket value.Doc) (storage.RecordID, error)
	Replace(r storage.Record, bucket value.Doc) error
}

// Buckets is the part of a storage.Collection that an insert reads.
type Buckets interface {
	Info() *storage.Info
	Get(id storage.RecordID) (storage.Record, bool, error)
	ScanRecords(name string, r storage.KeyRange, fn func(key []byte, r storage.Record) bool) error
}

// Insert sorts a batch of measurements, each of which has passed
// [Options.Check], into buckets of the collection coll and writes these,
// each once. c is the collection's collation, nil for simple.
func (cat *Catalog) Insert(coll Buckets, store Store, o *Options, c value.Collator, batch []value.Doc) error {
	uuid := coll.Info().UUID
	for _, g := range group(o, uuid[:], batch) {
		in := &inserter{cat: cat, coll: coll, store: store, o: o, c: c, group: g}
		if err := in.run(); err != nil {
			return err
		}
	}
	return nil
}

// metaGroup are the measurements of a batch that share a meta value.
type metaGroup struct {
	key  string
	meta value.Value
	docs []value.Doc
}

// group sorts the measurements of a batch by meta value.
func group(o *Options, uuid []byte, batch []value.Doc) []*metaGroup {
	byKey := map[string]*metaGroup{}
	var groups []*metaGroup
	var key []byte
	var lastRaw []byte // the meta value of the last measurement as it came
	var last *metaGroup
	for _, d := range batch {
		var raw []byte
		if o.MetaField != "" {
			raw = appendMetaKey(key[:0], d.Lookup(o.MetaField))
			key = raw
		}
		if last == nil || string(raw) != string(lastRaw) {
			meta := o.meta(d)
			full := string(appendMetaKey(append([]byte(nil), uuid...), meta))
			if last = byKey[full]; last == nil {
				last = &metaGroup{key: full, meta: meta}
				byKey[full] = last
				groups = append(groups, last)
			}
			lastRaw = append(lastRaw[:0], raw...)
		}
		last.docs = append(last.docs, d)
	}
	return groups
}

// inserter adds the measurements of one meta value.
type inserter struct {
	cat   *Catalog
	coll  Buckets
	store Store
	o     *Options
	c     value.Collator
	group *metaGroup

	known  []candidate // buckets that the catalog has proposed and that are not open yet
	work   []*working  // the buckets of this batch, last used first
	reopen reopener

	askedCatalog bool
}

// working is a bucket that measurements of the batch are added to.
type working struct {
	*Bucket
	record  storage.Record // ID 0: new
	changed bool
}

func (in *inserter) run() error {
	for _, d := range in.group.docs {
		w, err := in.place(d)
		if err != nil {
			return err
		}
		w.Append(d)
		w.changed = true
		if w.count >= MaxCount {
			w.Close()
		}
	}
	return in.write()
}

// place finds or creates the bucket for a measurement.
func (in *inserter) place(d value.Doc) (*working, error) {
	t := in.o.time(d)
	if w := in.fromWork(t, d); w != nil {
		return w, nil
	}
	if err := in.openCandidates(t); err != nil {
		return nil, err
	}
	if w := in.fromWork(t, d); w != nil {
		return w, nil
	}
	if err := in.reopenFor(t, d); err != nil {
		return nil, err
	}
	if w := in.fromWork(t, d); w != nil {
		return w, nil
	}
	w := &working{Bucket: NewBucket(in.o, in.o.Minimum(t), in.group.meta, in.c)}
	in.work = slices.Insert(in.work, 0, w)
	return w, nil
}

// fromWork finds a bucket that the batch has used. A bucket that is too full
// for a measurement is closed.
func (in *inserter) fromWork(t int64, d value.Doc) *working {
	for i, w := range in.work {
		if w.closed || !in.o.covers(w.minimum, t) {
			continue
		}
		if w.Fits(d) {
			if i > 0 {
				in.work = slices.Insert(slices.Delete(in.work, i, i+1), 0, w)
			}
			return w
		}
		w.Close()
		w.changed = true
	}
	return nil
}

// openCandidates opens the buckets that the catalog proposes for an instant.
func (in *inserter) openCandidates(t int64) error {
	if !in.askedCatalog {
		in.known, in.askedCatalog = in.cat.candidates(in.group.key), true
	}
	rest := in.known[:0]
	for _, k := range in.known {
		if !in.o.covers(k.minimum, t) {
			rest = append(rest, k)
			continue
		}
		r, ok, err := in.coll.Get(k.record)
		if ok {
			err = in.open(r)
		}
		if err != nil {
			return err
		}
	}
	in.known = rest
	return nil
}

// open reopens a stored bucket, unless it belongs to another series or is
// closed.
func (in *inserter) open(r storage.Record) error {
	if !sameMeta(r.Doc.Lookup("meta"), in.group.meta) || readHeader(in.o, r.Doc).closed {
		return nil
	}
	for _, w := range in.work {
		if w.record.ID == r.ID {
			return nil
		}
	}
	b, err := OpenBucket(in.o, r.Doc, in.c)
	if err != nil {
		return err
	}
	if !b.closed && b.count < MaxCount {
		in.work = append(in.work, &working{Bucket: b, record: r})
	}
	return nil
}

func sameMeta(a, b value.Value) bool {
	return a.Kind() == b.Kind() && string(appendMetaKey(nil, a)) == string(appendMetaKey(nil, b))
}

// write stores the buckets and updates the catalog.
func (in *inserter) write() error {
	for _, w := range slices.Backward(in.work) { // the oldest first
		if w.changed {
			if err := in.save(w); err != nil {
				return err
			}
		}
	}
	var open, closed []candidate
	for _, w := range in.work {
		if w.closed {
			closed = append(closed, candidate{w.record.ID, w.minimum, true})
		} else {
			open = append(open, candidate{w.record.ID, w.minimum, false})
		}
	}
	for _, k := range in.known {
		if !k.closed {
			open = append(open, k)
		}
	}
	for _, k := range in.cat.remember(in.group.key, append(open, closed...)) {
		if err := in.archive(k); err != nil {
			return err
		}
	}
	return nil
}

func (in *inserter) save(w *working) (err error) {
	d := w.Doc()
	if w.closed {
		d = Compress(d)
	}
	if w.record.ID != 0 {
		return in.store.Replace(w.record, d)
	}
	w.record.ID, err = in.store.Insert(d)
	return err
}

// archive compresses a bucket that is no longer in use. It may be reopened.
func (in *inserter) archive(k candidate) error {
	r, ok, err := in.coll.Get(k.record)
	if err != nil || !ok || !sameMeta(r.Doc.Lookup("meta"), in.group.meta) {
		return err
	}
	if d := Compress(r.Doc); len(d) < len(r.Doc) {
		return in.store.Replace(r, d)
	}
	return nil
}
