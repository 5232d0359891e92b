package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// recorder notes what one engine transaction does, and at its end appends
// that to the change log. A multi-document transaction has one recorder for
// all its statements.
type recorder struct {
	log   *changeLog
	tx    storage.Tx
	now   int64
	inTxn bool // a multi-document transaction: one applyOps entry for all
	lsid  value.Doc
	txn   int64

	ops     []byte // documents {op, ns, ui, o, …}, one after the other
	marks   []loggedOp
	images  []preImage
	out     []byte // the entry being written
	last    uint64 // timestamp of the last entry
	bytes   int64  // appended
	lastID  storage.RecordID
	woken   []*watcher
	marking uint64 // its number among those that marked entries; 0: none
	tree    loggedTx
	coll    loggedCollection // the first that was opened
	b       value.Builder    // of ops, then of out

	// What the writer says of the change it is about to make.
	modifying storage.Namespace // collMod is at work on it
	replacing bool              // the document is replaced, not updated
	touched   []string          // paths that the update names, nil: any
	changed   []byte            // the elements it has changed, if that is known to be all
	expired   *ttl.Expired      // why the record is removed
	stmt      int32             // statement of a retryable write
	keep      imageKind         // version of the document that findAndModify returns
	image     value.Doc
}

// loggedOp is one operation among the recorded ones.
type loggedOp struct {
	end     int // of its document in ops
	command bool
	ns      storage.Namespace
	stmt    int32    // of a retryable write
	drop    [16]byte // uuid of a dropped collection
}

// preImage is a document before the operation of that number.
type preImage struct {
	op   int
	uuid [16]byte
	doc  value.Doc
}

// Bounds of one entry of the log; what is larger becomes several.
const (
	maxEntryBytes = 8 << 20
	maxEntryOps   = 5000
)

// logged returns the transaction as commands work with it: every change is
// noted.
func (r *recorder) logged() storage.Tx {
	if r.log.off && !r.inTxn && r.stmt == noStatement {
		return r.tx
	}
	r.tree = loggedTx{Tx: r.tx, r: r}
	return &r.tree
}

// add notes an operation; write adds its fields.
func (r *recorder) add(kind string, ns storage.Namespace, uuid *[16]byte, write func(b *value.Builder)) {
	b := &r.b
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
	r.marks = append(r.marks, loggedOp{end: len(r.ops), command: kind == "c", ns: ns, stmt: r.stmt})
}

func (r *recorder) insert(info *storage.Info, d value.Doc, ts int64) {
	if r.keep == imageAfter { // an upsert
		r.image = metaOf(info).shown(d, ts).Clone()
	} else if r.keep == imageBefore {
		r.image = nil
	}
	r.add("i", info.Namespace, &info.UUID, func(b *value.Builder) { b.Document("o", d) })
}

func (r *recorder) update(info *storage.Info, before storage.Record, new value.Doc, ts int64) {
	old := before.Doc
	if string(old) == string(new) {
		return
	}
	if r.keep == imageBefore {
		r.image = metaOf(info).shown(old, before.TS)
	} else if r.keep == imageAfter {
		r.image = append(r.image[:0:0], metaOf(info).shown(new, ts)...)
	}
	r.keepImage(info, before)
	r.add("u", info.Namespace, &info.UUID, func(b *value.Builder) {
		switch {
		case r.replacing:
			b.Document("o", new)
		case r.changed != nil:
			b.StartDocument("o").Int32("$v", 2).StartDocument("diff").StartDocument("u").Raw(r.changed).End().End().End()
		default:
			x := differ{touched: r.touched}
			b.StartDocument("o").Int32("$v", 2).StartDocument("diff")
			x.diffDocs(b, old, new)
			b.End().End()
		}
		appendKeyDoc(b, "o2", old)
	})
}

func (r *recorder) remove(info *storage.Info, before storage.Record) {
	old := before.Doc
	r.keepImage(info, before)
	if r.keep != noImage {
		r.image = metaOf(info).shown(old, before.TS)
	}
	r.add("d", info.Namespace, &info.UUID, func(b *value.Builder) {
		appendKeyDoc(b, "o", old)
		r.appendExpiration(b)
	})
}

// appendExpiration tells why the record, or collection, is removed.
func (r *recorder) appendExpiration(b *value.Builder) {
	e := r.expired
	if e == nil {
		return
	}
	b.StartDocument("expiration").String("policy", e.Policy.String()).Date("dueAt", e.At).Date("removedAt", e.Removed)
	if e.Cause != "" {
		b.String("cause", string(e.Cause))
	}
	b.End()
	r.expired = nil
}

func (r *recorder) keepImage(info *storage.Info, old storage.Record) {
	if m := metaOf(info); m.preImages {
		r.images = append(r.images, preImage{op: len(r.marks), uuid: info.UUID, doc: m.shown(old.Doc, old.TS)})
	}
}

// appendKeyDoc writes {_id: …}.
func appendKeyDoc(b *value.Builder, name string, d value.Doc) {
	b.StartDocument(name).Append("_id", d.Lookup("_id")).End()
}

