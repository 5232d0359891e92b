package order

import (
	"encoding/binary"
	"slices"
)

// heapItem is a record in the heap of a sorter with a limit, which keeps the best records and,
// once it is full, has the worst on top. It is a heap of small items, because records are large to move, and their keys mostly differ
// in the first bytes.
type heapItem struct {
	head uint64 // the first bytes of the key
	at   int    // position of the record
}

func itemOf(r *Record, at int) heapItem {
	if len(r.Key) >= 8 {
		return heapItem{binary.BigEndian.Uint64(r.Key), at}
	}
	var head [8]byte
	copy(head[:], r.Key)
	return heapItem{binary.BigEndian.Uint64(head[:]), at}
}

// worst returns the worst record of a full sorter.
func (r *Sorter) worst() *Record { return &r.records[r.heap[0].at] }

func (r *Sorter) heapify() {
	r.heap = slices.Grow(r.heap[:0], len(r.records))
	for i := range r.records {
		r.heap = append(r.heap, itemOf(&r.records[i], i))
	}
	for i := len(r.heap)/2 - 1; i >= 0; i-- {
		r.siftDown(i)
	}
}

// replaceWorst takes a record in place of the worst, if it is better.
func (r *Sorter) replaceWorst(rec Record) error {
	worst := r.worst()
	if compare(&rec, worst) >= 0 {
		return nil
	}
	if r.own {
		rec.Doc = rec.Doc.Clone()
	}
	key := worst.Key
	r.size -= worst.Size()
	rec.Key = append(key[:0], rec.Key...) // nobody else has the old one
	r.size += rec.Size()
	*worst = rec
	r.replaced++
	r.heap[0] = itemOf(worst, r.heap[0].at)
	r.siftDown(0)
	if r.size > r.memory {
		return r.spill()
	}
	return nil
}

func (r *Sorter) siftDown(i int) {
	h := r.heap
	item := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && r.worse(h[child+1], h[child]) {
			child++
		}
		if !r.worse(h[child], item) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = item
}

// worse reports whether a record comes behind another.
func (r *Sorter) worse(a, b heapItem) bool {
	if a.head != b.head {
		return a.head > b.head
	}
	return compare(&r.records[a.at], &r.records[b.at]) > 0
}
