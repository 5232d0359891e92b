package commands

import (
	"context"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// operation is a running command as currentOp shows it and killOp ends it.
type operation struct {
	id      int32
	conn    *Conn
	started int64 // server clock, milliseconds
	name    string
	ns      string
	body    value.Doc // valid while the operation runs
	cancel  context.CancelCauseFunc
	session *session
	user    string
	killed  atomic.Bool
	plan    atomic.Pointer[string]

	before, after *operation // in its shard
}

// begin describes a command that is about to run.
func (op *operation) begin(c *Call) {
	op.conn, op.started, op.name, op.body, op.cancel = c.conn, c.now, c.cmd.name, c.shown(), c.kill
	op.session, op.user = c.session, c.userName()
	op.killed.Store(false)
	op.plan.Store(nil)
}

// forget lets go of the command that has run.
func (op *operation) forget() { op.body, op.cancel, op.session = nil, nil, nil }

// operationRegistry holds the running operations in shards, so that
// connections do not queue for one lock.
type operationRegistry struct {
	next   atomic.Int32
	shards [16]operationShard
}

// operationShard is a list, so that to begin and to end an operation costs
// little; who looks for one has time.
type operationShard struct {
	mu    sync.Mutex
	first *operation
	_     [48]byte // keep shards on cache lines of their own
}

func newOperationRegistry() *operationRegistry { return &operationRegistry{} }

func (r *operationRegistry) shard(id int32) *operationShard {
	return &r.shards[uint32(id)%uint32(len(r.shards))]
}

func (r *operationRegistry) add(op *operation) {
	op.id = r.next.Add(1)
	s := r.shard(op.id)
	s.mu.Lock()
	op.before, op.after = nil, s.first
	if s.first != nil {
		s.first.before = op
	}
	s.first = op
	s.mu.Unlock()
}

func (r *operationRegistry) remove(op *operation) {
	s := r.shard(op.id)
	s.mu.Lock()
	if op.before != nil {
		op.before.after = op.after
	} else {
		s.first = op.after
	}
	if op.after != nil {
		op.after.before = op.before
	}
	op.before, op.after = nil, nil
	s.mu.Unlock()
}

// each calls fn with the running operations, which stay as long as it looks
// at them.
func (r *operationRegistry) each(fn func(*operation)) {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		for op := s.first; op != nil; op = op.after {
			fn(op)
		}
		s.mu.Unlock()
	}
}

// kill ends the operations that match and returns how many there were. An
// operation is killed while it is held in its shard: a moment later its
// connection may run another one with the same context.
func (r *operationRegistry) kill(cause error, match func(*operation) bool) (n int) {
	r.each(func(op *operation) {
		if match(op) {
			op.killed.Store(true)
			if op.cancel != nil {
				op.cancel(cause)
			}
			n++
		}
	})
	return n
}

// errKilled is what a command answers that an administrator has ended.
var errKilled = mongoerr.New(mongoerr.Interrupted, "operation was interrupted")

func (r *operationRegistry) killConn(id int64) {
	r.kill(mongoerr.New(mongoerr.ClientDisconnect, "client disconnected"), func(op *operation) bool { return op.conn != nil && op.conn.ID == id })
}

// list copies what currentOp shows, ordered by id.
func (r *operationRegistry) list(copyBody bool) []*operation {
	var out []*operation
	r.each(func(op *operation) {
		shown := &operation{
			id: op.id, conn: op.conn, started: op.started, name: strings.Clone(op.name),
			ns: op.ns, session: op.session, user: op.user,
		}
		shown.killed.Store(op.killed.Load())
		if copyBody {
			shown.body = op.body.Clone()
		}
		if p := op.plan.Load(); p != nil {
			shown.plan.Store(p)
		}
		out = append(out, shown)
	})
	sort.Slice(out, func(i, j int) bool { return out[i].id < out[j].id })
	return out
}

// count is the number of running operations.
func (r *operationRegistry) count() (n int) {
	r.each(func(*operation) { n++ })
	return n
}

// countClients is the number of operations that clients run, without those
// that ask for a pass themselves.
func (r *operationRegistry) countClients() (n int) {
	r.each(func(op *operation) {
		if op.name != "runExpirationPass" && op.name != "testClock" && op.name != "hello" {
			n++
		}
	})
	return n
}
