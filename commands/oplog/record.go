package oplog

import (
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// Recorder records the changes of one engine transaction and appends them to the change log
// at its end. A multi-document transaction has one recorder for all its statements.
type Recorder struct {
	log   *Log
	Tx    storage.Tx // the engine transaction whose changes are noted
	Now   int64      // instant of the changes, in milliseconds since the epoch
	InTxn bool       // a multi-document transaction: one applyOps entry for all
	LSID  value.Doc  // of a multi-document transaction
	Txn   int64      // its txnNumber

	ops     []byte     // documents {op, ns, ui, o, …}, one after the other
	Marks   []LoggedOp // the operations, in their order
	images  []preImage
	quotes  []storage.Quote // of the entry being written
	Out     []byte          // the entry being written
	Last    uint64          // timestamp of the last entry
	bytes   int64           // appended
	lastID  storage.RecordID
	woken   []*Watcher
	marking uint64 // its number among those that marked entries; 0: none
	tree    loggedTx
	bare    goneTx           // without a log
	coll    loggedCollection // the first that was opened
	B       value.Builder    // of ops, then of out

	// Set by the writer before each change.
	Modifying storage.Namespace // a collMod of this collection is running
	Replacing bool              // the document is replaced, not updated
	Touched   []string          // paths that the update names, nil: any
	Changed   []byte            // the elements it has changed, if Changed and Added are complete
	Added     []byte            // the elements it has appended
	Expired   *ttl.Expired      // why the record is removed
	Stmt      int32             // statement of a retryable write
	Keep      ImageKind         // version of the document that findAndModify returns
	Image     value.Doc         // that version, nil: no document

	gone []Gone // also without a log

	Settled ttl.Settled // expired documents that made room for the changes
}

// LoggedOp is one operation among the recorded ones.
type LoggedOp struct {
	end     int  // of its document in ops
	Command bool // an operation on a collection or database, not on a document
	ns      storage.Namespace
	Stmt    int32    // of a retryable write
	drop    [16]byte // uuid of a dropped collection

	record storage.RecordID // that was written; 0: its document is not in the operation
	doc    int              // where its document begins in the operation
}

// preImage is a document before the operation of that number.
type preImage struct {
	op   int
	uuid [16]byte
	doc  value.Doc
}

// Bounds of one entry of the log. Larger transactions have several entries.
const (
	maxEntryBytes = 8 << 20
	maxEntryOps   = 5000
)

// Logged returns the transaction that commands use: it records every change.
func (r *Recorder) Logged() storage.Tx {
	if r.log.Off && !r.InTxn && r.Stmt == NoStatement {
		r.bare = goneTx{Tx: r.Tx, r: r}
		return &r.bare
	}
	r.tree = loggedTx{Tx: r.Tx, r: r}
	return &r.tree
}

// add records an operation. write adds its fields.
func (r *Recorder) add(kind string, ns storage.Namespace, uuid *[16]byte, write func(b *value.Builder)) {
	b := &r.B
	b.Reset(r.ops)
	name := ns.DB + ".$cmd"
	if kind != "c" {
		name = ns.DB + "." + ns.Coll
	}
	b.String("op", kind).String("ns", name)
	if uuid != nil {
		b.Append("ui", value.Binary(4, uuid[:]))
	}
	write(b)
	b.Doc()
	r.ops = b.Bytes()
	r.Marks = append(r.Marks, LoggedOp{end: len(r.ops), Command: kind == "c", ns: ns, Stmt: r.Stmt})
}

func (r *Recorder) insert(info *storage.Info, id storage.RecordID, d value.Doc, ts int64) {
	switch r.Keep {
	case ImageAfter: // an upsert
		r.Image = catalog.Of(info).Shown(d, ts).Clone()
	case ImageBefore:
		r.Image = nil
	}
	at := 0
	r.add("i", info.Namespace, &info.UUID, func(b *value.Builder) { at = b.Document("o", d).Len() - len(d) })
	r.contains(id, at)
}

func (r *Recorder) update(info *storage.Info, before storage.Record, new value.Doc, ts int64) {
	old := before.Doc
	if string(old) == string(new) {
		return
	}
	switch r.Keep {
	case ImageBefore:
		r.Image = catalog.Of(info).Shown(old, before.TS)
	case ImageAfter:
		r.Image = append(r.Image[:0:0], catalog.Of(info).Shown(new, ts)...)
	}
	r.keepImage(info, before)
	at := 0
	r.add("u", info.Namespace, &info.UUID, func(b *value.Builder) {
		switch {
		case r.Replacing:
			at = b.Document("o", new).Len() - len(new)
		case len(r.Changed) > 0 || len(r.Added) > 0:
			b.StartDocument("o").Int32("$v", 2).StartDocument("diff")
			(&fields{r.Changed}).appendAs(b, "u")
			(&fields{r.Added}).appendAs(b, "i")
			b.End().End()
		default:
			x := differ{touched: r.Touched}
			b.StartDocument("o").Int32("$v", 2).StartDocument("diff")
			x.diff(b, old, new)
			b.End().End()
		}
		appendKeyDoc(b, "o2", old)
	})
	if r.Replacing {
		r.contains(before.ID, at)
	}
}

// contains notes that the last operation has the document of a record, which begins at a
// position of the operation.
func (r *Recorder) contains(id storage.RecordID, at int) {
	m := &r.Marks[len(r.Marks)-1]
	m.record, m.doc = id, at
}

func (r *Recorder) remove(info *storage.Info, before storage.Record) {
	old := before.Doc
	r.keepImage(info, before)
	if r.Keep != NoImage {
		r.Image = catalog.Of(info).Shown(old, before.TS)
	}
	r.add("d", info.Namespace, &info.UUID, func(b *value.Builder) {
		appendKeyDoc(b, "o", old)
		r.appendExpiration(b)
	})
}

// appendExpiration writes why the record or collection is removed.
func (r *Recorder) appendExpiration(b *value.Builder) {
	e := r.Expired
	if e == nil {
		return
	}
	b.StartDocument("expiration").String("policy", e.Policy.String()).Date("dueAt", e.At).Date("removedAt", e.Removed)
	if e.Cause != "" {
		b.String("cause", string(e.Cause))
	}
	b.End()
	r.Expired = nil
}

func (r *Recorder) keepImage(info *storage.Info, old storage.Record) {
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
	r.Marks[len(r.Marks)-1].Command = true // an entry of its own
}

// ShardEvent is the kind of the event about a new shard key.
const ShardEvent = token.ShardEvent

// HasStatements reports whether statements of a retryable write were noted.
func (r *Recorder) HasStatements() bool {
	for i := range r.Marks {
		if !r.Marks[i].Command && r.Marks[i].Stmt != NoStatement {
			return true
		}
	}
	return false
}

// room returns an error if the transaction becomes too large.
func (r *Recorder) room(more int) error {
	if !r.InTxn {
		return nil
	}
	if limit := r.log.TxnBytes(); int64(len(r.ops)+more) > limit {
		return mongoerr.Newf(mongoerr.TransactionTooLarge, "Total size of all transaction operations must be less than server parameter 'transactionSizeLimitBytes' = %d", limit)
	}
	return nil
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
	r.bytes = 0 // of an earlier run, which was undone
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
	if !r.InTxn && r.Marks[first].Command {
		return first + 1
	}
	end := first + 1
	for end < len(r.Marks) && end-first < maxEntryOps && r.Marks[end].end-r.start(first) < maxEntryBytes &&
		(r.InTxn || !r.Marks[end].Command) {
		end++
	}
	return end
}

func (r *Recorder) start(i int) int {
	if i == 0 {
		return 0
	}
	return r.Marks[i-1].end
}

// Op returns the operation of that number.
func (r *Recorder) Op(i int) value.Doc { return value.Doc(r.ops[r.start(i):r.Marks[i].end]) }

// append writes one entry.
func (r *Recorder) append(coll storage.Collection, first, end int) error {
	ts, err := r.log.Stamps.Commit(r.Tx, r.Now)
	if err != nil {
		return err
	}
	b := &r.B
	b.Reset(r.Out[:0])
	r.quotes = r.quotes[:0]
	if r.InTxn {
		b.Document("lsid", r.LSID).Int64("txnNumber", r.Txn)
	}
	if end-first == 1 && !r.InTxn {
		it := r.Op(first).Iter()
		r.quote(first, b.Len()-lengthBytes)
		b.Raw(it.Rest())
	} else {
		r.applyOps(b, first, end)
	}
	b.Append("ts", clustertime.Value(ts)).Int64("t", r.log.Term.Load()).Int64("v", 2).Date("wall", r.Now)
	if r.InTxn {
		b.StartDocument("prevOpTime").Append("ts", clustertime.Value(r.previous(first))).Int64("t", r.previousTerm(first)).End()
	}
	d := b.Doc()
	r.Out = b.Bytes()
	id, err := storage.InsertQuoting(coll, d, r.Now, r.quotes)
	if err != nil {
		return err
	}
	r.Last, r.lastID = ts, id
	r.bytes += int64(len(d))
	r.log.mark(r, id, first, end)
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
	if r.InTxn && end < len(r.Marks) {
		b.Bool("partialTxn", true)
	}
	if r.InTxn && first > 0 && end == len(r.Marks) {
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
		r.quotes = append(r.quotes, storage.Quote{At: at + m.doc, Namespace: m.ns, ID: m.record})
	}
}

func (r *Recorder) previous(first int) uint64 {
	if first == 0 {
		return 0
	}
	return r.Last
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

// Committed is called after the engine transaction has been committed.
func (r *Recorder) Committed() {
	for _, w := range r.woken {
		w.Signal()
	}
	r.log.Appended(r.bytes)
	if len(r.Settled) > 0 {
		r.log.OnSettled(r.Settled)
	}
	if len(r.gone) > 0 {
		r.log.OnGone(r.gone)
	}
}

// Release makes the recorder available for another transaction.
func (r *Recorder) Release() {
	const keep = 256 << 10
	if cap(r.ops) > keep || cap(r.Out) > keep {
		return
	}
	clear(r.woken)
	clear(r.images)
	*r = Recorder{ops: r.ops[:0], Marks: r.Marks[:0], Out: r.Out[:0], images: r.images[:0], quotes: r.quotes[:0], woken: r.woken[:0], B: r.B}
	r.B.Forget()
	recorders.Put(r)
}

// NoStatement marks writes that are not statements of a retryable write.
const NoStatement = -1

// ImageKind says which version of the document findAndModify returns.
type ImageKind uint8

const (
	NoImage     ImageKind = iota // none: the command is no findAndModify that may be retried
	ImageBefore                  // as it was before the change
	ImageAfter                   // as the change made it
)
