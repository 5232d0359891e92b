package oplog

import (
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// Bounds of one entry of the log. Larger transactions have several entries.
const (
	maxEntryBytes = 8 << 20
	maxEntryOps   = 5000
)

// entry is the entry being written, and what is remembered of those before.
type entry struct {
	b      value.Builder   // its memory is used again
	quotes []storage.Quote // documents of the entry that are those of records
	last   uint64          // timestamp of the last entry
	bytes  int64           // size of the entries of this run of the transaction
}

// Last returns the timestamp of the last entry.
func (r *Recorder) Last() uint64 { return r.entry.last }

// Scratch returns a builder for one document, which uses the memory of entries.
func (r *Recorder) Scratch() *value.Builder {
	b := &r.entry.b
	b.Reset(b.Bytes()[:0])
	return b
}

// Flush appends the recorded operations to the log, as part of the transaction.
func (r *Recorder) Flush() error {
	if len(r.Marks) == 0 || r.log.Off {
		return nil
	}
	coll, err := r.Tx.Collection(Namespace)
	if err != nil {
		return err
	}
	r.entry.bytes = 0 // an earlier run was undone
	for first := 0; first < len(r.Marks); {
		end := r.entryEnd(first)
		if err := r.append(coll, first, end); err != nil {
			return err
		}
		first = end
	}
	return nil
}

// entryEnd returns the number of the first operation that no longer fits into the entry
// that begins with the operation first.
func (r *Recorder) entryEnd(first int) int {
	if r.txn == nil && r.Marks[first].Command {
		return first + 1
	}
	end := first + 1
	for end < len(r.Marks) && end-first < maxEntryOps && r.Marks[end].end-r.start(first) < maxEntryBytes &&
		(r.txn != nil || !r.Marks[end].Command) {
		end++
	}
	return end
}

// append writes one entry.
func (r *Recorder) append(coll storage.Collection, first, end int) error {
	ts, err := r.log.Stamps.Commit(r.Tx, r.Now)
	if err != nil {
		return err
	}
	b := r.Scratch()
	r.entry.quotes = r.entry.quotes[:0]
	if r.txn != nil {
		b.Document("lsid", r.txn.lsid).Int64("txnNumber", r.txn.number)
	}
	if end-first == 1 && r.txn == nil {
		it := r.Op(first).Iter()
		r.quote(first, b.Len()-lengthBytes)
		b.Raw(it.Rest())
	} else {
		r.applyOps(b, first, end)
	}
	b.Append("ts", clustertime.Value(ts)).Int64("t", r.log.Term.Load()).Int64("v", 2).Date("wall", r.Now)
	if r.txn != nil {
		b.StartDocument("prevOpTime").Append("ts", clustertime.Value(r.previous(first))).Int64("t", r.previousTerm(first)).End()
	}
	d := b.Doc()
	id, err := storage.InsertQuoting(coll, d, r.Now, r.entry.quotes)
	if err != nil {
		return err
	}
	r.entry.last = ts
	r.entry.bytes += int64(len(d))
	r.log.mark(&r.operations, &r.streams, id, first, end)
	return r.saveImages(ts, first, end)
}

func (r *Recorder) applyOps(b *value.Builder, first, end int) {
	b.String("op", "c").String("ns", "admin.$cmd")
	b.StartDocument("o").StartArray("applyOps")
	for i := first; i < end; i++ {
		op := r.Op(i)
		r.quote(i, b.Document("", op).Len()-len(op))
	}
	b.End()
	if r.txn != nil && end < len(r.Marks) {
		b.Bool("partialTxn", true)
	}
	if r.txn != nil && first > 0 && end == len(r.Marks) {
		b.Int64("count", int64(end))
	}
	b.End()
}

// lengthBytes is the size of the length at the beginning of a document.
const lengthBytes = 4

// quote notes that the entry has an operation with the document of a record; the operation
// begins at a position of the entry.
func (r *Recorder) quote(op, at int) {
	if m := &r.Marks[op]; m.record != 0 {
		r.entry.quotes = append(r.entry.quotes, storage.Quote{At: at + m.doc, Namespace: m.ns, ID: m.record})
	}
}

func (r *Recorder) previous(first int) uint64 {
	if first == 0 {
		return 0
	}
	return r.entry.last
}

func (r *Recorder) previousTerm(first int) int64 {
	if first == 0 {
		return -1
	}
	return r.log.Term.Load()
}

// saveImages stores the pre-images of the operations, for collections with
// changeStreamPreAndPostImages.
func (r *Recorder) saveImages(ts uint64, first, end int) error {
	if len(r.images) == 0 {
		return nil
	}
	coll, err := serverdocs.Open(r.Tx, PreImages)
	if err != nil {
		return err
	}
	for _, p := range r.images {
		if p.op < first || p.op >= end {
			continue
		}
		b := value.NewBuilder()
		b.Document("_id", PreImageID(p.uuid, ts, int64(p.op-first))).Date("operationTime", r.Now).Document("preImage", p.doc)
		if _, err := coll.Insert(b.Doc(), r.Now); err != nil {
			return err
		}
	}
	return nil
}

// PreImageID is the _id of the pre-image of an operation: op is its number within the
// entry with that cluster time.
func PreImageID(uuid [16]byte, ts uint64, op int64) value.Doc {
	return value.NewDoc("nsUUID", value.Binary(4, uuid[:]), "ts", clustertime.Value(ts), "applyOpsIndex", value.Int64(op))
}
