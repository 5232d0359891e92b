package oplog

import (
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// Recorder records the changes of one engine transaction and appends them to the change log
// at its end. A multi-document transaction has one recorder for all its statements.
//
//  1. NewRecorder or NewTxnRecorder begins it.
//  2. Logged returns the transaction that commands use. Each change through it becomes an
//     operation; removals come with their reason (DeleteBecause), updates with their Change.
//  3. Flush writes the operations as entries, within the transaction, and marks the groups of
//     change streams that they concern.
//  4. Committed wakes these groups and reports what was removed, if the commit succeeded.
//  5. Release gives its memory to the next recorder.
type Recorder struct {
	log *Log
	txn *txnID     // the multi-document transaction; nil for any other
	Tx  storage.Tx // the engine transaction whose changes are recorded
	Now int64      // the time of the changes, in milliseconds since the epoch

	Statement  Statement // the statement whose changes are being recorded
	operations           // the recorded operations
	images     []preImage
	entry      entry // the entry being written
	streams    markedStreams

	gone   []Gone     // collections dropped or renamed, recorded also without a log
	Purged ttl.Purged // expired documents that made room for the changes

	// The wrappers that Logged and loggedTx.Collection return, here so that they need no
	// memory of their own.
	tree loggedTx
	bare goneTx           // the wrapper without a log
	coll loggedCollection // the wrapper of the first opened collection
}

// txnID identifies a multi-document transaction.
type txnID struct {
	lsid   value.Doc
	number int64
}

// Statement is the statement of a retryable write that the next changes belong to.
type Statement struct {
	ID      int32     // NoStatement: the write is not retryable
	Returns ImageKind // version of the document that findAndModify returns
	Image   value.Doc // the document that findAndModify returned; nil: none
}

// Change says how an update is described in its entry.
type Change struct {
	Replaces bool     // the document is replaced, not updated
	Touched  []string // paths that the update names; nil: any
	Changed  []byte   // the changed elements, if Changed and Added are complete
	Added    []byte   // the appended elements
}

// preImage is a document before the operation of that number.
type preImage struct {
	op   int
	uuid [16]byte
	doc  value.Doc
}

// Logged returns the transaction that commands use: it records every change.
func (r *Recorder) Logged() storage.Tx {
	if r.log.Off && r.txn == nil && r.Statement.ID == NoStatement {
		r.bare = goneTx{Tx: r.Tx, r: r}
		return &r.bare
	}
	r.tree = loggedTx{Tx: r.Tx, r: r}
	return &r.tree
}

func (r *Recorder) insert(info *storage.Info, id storage.RecordID, d value.Doc, ts int64) {
	switch r.Statement.Returns {
	case ImageAfter: // an upsert
		r.Statement.Image = catalog.Of(info).Shown(d, ts).Clone()
	case ImageBefore:
		r.Statement.Image = nil
	}
	at := 0
	r.add("i", info.Namespace, &info.UUID, func(b *value.Builder) { at = b.Document("o", d).Len() - len(d) })
	r.contains(id, at)
}

func (r *Recorder) update(info *storage.Info, before storage.Record, new value.Doc, ts int64, how *Change) {
	old := before.Doc
	if string(old) == string(new) {
		return
	}
	switch r.Statement.Returns {
	case ImageBefore:
		r.Statement.Image = catalog.Of(info).Shown(old, before.TS)
	case ImageAfter:
		r.Statement.Image = append(r.Statement.Image[:0:0], catalog.Of(info).Shown(new, ts)...)
	}
	r.addPreImage(info, before)
	at := 0
	r.add("u", info.Namespace, &info.UUID, func(b *value.Builder) {
		switch {
		case how.Replaces:
			at = b.Document("o", new).Len() - len(new)
		case len(how.Changed) > 0 || len(how.Added) > 0:
			b.StartDocument("o").Int32("$v", 2).StartDocument("diff")
			(&fields{how.Changed}).appendAs(b, "u")
			(&fields{how.Added}).appendAs(b, "i")
			b.End().End()
		default:
			b.StartDocument("o").Int32("$v", 2).StartDocument("diff")
			AppendDiff(b, old, new, how.Touched)
			b.End().End()
		}
		appendKeyDoc(b, "o2", old)
	})
	if how.Replaces {
		r.contains(before.ID, at)
	}
}

// remove records a removal. reason is nil if a client requested it.
func (r *Recorder) remove(info *storage.Info, before storage.Record, reason storage.Reason) {
	old := before.Doc
	r.addPreImage(info, before)
	if r.Statement.Returns != NoImage {
		r.Statement.Image = catalog.Of(info).Shown(old, before.TS)
	}
	r.add("d", info.Namespace, &info.UUID, func(b *value.Builder) {
		appendKeyDoc(b, "o", old)
		appendReason(b, reason)
	})
}

func appendReason(b *value.Builder, reason storage.Reason) {
	if reason != nil {
		reason.AppendReason(b)
	}
}

func (r *Recorder) addPreImage(info *storage.Info, old storage.Record) {
	if m := catalog.Of(info); m.PreImages {
		r.images = append(r.images, preImage{op: len(r.Marks), uuid: info.UUID, doc: m.Shown(old.Doc, old.TS)})
	}
}

// appendKeyDoc writes {_id: …}.
func appendKeyDoc(b *value.Builder, name string, d value.Doc) {
	b.StartDocument(name).Append("_id", d.Lookup("_id")).End()
}

// ShardCollection records that a collection has got a shard key. The entry changes nothing;
// change streams show it.
func (r *Recorder) ShardCollection(info *storage.Info, key value.Doc, unique bool, chunks *int64) {
	full := info.Namespace.String()
	r.add("n", info.Namespace, &info.UUID, func(b *value.Builder) {
		b.StartDocument("o").StartDocument("msg").String(ShardEvent, full).End().End()
		b.StartDocument("o2").String(ShardEvent, full).Document("shardKey", key).Bool("unique", unique)
		if chunks != nil {
			b.Int64("numInitialChunks", *chunks)
		}
		b.End()
	})
	r.last().Command = true // an entry of its own
}

// ShardEvent is the kind of the event about a new shard key.
const ShardEvent = token.ShardEvent

// room returns an error if the transaction becomes too large.
func (r *Recorder) room(more int) error {
	if r.txn == nil {
		return nil
	}
	if limit := r.log.TxnBytes(); int64(len(r.docs)+more) > limit {
		return mongoerr.Newf(mongoerr.TransactionTooLarge, "Total size of all transaction operations must be less than server parameter 'transactionSizeLimitBytes' = %d", limit)
	}
	return nil
}

// Committed is called after the engine transaction has been committed.
func (r *Recorder) Committed() {
	r.streams.wake()
	r.log.Appended(r.entry.bytes)
	if len(r.Purged) > 0 {
		r.log.OnPurged(r.Purged)
	}
	if len(r.gone) > 0 {
		r.log.OnGone(r.gone)
	}
}

// Release makes the recorder available for another transaction.
func (r *Recorder) Release() {
	const maxKept = 256 << 10 // larger buffers are left to the garbage collector
	if cap(r.docs) > maxKept || cap(r.entry.b.Bytes()) > maxKept {
		return
	}
	clear(r.images)
	r.clear()
	r.streams.clear()
	r.b.Forget()
	*r = Recorder{operations: r.operations, images: r.images[:0], streams: r.streams,
		entry: entry{b: r.entry.b, quotes: r.entry.quotes[:0]}}
	recorders.Put(r)
}

// NoStatement marks writes that are not statements of a retryable write.
const NoStatement = -1

// ImageKind says which version of the document findAndModify returns.
type ImageKind uint8

const (
	NoImage     ImageKind = iota // none: the command is no findAndModify that may be retried
	ImageBefore                  // the document before the change
	ImageAfter                   // the document after the change
)