// hasStatements reports whether statements of a retryable write were noted.
func (r *recorder) hasStatements() bool {
	for i := range r.marks {
		if !r.marks[i].command && r.marks[i].stmt != noStatement {
			return true
		}
	}
	return false
}

// room refuses to let a transaction grow without bound.
func (r *recorder) room(more int) error {
	if !r.inTxn {
		return nil
	}
	if limit := r.log.txnBytes(); int64(len(r.ops)+more) > limit {
		return mongoerr.Newf(mongoerr.TransactionTooLarge, "Total size of all transaction operations must be less than server parameter 'transactionSizeLimitBytes' = %d", limit)
	}
	return nil
}

// flush appends what was noted to the log, as part of the transaction.
func (r *recorder) flush() error {
	if len(r.marks) == 0 || r.log.off {
		return nil
	}
	coll, err := r.tx.Collection(oplogNS)
	if err != nil {
		return err
	}
	for first := 0; first < len(r.marks); {
		end := r.entryEnd(first)
		if err := r.append(coll, first, end); err != nil {
			return err
		}
		first = end
	}
	return nil
}

// entryEnd is the operation behind those that share an entry with the
// first.
func (r *recorder) entryEnd(first int) int {
	if !r.inTxn && r.marks[first].command {
		return first + 1
	}
	end := first + 1
	for end < len(r.marks) && end-first < maxEntryOps && r.marks[end].end-r.start(first) < maxEntryBytes &&
		(r.inTxn || !r.marks[end].command) {
		end++
	}
	return end
}

func (r *recorder) start(i int) int {
	if i == 0 {
		return 0
	}
	return r.marks[i-1].end
}

func (r *recorder) op(i int) value.Doc { return value.Doc(r.ops[r.start(i):r.marks[i].end]) }

// append writes one entry.
func (r *recorder) append(coll storage.Collection, first, end int) error {
	ts := r.log.stamps.next(r.now)
	b := &r.b
	b.Reset(r.out[:0])
	if r.inTxn {
		b.Document("lsid", r.lsid).Int64("txnNumber", r.txn)
	}
	if end-first == 1 && !r.inTxn {
		it := r.op(first).Iter()
		b.Raw(it.Rest())
	} else {
		r.applyOps(b, first, end)
	}
	b.Append("ts", stampValue(ts)).Int64("t", r.log.term.Load()).Int64("v", 2).Date("wall", r.now)
	if r.inTxn {
		b.StartDocument("prevOpTime").Append("ts", stampValue(r.previous(first))).Int64("t", r.previousTerm(first)).End()
	}
	d := b.Doc()
	r.out = b.Bytes()
	id, err := coll.Insert(d, r.now)
	if err != nil {
		return err
	}
	r.last, r.lastID = ts, id
	r.bytes += int64(len(d))
	r.log.mark(r, id, first, end)
	return r.saveImages(ts, first, end)
}

func (r *recorder) applyOps(b *value.Builder, first, end int) {
	b.String("op", "c").String("ns", "admin.$cmd")
	b.StartDocument("o").StartArray("applyOps")
	for i := first; i < end; i++ {
		b.Document("", r.op(i))
	}
	b.End()
	if r.inTxn && end < len(r.marks) {
		b.Bool("partialTxn", true)
	}
	if r.inTxn && first > 0 && end == len(r.marks) {
		b.Int64("count", int64(end))
	}
	b.End()
}

func (r *recorder) previous(first int) uint64 {
	if first == 0 {
		return 0
	}
	return r.last
}

func (r *recorder) previousTerm(first int) int64 {
	if first == 0 {
		return -1
	}
	return r.log.term.Load()
}

// saveImages stores the documents as they were before the operations, where
// the collection asks for it.
func (r *recorder) saveImages(ts uint64, first, end int) error {
	if len(r.images) == 0 {
		return nil
	}
	coll, err := ensureCollection(r.tx, preImagesNS, true)
	if err != nil {
		return err
	}
	for _, p := range r.images {
		if p.op < first || p.op >= end {
			continue
		}
		b := value.NewBuilder()
		b.Document("_id", preImageID(p.uuid, ts, int64(p.op-first))).Date("operationTime", r.now).Document("preImage", p.doc)
		if _, err := coll.Insert(b.Doc(), r.now); err != nil {
			return err
		}
	}
	return nil
}

func preImageID(uuid [16]byte, ts uint64, op int64) value.Doc {
	return value.NewDoc("nsUUID", value.Binary(4, uuid[:]), "ts", stampValue(ts), "applyOpsIndex", value.Int64(op))
}

// committed is called after the engine transaction has been committed.
func (r *recorder) committed() {
	for _, w := range r.woken {
		w.signal()
	}
	r.log.appended(r.bytes)
}

// release gives the recorder back for another transaction.
func (r *recorder) release() {
	const keep = 256 << 10
	if cap(r.ops) > keep || cap(r.out) > keep {
		return
	}
	clear(r.woken)
	clear(r.images)
	*r = recorder{ops: r.ops[:0], marks: r.marks[:0], out: r.out[:0], images: r.images[:0], woken: r.woken[:0], b: r.b}
	r.b.Forget()
	recorders.Put(r)
}
