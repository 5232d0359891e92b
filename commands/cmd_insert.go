package commands

import (
	"errors"
	"sync"

	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type insertArgs struct {
	Insert    value.Value `arg:"insert,required"`
	Documents array       `arg:"documents"`
	Ordered   flag        `arg:"ordered"`
	Bypass    looseBool   `arg:"bypassDocumentValidation"`
	EmptyTS   strictBool  `arg:"bypassEmptyTsReplacement,own"` // see keepsEmptyTimestamps
	EncInfo   value.Value `arg:"encryptionInformation"`
	UUID      uuidArg     `arg:"collectionUUID"`
}

var insertSpec = newArgs[insertArgs]("insert")

// insertChunk bounds the documents, and insertBytes the bytes, of one engine
// transaction: what a batch may hold up other writers for.
const (
	insertChunk = 1000
	insertBytes = 4 << 20
)

func runInsert(c *Call) error {
	a := insertSpec.borrow()
	defer insertSpec.giveBack(a)
	if err := insertSpec.decode(c.Body, a); err != nil {
		return err
	}
	ns, err := c.writeNamespace(a.Insert)
	if err != nil {
		return err
	}
	docs, err := c.batch("documents", a.Documents)
	if err != nil {
		return err
	}
	c.svc.metrics.opcounters.insert.Add(int64(docs.n))
	w := newBatch(c, ns, a.Ordered.or(true), bool(a.Bypass))
	w.uuid = a.UUID
	defer w.release()
	if err := w.insertAll(docs); err != nil {
		return err
	}
	c.svc.metrics.document.inserted.Add(w.n)
	c.reply.Int32("n", int32(w.n))
	c.leavesNothing()
	w.finish()
	return nil
}

// batchWrite collects the outcome of the statements of one write command.
type batchWrite struct {
	c       *Call
	ns      storage.Namespace
	ordered bool
	bypass  bool
	uuid    uuidArg // of the collection that the client expects
	n       int64
	errs    []*mongoerr.WriteError
	stopped bool

	// Of an insert.
	chunk  []numbered // the documents of the running engine transaction
	done   int64      // of them
	before int        // errors of the chunks before
	writer writer
	insert func(storage.Tx) error // insertNow, made once
}

var batchWrites = sync.Pool{New: func() any {
	w := &batchWrite{}
	w.insert = w.insertNow
	return w
}}

// newBatch begins a write command; it is over with release.
func newBatch(c *Call, ns storage.Namespace, ordered, bypass bool) *batchWrite {
	w := batchWrites.Get().(*batchWrite)
	w.c, w.ns, w.ordered, w.bypass = c, ns, ordered, bypass
	return w
}

func (w *batchWrite) release() {
	const keep = 16
	if cap(w.chunk) > keep {
		w.chunk = nil
	}
	clear(w.chunk[:cap(w.chunk)])
	*w = batchWrite{chunk: w.chunk[:0], insert: w.insert}
	batchWrites.Put(w)
}

// fail notes the error of one statement. Errors that end the whole command
// are returned.
func (w *batchWrite) fail(i int, err error) error {
	if fatal(err) {
		return err
	}
	if t := w.c.transaction(); t != nil { // it ends, and with it the batch
		if transient(err) {
			return err
		}
		t.failed = true
		w.errs, w.stopped = append(w.errs, mongoerr.NewWriteError(i, err)), true
		return nil
	}
	w.errs = append(w.errs, mongoerr.NewWriteError(i, err))
	w.stopped = w.ordered
	return nil
}

// fatal tells errors of a statement from errors of the command.
func fatal(err error) bool {
	switch mongoerr.CodeOf(err) {
	case mongoerr.Interrupted, mongoerr.InterruptedAtShutdown, mongoerr.MaxTimeMSExpired, mongoerr.ClientDisconnect,
		mongoerr.CommandNotSupportedOnView, mongoerr.InvalidNamespace:
		return true
	}
	return false
}

// finish writes the errors.
func (w *batchWrite) finish() {
	if len(w.errs) > 0 {
		mongoerr.AppendWriteErrors(w.c.reply, w.errs)
	}
	w.c.appendRetried()
}

type numbered struct {
	i int
	d value.Doc
}

// insertAll inserts the documents in chunks, each in one engine transaction.
func (w *batchWrite) insertAll(docs docList) error {
	bytes := 0
	for i := range docs.n {
		d, _ := docs.next()
		if w.c.statement(i) != nil { // inserted by an earlier attempt
			w.n++
			continue
		}
		prepared, err := w.c.prepareInsert(d)
		if err != nil {
			if w.ordered { // what came before is stored first
				if err := w.insertChunk(); err != nil || w.stopped {
					return err
				}
				return w.fail(i, err)
			}
			if err := w.fail(i, err); err != nil {
				return err
			}
			continue
		}
		w.chunk, bytes = append(w.chunk, numbered{i, prepared}), bytes+len(prepared)
		if len(w.chunk) < insertChunk && bytes < insertBytes {
			continue
		}
		if err := w.insertChunk(); err != nil || w.stopped {
			return err
		}
		bytes = 0
	}
	return w.insertChunk()
}

// insertChunk inserts the collected documents in one transaction; those that
// fail leave the others in.
func (w *batchWrite) insertChunk() error {
	if len(w.chunk) == 0 {
		return nil
	}
	w.done, w.before = 0, len(w.errs)
	if err := w.c.update(w.insert); err != nil {
		return w.failChunk(translate(w.ns, err))
	}
	w.n += w.done
	w.chunk = w.chunk[:0]
	return nil
}

// failChunk notes that a transaction could not be committed. What the chunks
// before have inserted stays, so it is an error of its statements, not of the
// command.
func (w *batchWrite) failChunk(err error) error {
	switch mongoerr.CodeOf(err) {
	case mongoerr.OutOfDiskSpace, mongoerr.InternalError:
	default:
		return err
	}
	w.errs, w.stopped = w.errs[:w.before], false
	err = w.failAll(err)
	w.chunk = w.chunk[:0]
	return err
}

// failAll notes that nothing of the chunk could be inserted, for one reason.
func (w *batchWrite) failAll(reason error) error {
	for _, e := range w.chunk {
		if err := w.fail(e.i, reason); err != nil || w.stopped {
			return err
		}
	}
	return nil
}

// insertNow is the engine transaction; it may be tried again.
func (w *batchWrite) insertNow(tx storage.Tx) error {
	w.done, w.errs, w.stopped = 0, w.errs[:w.before], false
	if err := checkUUID(tx, w.ns, w.uuid); err != nil {
		return w.failAll(err)
	}
	coll, err := w.c.collectionForInsert(tx, w.ns)
	if err != nil {
		return err
	}
	if metaOf(coll.Info()).kind == timeSeries {
		return w.c.insertMeasurements(tx, coll, w, w.chunk, &w.done)
	}
	w.writer.bypass = w.bypass
	w.writer.open(w.c, tx, coll)
	for _, e := range w.chunk {
		w.c.atStatement(e.i)
		if _, err := w.writer.insert(e.d); err != nil {
			if retry(err) {
				return err
			}
			if err := w.fail(e.i, err); err != nil {
				return err
			}
			if w.stopped {
				return nil
			}
			continue
		}
		w.done++
	}
	return nil
}

// retry tells errors after which the engine transaction as a whole has to be
// tried again or given up.
func retry(err error) bool {
	return errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrClosed)
}

// collectionForInsert opens a collection to write into, creating it if
// needed.
func (c *Call) collectionForInsert(tx storage.Tx, ns storage.Namespace) (storage.Collection, error) {
	coll, err := tx.Collection(ns)
	if errors.Is(err, storage.ErrNotFound) {
		if err := checkUserNamespace(ns); err != nil {
			return nil, err
		}
		return tx.Create(ns, value.EmptyDoc, []storage.IndexSpec{index.IDSpec(nil).Stored()})
	}
	if err != nil {
		return nil, err
	}
	return coll, c.checkWritable(coll)
}

// checkWritable refuses writes to what is not a plain collection.
func (c *Call) checkWritable(coll storage.Collection) error {
	if metaOf(coll.Info()).kind == view {
		return errIsView(coll.Info().Namespace)
	}
	return nil
}
