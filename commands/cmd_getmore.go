package commands

import (
	"strconv"

	"time"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type getMoreArgs struct {
	GetMore    longOnly    `arg:"getMore,required"`
	Collection string      `arg:"collection,required"`
	BatchSize  *int64      `arg:"batchSize,nonneg"`
	Term       longOnly    `arg:"term"`
	LastKnown  value.Value `arg:"lastKnownCommittedOpTime"`
}

var getMoreSpec = newArgs[getMoreArgs]("getMore")

// defaultAwait is how long a getMore on an awaitData cursor waits without
// maxTimeMS.
const defaultAwait = time.Second

func runGetMore(c *Call) error {
	var a getMoreArgs
	if err := getMoreSpec.decode(c.Body, &a); err != nil {
		return err
	}
	c.svc.metrics.opcounters.getmore.Add(1)
	ns := storage.Namespace{DB: c.DB, Coll: a.Collection}
	cur, err := c.svc.cursors.take(int64(a.GetMore), c.kill)
	if err != nil {
		return err
	}
	if err := c.checkCursor(cur, ns); err != nil {
		c.svc.cursors.release(cur, c.svc.real.Now())
		return err
	}
	return c.continueCursor(cur, &a)
}

// checkCursor makes sure that the cursor belongs to who asks for it.
func (c *Call) checkCursor(cur *cursor, ns storage.Namespace) error {
	switch {
	case cur.ns != ns:
		return mongoerr.Newf(mongoerr.Unauthorized, "Requested getMore on namespace '%s', but cursor belongs to a different namespace %s", ns, cur.ns)
	case cur.user != c.userName():
		return mongoerr.Newf(mongoerr.Unauthorized, "cursor id %d was not created by the authenticated user", cur.id)
	case !c.stillMayRead(cur):
		return mongoerr.Newf(mongoerr.Unauthorized, "not authorized for getMore with cursor id %d", cur.id)
	case cur.session == nil && c.session != nil:
		return mongoerr.Newf(50736, "Cannot run getMore on cursor %d, which was not created in a session, in session %s", cur.id, c.session)
	case cur.session != nil && c.session == nil:
		return mongoerr.Newf(50737, "Cannot run getMore on cursor %d, which was created in session %s, without an lsid", cur.id, cur.session)
	case cur.session != nil && cur.session != c.session:
		return mongoerr.Newf(50738, "Cannot run getMore on cursor %d, which was created in session %s, in session %s", cur.id, cur.session, c.session)
	}
	if !cur.awaitData && c.Body.Lookup("maxTimeMS").IsNumber() {
		return mongoerr.New(mongoerr.BadValue, "cannot set maxTimeMS on getMore command for a non-awaitData cursor")
	}
	return c.checkCursorTransaction(cur)
}

func (c *Call) checkCursorTransaction(cur *cursor) error {
	inTxn := c.transaction() != nil
	switch {
	case cur.txnNumber == nil && inTxn:
		return mongoerr.Newf(50739, "Cannot run getMore on cursor %d, which was not created in a transaction, in transaction %d", cur.id, *c.generic.txnNumber)
	case cur.txnNumber != nil && !inTxn:
		return mongoerr.Newf(50740, "Cannot run getMore on cursor %d, which was created in transaction %d, without a txnNumber", cur.id, *cur.txnNumber)
	}
	return nil
}

func (c *Call) continueCursor(cur *cursor, a *getMoreArgs) error {
	c.changeStream = cur.stream != nil
	if cur.held != nil {
		done, err := c.useSnapshot(cur.held)
		if err != nil {
			return c.failCursor(cur, err)
		}
		defer done()
	}
	c.counts.origin = cur.created
	if cur.setOp != nil {
		cur.setOp(c)
	}
	if err := c.failGetMore(cur); err != nil {
		return c.failCursor(cur, err)
	}
	size := int64(1<<63 - 1)
	if a.BatchSize != nil && *a.BatchSize > 0 {
		size = *a.BatchSize
	}
	c.reply.StartDocument("cursor")
	c.reply.StartArray("nextBatch")
	done, err := c.nextBatch(cur, size)
	if err != nil {
		return c.failCursor(cur, err)
	}
	c.reply.End()
	if cur.extra != nil {
		cur.extra(c.reply)
	}
	c.appendCursorFields(cur)
	id := cur.id
	if done && (!cur.tailable || cur.streamEnded()) {
		id = 0
		c.svc.cursors.kill(cur.id)
	}
	c.svc.cursors.release(cur, c.svc.real.Now())
	c.reply.Int64("id", id).String("ns", cur.ns.String())
	c.reply.End()
	if c.exhaust && id != 0 {
		c.response.Next = c.Body
	}
	return nil
}

// failCursor ends a cursor that cannot go on.
func (c *Call) failCursor(cur *cursor, err error) error {
	c.svc.cursors.kill(cur.id)
	c.svc.cursors.release(cur, c.svc.real.Now())
	return err
}

// nextBatch reads a batch, in what is left of the time that the command which
// opened the cursor had; for an awaitData cursor without anything new it
// waits for writes, for as long as maxTimeMS says.
func (c *Call) nextBatch(cur *cursor, size int64) (done bool, err error) {
	if !cur.awaitData {
		stop, err := c.limitTime(cur.timeLeft)
		if err != nil {
			return false, err
		}
		defer stop()
		done, err = c.appendBatch(cur, size)
		cur.timeLeft = c.timeLeft(cur.timeLeft)
		return done, err
	}
	wait := defaultAwait
	if c.generic.maxTime > 0 {
		wait = c.generic.maxTime
	}
	timer := c.svc.real.NewTimer(wait)
	defer timer.Stop()
	for {
		changed := c.changed(cur)
		before := c.reply.Len()
		done, err = c.appendBatch(cur, size)
		if err != nil || c.reply.Len() > before {
			return done, err
		}
		began := c.svc.real.Now()
		select {
		case <-changed:
		case <-timer.C():
			c.counts.waited += c.svc.real.Now().Sub(began)
			return done, nil
		case <-c.ctx.Done():
			return done, c.interrupted()
		}
		c.counts.waited += c.svc.real.Now().Sub(began)
	}
}

type killCursorsArgs struct {
	KillCursors value.Value `arg:"killCursors,required"`
	Cursors     array       `arg:"cursors,required"`
}

// ids are the numbers of the cursors. What is null is skipped.
func (a *killCursorsArgs) ids() (ids []value.Value, err error) {
	i := 0
	for v := range value.Doc(a.Cursors).Values() {
		switch v.Kind() {
		case value.KindInt64:
			ids = append(ids, v)
		case value.KindNull, value.KindUndefined:
		default:
			return nil, wrongType("killCursors", "cursors."+strconv.Itoa(i), v, "long")
		}
		i++
	}
	return ids, nil
}

var killCursorsSpec = newArgs[killCursorsArgs]("killCursors")

func runKillCursors(c *Call) error {
	var a killCursorsArgs
	if err := killCursorsSpec.decode(c.Body, &a); err != nil {
		return err
	}
	if _, err := c.namespaceOf(a.KillCursors); err != nil {
		return err
	}
	ids, err := a.ids()
	if err != nil {
		return err
	}
	var killed, missing []value.Value
	for _, v := range ids {
		if c.svc.cursors.interrupt(v.Int64()) {
			killed = append(killed, v)
		} else {
			missing = append(missing, v)
		}
	}
	c.reply.Append("cursorsKilled", value.NewArray(killed...)).Append("cursorsNotFound", value.NewArray(missing...))
	c.reply.Append("cursorsAlive", value.NewArray()).Append("cursorsUnknown", value.NewArray())
	return nil
}
