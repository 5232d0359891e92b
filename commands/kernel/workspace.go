package kernel

import (
	"context"
	"reflect"
	"sync/atomic"

	"github.com/duskdb/duskdb/value"
)

// workspace is what the commands of a connection use one after the other, so
// that a small one costs no memory of its own: its Call, the writer of its
// reply, the context that ends it when it is killed.
//
// A Call is used again only if the command says that nothing of it is kept
// (see [Call.LeavesNothing]); cursors and transactions do keep their Calls.
type workspace struct {
	busy  atomic.Bool // taken; a program that embeds the server may run two commands at a time
	call  *Call       // for the next command, nil if the last one was kept
	reply value.Builder
	names names
	Op    Operation

	// What commands run with, until one is killed or the caller comes with
	// another context.
	outer context.Context // the caller's
	ctx   context.Context // below it
	kill  context.CancelCauseFunc
}

// Begin makes the Call of a command.
func (s *Service) Begin(ctx context.Context, conn *Conn, req *Request, dst []byte) *Call {
	var c *Call
	if w := &conn.work; w.busy.CompareAndSwap(false, true) {
		if w.call == nil {
			w.call = &Call{Work: w}
		}
		c = w.call
	} else {
		c = &Call{Work: &workspace{}}
	}
	c.Svc, c.Conn, c.Request = s, conn, *req
	c.Reply = &c.Work.reply
	c.Reply.Reset(dst)
	c.Ctx, c.Kill = c.Work.context(ctx)
	return c
}

// End gives the workspace back when the reply has been written.
func (c *Call) End() {
	w, conn := c.Work, c.Conn
	if w.call == c && c.forgotten {
		*c = Call{Work: w, transactions: transactions{transact: c.transact}}
	} else {
		w.call = nil
	}
	w.reply.Forget()
	w.Op.forget()
	if w != &conn.work {
		w.close()
	}
	w.busy.Store(false)
}

// LeavesNothing declares that nothing will use the Call when the command is over, so
// that the next command of the connection can have it.
func (c *Call) LeavesNothing() { c.forgotten = c.Generic.Autocommit == nil && c.Held == nil }

// context returns the context that ends with outer or with the call of kill:
// that of the command before, if it was not needed.
func (w *workspace) context(outer context.Context) (context.Context, context.CancelCauseFunc) {
	if w.ctx != nil && w.outer == outer && w.ctx.Err() == nil {
		return w.ctx, w.kill
	}
	w.close()
	w.ctx, w.kill = context.WithCancelCause(outer)
	if reflect.TypeOf(outer).Comparable() {
		w.outer = outer
	}
	return w.ctx, w.kill
}

// close releases what the context holds.
func (w *workspace) close() {
	if w.kill != nil {
		w.kill(nil)
	}
	w.outer, w.ctx, w.kill = nil, nil, nil
}
