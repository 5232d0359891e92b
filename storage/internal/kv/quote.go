package kv

import (
	"bytes"
	"slices"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Quote says that the value of the write By has, from At on, the document of the record that
// the write Of sets: all of its value but the time of its last write.
type Quote struct{ By, Of, At int }

// pendingQuote is a quote of a record that may change again before the commit.
type pendingQuote struct {
	by, of writtenRecord
	at     int // in the value
}

// minQuoted is the length of a value that is worth a quote.
const minQuoted = 24

var _ storage.Quoter = (*collection)(nil)

// InsertQuoting implements storage.Quoter, for a store that logs its writes.
func (h *collection) InsertQuoting(doc value.Doc, ts int64, quotes []storage.Quote) (storage.RecordID, error) {
	id, err := h.Insert(doc, ts)
	if err != nil || h.tx.Txn != nil || h.tx.fork == nil {
		return id, err
	}
	by := writtenRecord{h.at().Num, id}
	var of *Coll
	for _, q := range quotes {
		if of == nil || of.Info.Namespace != q.Namespace {
			of = h.tx.Root.Get(q.Namespace)
		}
		if of != nil && of.Change != nil {
			h.tx.quotes = append(h.tx.quotes, pendingQuote{by: by, of: writtenRecord{of.Num, q.ID}, at: recordOverhead + q.At})
		}
	}
	return id, nil
}

// collectQuotes adds the quotes that are true to the writes of a commit.
func (t *Tx) collectQuotes(w *WriteSet) {
	by, likely, end := -1, 0, 0 // the quoting record, the next one to be quoted, the end of the last quote
	for i := range t.quotes {
		q := &t.quotes[i]
		if i == 0 || q.by != t.quotes[i-1].by {
			by, end = t.find(w, q.by, by+1), 0
		}
		of := t.find(w, q.of, likely)
		if by < 0 || of < 0 || by == of {
			continue
		}
		likely = of + 1
		value, stored := w.Writes[by].Value, w.Writes[of].Value
		if len(stored) < minQuoted || q.at < end || q.at+len(stored)-recordOverhead > len(value) ||
			!bytes.HasPrefix(value[q.at:], stored[recordOverhead:]) {
			continue
		}
		end = q.at + len(stored) - recordOverhead
		w.Quotes = append(w.Quotes, Quote{By: by, Of: of, At: q.at})
	}
	slices.SortStableFunc(w.Quotes, func(a, b Quote) int { return a.By - b.By })
}

// find returns the position of the write of a record; likely is tried first. It returns -1 if
// there is none.
func (t *Tx) find(w *WriteSet, r writtenRecord, likely int) int {
	for _, ch := range t.Changes {
		if ch.After == nil || ch.After.Num != r.num {
			continue
		}
		i := likely - ch.first
		if i < 0 || i >= len(ch.written) || ch.written[i] != r.id {
			var ok bool
			if i, ok = slices.BinarySearch(ch.written, r.id); !ok {
				return -1
			}
		}
		return ch.first + i
	}
	return -1
}
