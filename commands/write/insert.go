package write

import (
	"errors"
	"sync"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// InsertChunk limits the documents, and InsertBytes the bytes, of one engine
// transaction of a batch, because other writers wait for it.
const (
	InsertChunk = 1000
	InsertBytes = 4 << 20
)

// BatchWrite collects the results of the statements of one write command.
type BatchWrite struct {
	C       *kernel.Call
	NS      storage.Namespace
	Ordered bool
	Bypass  bool
	UUID    args.UUID // UUID of the collection that the client expects
	N       int64
	Errs    []*mongoerr.WriteError
	room    mongoerr.Room // what the reply has left for Errs
	Stopped bool

	// The fields below are for inserts.
	Chunk  []Numbered    // the documents of the running engine transaction
	done   int64         // number of documents of Chunk that are inserted
	before int           // number of errors of the chunks before
	filled mongoerr.Room // what those errors have left of room
	writer Writer
	insert func(storage.Tx) error // insertNow, made once
}

// BatchWrites keeps used BatchWrites for the next commands; see [BatchWrite.Release].
var BatchWrites = sync.Pool{New: func() any {
	w := &BatchWrite{}
	w.insert = w.insertNow
	return w
}}

// Release makes w available to the next command. The caller must not use it
// afterwards.
func (w *BatchWrite) Release() {
	const keep = 16
	if cap(w.Chunk) > keep {
		w.Chunk = nil
	}
	clear(w.Chunk[:cap(w.Chunk)])
	*w = BatchWrite{Chunk: w.Chunk[:0], insert: w.insert}
	BatchWrites.Put(w)
}

// Fail notes the error of one statement. Errors that end the whole command
// are returned.
func (w *BatchWrite) Fail(i int, err error) error {
	if Fatal(err) {
		return err
	}
	if t := w.C.Transaction(); t != nil { // it ends, and with it the batch
		if transaction.Transient(err) {
			return err
		}
		t.Failed = true
		w.Errs, w.Stopped = append(w.Errs, w.writeError(i, err)), true
		return nil
	}
	w.Errs = append(w.Errs, w.writeError(i, err))
	w.Stopped = w.Ordered
	return nil
}

// writeError returns the error of a statement, as far as the reply has room for it.
func (w *BatchWrite) writeError(i int, err error) *mongoerr.WriteError {
	return mongoerr.NewWriteError(i, w.room.Admit(mongoerr.From(err)))
}

// Fatal reports whether an error ends the whole command and not only its statement.
func Fatal(err error) bool {
	if errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrClosed) {
		return true
	}
	switch mongoerr.CodeOf(err) {
	case mongoerr.Interrupted, mongoerr.InterruptedAtShutdown, mongoerr.InterruptedDueToReplStateChange, mongoerr.MaxTimeMSExpired, mongoerr.ClientDisconnect,
		mongoerr.CommandNotSupportedOnView, mongoerr.InvalidNamespace:
		return true
	}
	return false
}

// Finish writes the errors.
func (w *BatchWrite) Finish() {
	w.ReplyErrors()
	w.C.AppendRetried()
}

// ReplyErrors writes the errors of the batch into the reply, if there are any.
func (w *BatchWrite) ReplyErrors() {
	if len(w.Errs) > 0 {
		mongoerr.AppendWriteErrors(w.C.Reply, w.Errs)
	}
}

// Numbered is a document with its place in the batch, which write errors name.
type Numbered struct {
	I int
	D value.Doc
}

// InsertAll inserts the documents in chunks, each in one engine transaction.
func (w *BatchWrite) InsertAll(docs args.DocList) error {
	bytes := 0
	for i := range docs.N {
		d, _ := docs.Next()
		if w.C.Statement(i) != nil { // inserted by an earlier attempt
			w.N++
			continue
		}
		prepared, err := PrepareInsert(w.C, d)
		if err != nil {
			if w.Ordered { // what came before is stored first
				if err := w.InsertChunk(); err != nil || w.Stopped {
					return err
				}
				return w.Fail(i, err)
			}
			if err := w.Fail(i, err); err != nil {
				return err
			}
			continue
		}
		w.Chunk, bytes = append(w.Chunk, Numbered{i, prepared}), bytes+len(prepared)
		if len(w.Chunk) < InsertChunk && bytes < InsertBytes {
			continue
		}
		if err := w.InsertChunk(); err != nil || w.Stopped {
			return err
		}
		bytes = 0
	}
	return w.InsertChunk()
}

