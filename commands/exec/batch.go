package exec

import (
	"encoding/binary"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// defaultBatch is the first batch of find and aggregate without batchSize.
const defaultBatch = 101

// FirstRead is how many records are read at first for a batch of documents; -1: the
// default.
func FirstRead(batch int64) int {
	if batch < 0 {
		batch = defaultBatch
	}
	return int(max(FirstChunk, min(batch, maxChunk)))
}

// maxBatchBytes bounds the documents of one reply; a single document may
// pass it.
const maxBatchBytes = 16 * 1024 * 1024

// CursorRequest is what makes a cursor of an iterator.
type CursorRequest struct {
	NS          storage.Namespace      // named in the reply and looked for by getMore
	It          agg.Iterator           // what the cursor returns; FirstBatch closes it, or the cursor does
	Exec        *Execution             // handed to each getMore, nil if the iterator needs no command
	BatchSize   int64                  // documents in the first batch; -1: the default
	SingleBatch bool                   // no cursor stays open, whatever is left
	IDFirst     bool                   // the id and the namespace stand in front of the batch, as of mongod's IDL replies
	NoTimeout   bool                   // the cursor is not closed for having been idle
	Tailable    bool                   // the cursor stays open at the end of what there is
	AwaitData   bool                   // getMore waits at the end for more
	extra       func(b *value.Builder) // further fields of the cursor document
	OfConn      bool                   // the cursor ends with the connection
	SetOp       func(*kernel.Call)     // called with each getMore; nil: Exec.Resume
}

// FirstBatch runs an iterator for its first batch and writes the reply's
// cursor document. What is left becomes a cursor.
func FirstBatch(c *kernel.Call, r CursorRequest) error {
	size := r.BatchSize
	if size < 0 {
		size = defaultBatch
	}
	c.Reply.StartDocument("cursor")
	idAt := 0
	if r.IDFirst {
		idAt = len(c.Reply.Int64("id", 0).Bytes()) - 8
		c.Reply.String("ns", r.NS.String())
	}
	c.Reply.StartArray("firstBatch")
	cur := &kernel.Cursor{
		NS: r.NS, It: r.It, Session: c.Session, User: access.UserName(c), NoTimeout: r.NoTimeout,
		Tailable: r.Tailable, AwaitData: r.AwaitData, SetOp: r.SetOp, Extra: r.extra,
	}
	cur.Held, cur.Stream = c.Held, c.Stream
	if cur.SetOp == nil && r.Exec != nil {
		cur.SetOp = r.Exec.Resume
	}
	if c.Conn.FromBalancer || r.OfConn {
		cur.Conn = c.Conn.ID
		c.Conn.OwnCursors = c.Conn.OwnCursors || r.OfConn
	}
	if c.Transaction() != nil {
		cur.TxnNumber = c.Generic.TxnNumber
		c.Transaction().Cursors = true
	}
	done, err := AppendBatch(c, cur, size)
	if err != nil {
		r.It.Close()
		return err
	}
	c.Reply.End()
	if r.extra != nil {
		r.extra(c.Reply)
	}
	transaction.AppendCursorFields(c, cur)
	var id int64
	if (!done || r.Tailable && !cur.StreamEnded()) && !r.SingleBatch {
		cur.Created = kernel.Truncated(c.Body, kernel.MaxProfiled)
		cur.Grants, cur.CheckedUser = access.Grants(c), c.User
		cur.Opened, cur.Plan, cur.Access = c.Svc.Real.Now(), c.Counts.Plan, c.Counts.Access
		if !r.AwaitData {
			cur.TimeLeft = kernel.TimeLeft(c, c.Generic.MaxTime)
		}
		if err := c.Svc.Cursors.Add(cur); err != nil {
			r.It.Close()
			return err
		}
		id = cur.ID
		c.Svc.Cursors.Release(cur, c.Svc.Real.Now())
	} else {
		r.It.Close()
	}
	if r.IDFirst {
		binary.LittleEndian.PutUint64(c.Reply.Bytes()[idAt:], uint64(id))
	} else {
		c.Reply.Int64("id", id).String("ns", r.NS.String())
	}
	c.Reply.End()
	return nil
}

// AppendBatch writes up to size documents (0: none, and the iterator is not
// touched). done reports whether the iterator is at its end.
func AppendBatch(c *kernel.Call, cur *kernel.Cursor, size int64) (done bool, err error) {
	start := c.Reply.Len()
	returned := int64(0)
	defer func() {
		c.Svc.Metrics.Document.Returned.Add(returned)
		c.Counts.Returned += returned
		cur.Returned += returned
		cur.Batches++
	}()
	for returned < size {
		d := cur.Peeked
		cur.Peeked = nil
		if d == nil {
			c.Wanted = size - returned
			if d, err = cur.It.Next(); err != nil {
				return false, err
			}
		}
		if d == nil {
			return true, nil
		}
		if len(d) > kernel.MaxDocumentBytes+16*1024 {
			return false, mongoerr.Newf(mongoerr.BSONObjectTooLarge, "BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(16MB)", len(d), len(d), kernel.MaxDocumentBytes+16*1024)
		}
		if returned > 0 && c.Reply.Len()-start+len(d) > maxBatchBytes {
			cur.Peeked = d
			return false, nil
		}
		if err := c.AwaitReplyMemory(c.Reply.Len() - start + len(d)); err != nil {
			cur.Peeked = d
			return false, err
		}
		c.Reply.Document("", d)
		returned++
	}
	return cur.Peeked == nil && atEnd(cur.It), nil
}
