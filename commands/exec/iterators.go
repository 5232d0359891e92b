package exec

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/query/project"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Documents turns matching records into documents, and sets the metadata of the current
// one.
type Documents struct {
	src  RecordSource
	exec *Execution
	meta []expr.MetaKind // metadata to set for each document
	Spec *index.Spec     // the index that is used, nil if none
	q    *canonical.Query

	info *storage.Info // the collection, for the instant of expiry; nil: the source of the records knows it

	batch []value.Doc
}

// NewDocuments turns the records of a query into its documents.
func NewDocuments(x *Execution, info *storage.Info, q *canonical.Query, src RecordSource) *Documents {
	return &Documents{src: src, exec: x, meta: q.Meta, q: q, info: info}
}

// Next implements agg.Iterator.
func (d *Documents) Next() (value.Doc, error) {
	r, ok, err := d.src.Next()
	if err != nil || !ok {
		return nil, err
	}
	for _, kind := range d.meta {
		d.setMeta(kind, &r)
	}
	return r.Doc, nil
}

// NextBatch implements stage.Batched.
func (d *Documents) NextBatch() ([]value.Doc, error) {
	d.batch = d.batch[:0]
	if m, ok := d.src.(*Matching); ok && m.scan != nil && len(d.meta) == 0 {
		docs, err := m.batch(d.batch)
		d.batch = docs
		return docs, err
	}
	doc, err := d.Next()
	if doc == nil || err != nil {
		return nil, err
	}
	d.batch = append(d.batch, doc)
	return d.batch, nil
}

func (d *Documents) setMeta(kind expr.MetaKind, r *storage.Record) {
	switch kind {
	case expr.MetaRecordID:
		d.exec.Env.Meta.Set(kind, value.Int64(int64(r.ID)))
	case expr.MetaIndexKey:
		if d.Spec == nil || d.Spec.Kind == index.Text { // the words of a text index are not shown as a key
			return
		}
		if key := d.Spec.EntryValue(d.exec.key); key != nil {
			d.exec.Env.Meta.Set(kind, value.Document(key))
		} else if key := d.Spec.KeyValue(r.Doc, d.exec.key); key != nil {
			d.exec.Env.Meta.Set(kind, value.Document(key))
		}
	case expr.MetaExpiresAt:
		if d.info != nil { // else the source has set it
			d.exec.setExpiresAt(d.info, r)
		}
	case expr.MetaSortKey:
		d.exec.Env.Meta.Set(kind, sortKey(d.q.Sort, r.Doc, d.q.Collator))
	}
}

// setExpiresAt notes when the current document expires.
func (x *Execution) setExpiresAt(info *storage.Info, r *storage.Record) {
	at := value.Value{}
	if ms, ok := catalog.ExpiresAt(info, r); ok {
		at = value.DateTime(ms)
	}
	x.Env.Meta.Set(expr.MetaExpiresAt, at)
}

// Close implements agg.Iterator.
func (d *Documents) Close() { d.src.Close() }

// skipIterator drops the first documents.
type skipIterator struct {
	src  agg.Iterator
	left int64
}

func (s *skipIterator) Next() (value.Doc, error) {
	for ; s.left > 0; s.left-- {
		d, err := s.src.Next()
		if d == nil || err != nil {
			return nil, err
		}
	}
	return s.src.Next()
}

func (s *skipIterator) Close() { s.src.Close() }

// limitIterator ends after some documents.
type limitIterator struct {
	src  agg.Iterator
	left int64
	late bool // the end is found only when the document after the last is requested
}

func (l *limitIterator) Next() (value.Doc, error) {
	if l.left == 0 {
		return nil, nil
	}
	d, err := l.src.Next()
	if d != nil {
		l.left--
	}
	return d, err
}

// AtEnd reports whether no further document will come, without asking for one: it
// lets the cursor be closed with the batch that reaches the limit.
func (l *limitIterator) AtEnd() bool { return l.left == 0 && !l.late }

func (l *limitIterator) Close() { l.src.Close() }

// atEnd reports whether an iterator knows that it is at its end.
func atEnd(it agg.Iterator) bool {
	e, ok := it.(interface{ AtEnd() bool })
	return ok && e.AtEnd()
}

// Known iterates over documents that are all there: the batch that takes the last of them ends the
// cursor, as those of mongod's commands that list things do.
func Known(docs []value.Doc) agg.Iterator { return &known{left: docs} }

type known struct {
	left []value.Doc // the documents still to come
}

