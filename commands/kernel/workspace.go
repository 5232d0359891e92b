package kernel

import (
	"context"
	"reflect"
	"sync/atomic"

	"github.com/duskdb/duskdb/value"
)

// workspace is the memory that the commands of a connection reuse one after the other, so
// that small commands do not allocate: the Call, the writer of the reply, the context that
// killOp ends.
//
// A Call is reused only if the command declares that nothing refers to it any more (see
// [Call.LeavesNothing]). Cursors keep their Calls; transactions do not.
type workspace struct {
	busy  atomic.Bool // whether a command uses it; a program that embeds the server may run two at a time
	call  *Call       // the Call for the next command; nil if the last one was kept
	reply value.Builder
	names names
	Op    Operation

	// The context of commands, used until a command is killed or the caller passes
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
	c.Svc.Turns.Done(&c.turn)
	if w.call == c && c.reusable {
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
func (c *Call) LeavesNothing() { c.reusable = c.Held == nil }

// context returns a context that ends with outer or when kill is called. It reuses the
// context of the command before, if that was not killed.
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

// close releases the context.
func (w *workspace) close() {
	if w.kill != nil {
		w.kill(nil)
	}
	w.outer, w.ctx, w.kill = nil, nil, nil
}