// InsertChunk inserts the collected documents in one transaction. If some of them
// fail, the others are still inserted. If a topic would make too many copies for one
// transaction, the documents are divided, down to single ones.
func (w *BatchWrite) InsertChunk() error {
	all, size := w.Chunk, len(w.Chunk)
	for rest := all; len(rest) > 0 && !w.Stopped; {
		w.Chunk = rest[:min(size, len(rest))]
		err := w.insertPart()
		if tooManyCopies(err) && len(w.Chunk) > 1 && w.C.Transaction() == nil {
			size = len(w.Chunk) / 2
			continue
		}
		if err != nil {
			if err := w.failChunk(kernel.Translate(w.NS, err)); err != nil {
				return err
			}
		}
		rest = rest[len(w.Chunk):]
	}
	w.Chunk = all[:0]
	return nil
}

// tooManyCopies reports whether a topic would make more copies than fit into one
// transaction. Some may have been made, so that the transaction must end.
func tooManyCopies(err error) bool { return mongoerr.Is(err, mongoerr.TransactionTooLarge) }

// insertPart inserts Chunk in one transaction. For a single document that has too many copies, a
// topic leaves scheduled messages that are due alone at the second attempt.
func (w *BatchWrite) insertPart() error {
	w.done, w.before, w.filled = 0, len(w.Errs), w.room
	err := w.C.Update(w.insert)
	if tooManyCopies(err) && len(w.Chunk) == 1 && w.C.Transaction() == nil {
		changes := w.C.QueueChanges()
		changes.LeaveDue(true)
		err = w.C.Update(w.insert)
		changes.LeaveDue(false)
	}
	if err != nil {
		w.Errs, w.room, w.Stopped = w.Errs[:w.before], w.filled, false
		return err
	}
	w.N += w.done
	return nil
}

// failChunk records that a transaction could not be committed. The documents of
// earlier chunks stay inserted, so this is an error of the statements and not of the
// command.
func (w *BatchWrite) failChunk(err error) error {
	switch mongoerr.CodeOf(err) {
	case mongoerr.OutOfDiskSpace, mongoerr.InternalError, mongoerr.TransactionTooLarge:
		return w.failAll(err)
	}
	return err
}

// failAll records the same error for all documents of the chunk.
func (w *BatchWrite) failAll(reason error) error {
	for _, e := range w.Chunk {
		if err := w.Fail(e.I, reason); err != nil || w.Stopped {
			return err
		}
	}
	return nil
}

// insertNow is the engine transaction; it may run again.
func (w *BatchWrite) insertNow(tx storage.Tx) error {
	w.done, w.Errs, w.room, w.Stopped = 0, w.Errs[:w.before], w.filled, false
	if err := catalog.CheckUUID(tx, w.NS, w.UUID); err != nil {
		return w.failAll(err)
	}
	coll, err := CollectionForInsert(w.C, tx, w.NS)
	if err != nil {
		return err
	}
	if catalog.Of(coll.Info()).Kind == catalog.TimeSeries {
		return insertMeasurements(w.C, tx, coll, w, w.Chunk, &w.done)
	}
	w.writer.bypass = w.Bypass
	w.writer.open(w.C, tx, coll)
	for _, e := range w.Chunk {
		w.C.AtStatement(e.I)
		if _, err := w.writer.Insert(e.D); err != nil {
			if kernel.Retry(err) || tooManyCopies(err) {
				return err
			}
			if err := w.Fail(e.I, err); err != nil {
				return err
			}
			if w.Stopped {
				return nil
			}
			continue
		}
		w.done++
	}
	return nil
}

// CollectionForInsert opens a collection to write into, creating it if
// needed.
func CollectionForInsert(c *kernel.Call, tx storage.Tx, ns storage.Namespace) (storage.Collection, error) {
	coll, err := tx.Collection(ns)
	if errors.Is(err, storage.ErrNotFound) {
		if err := catalog.CheckUserNamespace(ns); err != nil {
			return nil, err
		}
		return tx.Create(ns, value.EmptyDoc, []storage.IndexSpec{index.IDSpec(nil).Stored()})
	}
	if err != nil {
		return nil, err
	}
	return coll, CheckWritable(c, coll)
}

// CheckWritable refuses writes to anything but an ordinary collection.
func CheckWritable(c *kernel.Call, coll storage.Collection) error {
	if catalog.Of(coll.Info()).Kind == catalog.View {
		return catalog.NotOnView(coll.Info().Namespace)
	}
	return nil
}
