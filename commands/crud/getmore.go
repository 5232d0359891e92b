package crud

import (
	"strconv"
	"time"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/changestream"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type getMoreArgs struct {
	GetMore    args.LongOnly `arg:"getMore,required"`
	Collection string        `arg:"collection,required"`
	BatchSize  *int64        `arg:"batchSize,nonneg"`
	Term       args.LongOnly `arg:"term"`
	LastKnown  value.Value   `arg:"lastKnownCommittedOpTime"`
}

var getMoreSpec = args.New[getMoreArgs]("getMore")

// defaultAwait is how long a getMore on an awaitData cursor waits without
// maxTimeMS.
const defaultAwait = time.Second

func runGetMore(c *kernel.Call) error {
	var a getMoreArgs
	if err := getMoreSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	c.Svc.Metrics.Opcounters.Getmore.Add(1)
	ns := storage.Namespace{DB: c.DB, Coll: a.Collection}
	cur, err := c.Svc.Cursors.Take(int64(a.GetMore), c.Op, c.Kill)
	if err != nil {
		return err
	}
	if err := checkCursor(c, cur, ns); err != nil {
		c.Svc.Cursors.Release(cur, c.Svc.Real.Now())
		return err
	}
	return continueCursor(c, cur, &a)
}

// checkCursor refuses a cursor of another user, session or transaction.
func checkCursor(c *kernel.Call, cur *kernel.Cursor, ns storage.Namespace) error {
	switch {
	case cur.Session != c.Session && c.Svc.Options.Security.Auth && access.UserName(c) != "" && !access.May(c, auth.Cluster(), "impersonate"):
		return mongoerr.Newf(mongoerr.Unauthorized, "Cursor session id (%s) is not the same as the operation context's session id (%s)", sessionName(cur.Session), sessionName(c.Session))
	case cur.NS != ns:
		return mongoerr.Newf(mongoerr.Unauthorized, "Requested getMore on namespace '%s', but cursor belongs to a different namespace %s", ns, cur.NS)
	case cur.User != access.UserName(c):
		return mongoerr.Newf(mongoerr.Unauthorized, "cursor id %d was not created by the authenticated user", cur.ID)
	case !access.StillMayRead(c, cur):
		return mongoerr.Newf(mongoerr.Unauthorized, "not authorized for getMore with cursor id %d", cur.ID)
	case cur.Session == nil && c.Session != nil:
		return mongoerr.Newf(50736, "Cannot run getMore on cursor %d, which was not created in a session, in session %s", cur.ID, c.Session)
	case cur.Session != nil && c.Session == nil:
		return mongoerr.Newf(50737, "Cannot run getMore on cursor %d, which was created in session %s, without an lsid", cur.ID, cur.Session)
	case cur.Session != nil && cur.Session != c.Session:
		return mongoerr.Newf(50738, "Cannot run getMore on cursor %d, which was created in session %s, in session %s", cur.ID, cur.Session, c.Session)
	}
	if !cur.AwaitData && c.Body.Lookup("maxTimeMS").IsNumber() {
		return mongoerr.New(mongoerr.BadValue, "cannot set maxTimeMS on getMore command for a non-awaitData cursor")
	}
	return checkCursorTransaction(c, cur)
}

func sessionName(s *session.Session) string {
	if s == nil {
		return "none"
	}
	return s.String()
}

func checkCursorTransaction(c *kernel.Call, cur *kernel.Cursor) error {
	inTxn := c.Transaction() != nil
	switch {
	case cur.TxnNumber == nil && inTxn:
		return mongoerr.Newf(50739, "Cannot run getMore on cursor %d, which was not created in a transaction, in transaction %d", cur.ID, *c.Generic.TxnNumber)
	case cur.TxnNumber != nil && !inTxn:
		return mongoerr.Newf(50740, "Cannot run getMore on cursor %d, which was created in transaction %d, without a txnNumber", cur.ID, *cur.TxnNumber)
	}
	return nil
}

