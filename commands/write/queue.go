package write

import (
	"errors"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// send inserts a message into a queue.
func (w *Writer) send(d value.Doc) (storage.RecordID, error) {
	id, err := w.c.Svc.Queues.Insert(w.tx, w.c.QueueChanges(), w.ns, d, w.c.Now)
	return id, w.translate(err, d)
}

// NoteQueueDrop makes waiting receivers end because their queue is dropped.
func NoteQueueDrop(c *kernel.Call, info *storage.Info) {
	if queue.IsQueue(info.Options) {
		c.QueueChanges().Drop(info)
	}
}

// DropQueue drops a queue with all that belongs to it.
func DropQueue(c *kernel.Call, tx storage.Tx, info *storage.Info) error {
	return kernel.Translate(info.Namespace, c.Svc.Queues.Drop(tx, c.QueueChanges(), info.Namespace, c.Now))
}

// NoteRead records that a command reads a collection: a change log that is read keeps
// more entries, and a queue that is read is not idle. Within a transaction it does
// not record reads of queues.
func NoteRead(c *kernel.Call, info *storage.Info) error {
	if info != nil && info.Namespace == oplog.Namespace {
		c.Svc.Oplog.NoteReader(c.Ctx)
	}
	if info == nil || c.Transaction() != nil || !queue.IsQueue(info.Options) {
		return nil
	}
	err := c.Svc.Queues.Touch(c.Ctx, kernel.CallStore{Call: c}, info, c.Now)
	if mongoerr.Is(err, mongoerr.NamespaceNotFound) || errors.Is(err, storage.ErrNotFound) {
		return nil // it was dropped meanwhile, which the read will notice
	}
	return err
}
