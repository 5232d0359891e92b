package commands

import (
	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/project"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// documents turns matching records into documents, keeping the metadata of
// the current one at hand.
type documents struct {
	src  recordSource
	exec *execution
	meta []expr.MetaKind // to be set for each document
	spec *index.Spec     // the index that is used, nil if none
	q    *readQuery
}

// documents are those of a query's records.
func (q *readQuery) documents(x *execution, src recordSource) *documents {
	return &documents{src: src, exec: x, meta: q.meta, q: q}
}

func (d *documents) Next() (value.Doc, error) {
	r, ok, err := d.src.Next()
	if err != nil || !ok {
		return nil, err
	}
	for _, kind := range d.meta {
		d.setMeta(kind, &r)
	}
	return r.Doc, nil
}

func (d *documents) setMeta(kind expr.MetaKind, r *storage.Record) {
	switch kind {
	case expr.MetaRecordID:
		d.exec.env.Meta.Set(kind, value.Int64(int64(r.ID)))
	case expr.MetaIndexKey:
		if d.spec == nil || d.spec.Kind == index.Text { // words are no key
			return
		}
		if key := d.spec.EntryValue(d.exec.key); key != nil {
			d.exec.env.Meta.Set(kind, value.Document(key))
		} else if key := d.spec.KeyValue(r.Doc, d.exec.key); key != nil {
			d.exec.env.Meta.Set(kind, value.Document(key))
		}
	case expr.MetaSortKey:
		d.exec.env.Meta.Set(kind, sortKey(d.q.sort, r.Doc, d.q.collator))
	}
}

func (d *documents) Close() { d.src.Close() }

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
	late bool // the end shows only when the document after the last is asked for
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

// AtEnd tells that no further document will come, without asking for it: it
// lets the cursor be closed with the batch that reaches the limit.
func (l *limitIterator) AtEnd() bool { return l.left == 0 && !l.late }

func (l *limitIterator) Close() { l.src.Close() }

// atEnd asks an iterator that can tell.
func atEnd(it agg.Iterator) bool {
	e, ok := it.(interface{ AtEnd() bool })
	return ok && e.AtEnd()
}

// projecting applies a find projection.
type projecting struct {
	src  agg.Iterator
	p    *project.Projection
	exec *execution
}

func (p *projecting) Next() (value.Doc, error) {
	d, err := p.src.Next()
	if d == nil || err != nil {
		return nil, err
	}
	return p.p.Apply(p.exec.env, nil, d)
}

func (p *projecting) AtEnd() bool { return atEnd(p.src) }
func (p *projecting) Close()      { p.src.Close() }

// returnKey replaces each document by its index key (option returnKey).
type returnKey struct {
	src  agg.Iterator
	exec *execution
}

func (r *returnKey) Next() (value.Doc, error) {
	d, err := r.src.Next()
	if d == nil || err != nil {
		return nil, err
	}
	if key := r.exec.env.Meta.Get(expr.MetaIndexKey); !key.IsMissing() {
		return key.Doc(), nil
	}
	return value.EmptyDoc, nil
}

func (r *returnKey) AtEnd() bool { return atEnd(r.src) }
func (r *returnKey) Close()      { r.src.Close() }

// withRecordID adds $recordId (option showRecordId).
type withRecordID struct {
	src  agg.Iterator
	exec *execution
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
	b.Int64("$recordId", w.exec.env.Meta.Get(expr.MetaRecordID).Int64())
	return b.Doc(), nil
}

func (w *withRecordID) AtEnd() bool { return atEnd(w.src) }
func (w *withRecordID) Close()      { w.src.Close() }
