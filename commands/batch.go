package commands

import (
	"encoding/binary"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// defaultBatch is the first batch of find and aggregate without batchSize.
const defaultBatch = 101

// maxBatchBytes bounds the documents of one reply; a single document may
// pass it.
const maxBatchBytes = 16 * 1024 * 1024

// cursorRequest is what makes a cursor of an iterator.
type cursorRequest struct {
	ns          storage.Namespace
	it          agg.Iterator
	exec        *execution
	batchSize   int64 // -1: default
	singleBatch bool
	idFirst     bool // the id and the namespace stand in front of the batch, as of mongod's IDL replies
	noTimeout   bool
	tailable    bool
	awaitData   bool
	extra       func(b *value.Builder) // further fields of the cursor document
	setOp       func(*Call)
}

// firstBatch runs an iterator for its first batch and writes the reply's
// cursor document. What is left becomes a cursor.
func (c *Call) firstBatch(r cursorRequest) error {
	size := r.batchSize
	if size < 0 {
		size = defaultBatch
	}
	c.reply.StartDocument("cursor")
	idAt := 0
	if r.idFirst {
		idAt = len(c.reply.Int64("id", 0).Bytes()) - 8
		c.reply.String("ns", r.ns.String())
	}
	c.reply.StartArray("firstBatch")
	cur := &cursor{
		ns: r.ns, it: r.it, session: c.session, user: c.userName(), noTimeout: r.noTimeout,
		tailable: r.tailable, awaitData: r.awaitData, setOp: r.setOp, extra: r.extra,
	}
	cur.held, cur.stream = c.held, c.stream
	if cur.setOp == nil && r.exec != nil {
		cur.setOp = r.exec.resume
	}
	if c.transaction() != nil {
		cur.txnNumber = c.generic.txnNumber
		c.transaction().cursors = true
	}
	done, err := c.appendBatch(cur, size)
	if err != nil {
		r.it.Close()
		return err
	}
	c.reply.End()
	if r.extra != nil {
		r.extra(c.reply)
	}
	c.appendCursorFields(cur)
	var id int64
	if (!done || r.tailable && !cur.streamEnded()) && !r.singleBatch {
		cur.created = c.Body.Clone()
		cur.grants, cur.asked = c.grants(), c.user
		cur.opened, cur.plan, cur.access = c.svc.real.Now(), c.counts.plan, c.counts.access
		if !r.awaitData {
			cur.timeLeft = c.timeLeft(c.generic.maxTime)
		}
		if err := c.svc.cursors.add(cur); err != nil {
			r.it.Close()
			return err
		}
		id = cur.id
		c.svc.cursors.release(cur, c.svc.real.Now())
	} else {
		r.it.Close()
	}
	if r.idFirst {
		binary.LittleEndian.PutUint64(c.reply.Bytes()[idAt:], uint64(id))
	} else {
		c.reply.Int64("id", id).String("ns", r.ns.String())
	}
	c.reply.End()
	return nil
}

// appendBatch writes up to size documents (0: none, and the iterator is not
// touched). done tells that the iterator is at its end.
func (c *Call) appendBatch(cur *cursor, size int64) (done bool, err error) {
	start := c.reply.Len()
	returned := int64(0)
	defer func() {
		c.svc.metrics.document.returned.Add(returned)
		c.counts.returned += returned
		cur.returned += returned
		cur.batches++
	}()
	for returned < size {
		d := cur.peeked
		cur.peeked = nil
		if d == nil {
			if d, err = cur.it.Next(); err != nil {
				return false, err
			}
		}
		if d == nil {
			return true, nil
		}
		if len(d) > MaxDocumentBytes+16*1024 {
			return false, mongoerr.Newf(mongoerr.BSONObjectTooLarge, "BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(16MB)", len(d), len(d), MaxDocumentBytes+16*1024)
		}
		if returned > 0 && c.reply.Len()-start+len(d) > maxBatchBytes {
			cur.peeked = d
			return false, nil
		}
		c.reply.Document("", d)
		returned++
	}
	return cur.peeked == nil && atEnd(cur.it), nil
}