func (k *known) Next() (d value.Doc, err error) {
	if len(k.left) > 0 {
		d, k.left = k.left[0], k.left[1:]
	}
	return d, nil
}

// AtEnd reports whether all documents have been read.
func (k *known) AtEnd() bool { return len(k.left) == 0 }

func (k *known) Close() {}

// projecting applies a find projection.
type projecting struct {
	src  agg.Iterator
	p    *project.Projection
	exec *Execution
}

func (p *projecting) Next() (value.Doc, error) {
	d, err := p.src.Next()
	if d == nil || err != nil {
		return nil, err
	}
	return p.p.Apply(p.exec.Env, nil, d)
}

func (p *projecting) AtEnd() bool { return atEnd(p.src) }

func (p *projecting) Close() { p.src.Close() }

// returnKey replaces each document by its index key (option returnKey).
type returnKey struct {
	src  agg.Iterator
	exec *Execution
}

func (r *returnKey) Next() (value.Doc, error) {
	d, err := r.src.Next()
	if d == nil || err != nil {
		return nil, err
	}
	if key := r.exec.Env.Meta.Get(expr.MetaIndexKey); !key.IsMissing() {
		return key.Doc(), nil
	}
	return value.EmptyDoc, nil
}

func (r *returnKey) AtEnd() bool { return atEnd(r.src) }

func (r *returnKey) Close() { r.src.Close() }

// withRecordID adds $recordId (option showRecordId).
type withRecordID struct {
	src  agg.Iterator
	exec *Execution
}

func (w *withRecordID) Next() (value.Doc, error) {
	d, err := w.src.Next()
	if d == nil || err != nil {
		return nil, err
	}
	var b value.Builder
	b.Reset(make([]byte, 0, len(d)+24))
	it := d.Iter()
	b.Raw(it.Rest())
	b.Int64("$recordId", w.exec.Env.Meta.Get(expr.MetaRecordID).Int64())
	return b.Doc(), nil
}

func (w *withRecordID) AtEnd() bool { return atEnd(w.src) }

func (w *withRecordID) Close() { w.src.Close() }

// FindFailed is mongod's prefix for errors of a running find.
func FindFailed(c *kernel.Call, ns storage.Namespace) string {
	if isGetMore(c) {
		return getMoreFailed
	}
	return "Executor error during find command: " + ns.String()
}

// AggregationFailed is mongod's prefix for errors of a running aggregation.
func AggregationFailed(c *kernel.Call, ns storage.Namespace) string {
	if isGetMore(c) {
		return getMoreFailed
	}
	return c.Svc.Dialect().AggregationFailed(ns.String())
}

const getMoreFailed = "Executor error during getMore"

func isGetMore(c *kernel.Call) bool { return c.Cmd != nil && c.Cmd.Has(kernel.Continues) }

// Failed returns the prefix for errors of what runs: FindFailed or AggregationFailed.
type Failed = func(*kernel.Call, storage.Namespace) string

// largestResult is how large a document may be on its way to a client.
const largestResult = kernel.MaxDocumentBytes + 16*1024

// InContext is the last iterator of a query. It prefixes errors with the name of the
// command, and refuses documents that are too large for a message.
type InContext struct {
	Src  agg.Iterator
	Exec *Execution        // knows the running command
	NS   storage.Namespace // named in errors
	What Failed            // prefix for errors
	// Computed: the documents may be deeper than those that clients send.
	Computed bool
}

// Next implements agg.Iterator.
func (i *InContext) Next() (value.Doc, error) {
	d, err := i.Src.Next()
	if err == nil && len(d) > largestResult {
		err = tooLarge(d)
		if c := i.Exec.Running(); c.ChangeStream {
			c.Svc.Metrics.ChangeStreams.Failed.Add(1)
		}
	}
	if err == nil && i.Computed {
		err = expr.CheckDepth(value.Document(d), value.MaxDepth)
	}
	if err == nil {
		return d, nil
	}
	return nil, mongoerr.From(kernel.Translate(i.NS, err)).WithPrefix(i.What(i.Exec.Running(), i.NS))
}

// AtEnd reports whether no further document will come, if the source can tell.
func (i *InContext) AtEnd() bool { return atEnd(i.Src) }

// Close implements agg.Iterator.
func (i *InContext) Close() { i.Src.Close() }

func tooLarge(d value.Doc) error {
	name, first := d.First()
	return mongoerr.Newf(mongoerr.BSONObjectTooLarge, "BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(16MB) First element: %s: %s",
		len(d), len(d), largestResult, name, first)
}