func continueCursor(c *kernel.Call, cur *kernel.Cursor, a *getMoreArgs) error {
	c.ChangeStream = cur.Stream != nil
	if cur.Held != nil {
		done, err := transaction.UseSnapshot(c, cur.Held)
		if err != nil {
			return failCursor(c, cur, err)
		}
		defer done()
	}
	c.Counts.Origin = cur.Created
	if cur.SetOp != nil {
		cur.SetOp(c)
	}
	if err := c.FailGetMore(cur); err != nil {
		return failCursor(c, cur, err)
	}
	size := int64(1<<63 - 1)
	if a.BatchSize != nil && *a.BatchSize > 0 {
		size = *a.BatchSize
	}
	c.Reply.StartDocument("cursor")
	c.Reply.StartArray("nextBatch")
	done, err := nextBatch(c, cur, size)
	if err != nil {
		return failCursor(c, cur, err)
	}
	c.Reply.End()
	if cur.Extra != nil {
		cur.Extra(c.Reply)
	}
	transaction.AppendCursorFields(c, cur)
	cur.Stats.Add(&c.Counts, c.Svc.Real.Now().Sub(c.Began))
	if cur.Tailable {
		cur.Stats.End()
	}
	id := cur.ID
	if done && (!cur.Tailable || cur.StreamEnded()) {
		id = 0
		c.Svc.Cursors.Kill(cur.ID)
	}
	c.Svc.Cursors.Release(cur, c.Svc.Real.Now())
	c.Reply.Int64("id", id).String("ns", cur.NS.String())
	c.Reply.End()
	if c.Exhaust && id != 0 {
		c.Response.Next = c.Body
	}
	return nil
}

// failCursor ends a cursor that cannot go on.
func failCursor(c *kernel.Call, cur *kernel.Cursor, err error) error {
	c.Svc.Cursors.Kill(cur.ID)
	c.Svc.Cursors.Release(cur, c.Svc.Real.Now())
	return err
}

// nextBatch reads a batch. Its time limit is the rest of the maxTimeMS of the command that
// opened the cursor. If an awaitData cursor has nothing new, nextBatch waits for writes,
// for at most the maxTimeMS of the getMore.
func nextBatch(c *kernel.Call, cur *kernel.Cursor, size int64) (done bool, err error) {
	if !cur.AwaitData {
		stop, err := kernel.LimitTime(c, cur.TimeLeft)
		if err != nil {
			return false, err
		}
		defer stop()
		done, err = exec.AppendBatch(c, cur, size)
		cur.TimeLeft = kernel.TimeLeft(c, cur.TimeLeft)
		return done, err
	}
	wait := defaultAwait
	if c.Generic.MaxTimeGiven { // 0 does not wait
		wait = c.Generic.MaxTime
	}
	timer := c.Svc.Real.NewTimer(wait)
	defer timer.Stop()
	for {
		changed := changestream.Changed(c, cur)
		before := c.Reply.Len()
		done, err = exec.AppendBatch(c, cur, size)
		if err != nil || c.Reply.Len() > before {
			return done, err
		}
		began := c.Svc.Real.Now()
		select {
		case <-changed:
		case <-timer.C():
			c.Counts.Waited += c.Svc.Real.Now().Sub(began)
			return done, nil
		case <-c.Ctx.Done():
			return done, c.Interrupted()
		}
		c.Counts.Waited += c.Svc.Real.Now().Sub(began)
	}
}

// KillCursorsArgs are the arguments of killCursors.
type KillCursorsArgs struct {
	KillCursors value.Value `arg:"killCursors,required"`
	Cursors     args.Array  `arg:"cursors,required"`
}

// Ids returns the ids of the cursors. Null elements are skipped.
func (a *KillCursorsArgs) Ids() (ids []value.Value, err error) {
	i := 0
	for v := range value.Doc(a.Cursors).Values() {
		switch v.Kind() {
		case value.KindInt64:
			ids = append(ids, v)
		case value.KindNull, value.KindUndefined:
		default:
			return nil, args.WrongType("killCursors", "cursors."+strconv.Itoa(i), v, "long")
		}
		i++
	}
	return ids, nil
}

// KillCursorsSpec decodes KillCursorsArgs. The rule for its privileges uses it,
// too.
var KillCursorsSpec = args.New[KillCursorsArgs]("killCursors")

func runKillCursors(c *kernel.Call) error {
	var a KillCursorsArgs
	if err := KillCursorsSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if _, err := c.NamespaceOf(a.KillCursors); err != nil {
		return err
	}
	ids, err := a.Ids()
	if err != nil {
		return err
	}
	var killed, missing []value.Value
	for _, v := range ids {
		if c.Svc.Cursors.Interrupt(v.Int64()) {
			killed = append(killed, v)
		} else {
			missing = append(missing, v)
		}
	}
	c.Reply.Append("cursorsKilled", value.NewArray(killed...)).Append("cursorsNotFound", value.NewArray(missing...))
	c.Reply.Append("cursorsAlive", value.NewArray()).Append("cursorsUnknown", value.NewArray())
	return nil
}
