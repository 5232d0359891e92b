package stage

import (
	"github.com/duskdb/duskdb/value"
)

// Iterator gives documents one after the other.
type Iterator interface {
	// Next returns the next document, nil at the end. After the end or an error it
	// must not be called again.
	Next() (value.Doc, error)
	// Close releases what the iterator holds. It may be called at any time
	// and more than once.
	Close()
}

// Batched is an Iterator that can give several documents at once, which have no metadata.
type Batched interface {
	Iterator
	// NextBatch returns the next documents, at least one, or none at the end. The
	// caller may use the slice until it calls again.
	NextBatch() ([]value.Doc, error)
}

// Each calls fn with each document of an iterator, to its end.
func Each(it Iterator, fn func(value.Doc) error) error {
	b, ok := it.(Batched)
	if !ok {
		b = &single{Iterator: it}
	}
	for {
		docs, err := b.NextBatch()
		for _, d := range docs {
			if err := fn(d); err != nil {
				return err
			}
		}
		if len(docs) == 0 || err != nil {
			return err
		}
	}
}

// single gives the documents of an iterator as batches of one.
type single struct {
	Iterator
	doc [1]value.Doc
}

func (s *single) NextBatch() ([]value.Doc, error) {
	d, err := s.Next()
	if d == nil || err != nil {
		return nil, err
	}
	s.doc[0] = d
	return s.doc[:], nil
}

// Docs iterates over the given documents.
func Docs(docs ...value.Doc) Iterator { return &docsIterator{docs: docs} }

type docsIterator struct{ docs []value.Doc }

func (it *docsIterator) Next() (value.Doc, error) {
	if len(it.docs) == 0 {
		return nil, nil
	}
	d := it.docs[0]
	it.docs = it.docs[1:]
	return d, nil
}

func (it *docsIterator) Close() { it.docs = nil }

// Pull returns an Iterator that calls next for each document. Closing it closes src,
// which may be nil.
func Pull(src Iterator, next func() (value.Doc, error)) Iterator {
	return nextFunc{next: next, src: src}
}

// nextFunc is an Iterator made of a function and the source to close.
type nextFunc struct {
	next func() (value.Doc, error)
	src  Iterator
}

func (n nextFunc) Next() (value.Doc, error) { return n.next() }

func (n nextFunc) Close() {
	if n.src != nil {
		n.src.Close()
	}
}

// lazyIterator calls open when its first document is requested. Stages that must read
// all their input use it, so that Open does not read.
type lazyIterator struct {
	open   func() (Iterator, error)
	it     Iterator
	src    Iterator
	closed bool
}

// Lazy returns an iterator that calls open when its first document is requested.
// Closing it closes src.
func Lazy(src Iterator, open func() (Iterator, error)) Iterator {
	return &lazyIterator{open: open, src: src}
}

func (l *lazyIterator) Next() (value.Doc, error) {
	if l.closed {
		return nil, nil
	}
	if l.it == nil {
		it, err := l.open()
		if err != nil {
			return nil, err
		}
		l.it = it
	}
	return l.it.Next()
}

func (l *lazyIterator) Close() {
	l.closed = true
	if l.it != nil {
		l.it.Close()
	}
	if l.src != nil {
		l.src.Close()
	}
}
