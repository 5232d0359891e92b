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
}

// operationRegistry holds the running operations in shards, so that
// connections do not queue for one lock.
type operationRegistry struct {
	next   atomic.Int32
	shards [16]operationShard
}

type operationShard struct {
	mu  sync.Mutex
	ops map[int32]*operation
	_   [40]byte // keep shards on cache lines of their own
}

func newOperationRegistry() *operationRegistry {
	r := &operationRegistry{}
	for i := range r.shards {
		r.shards[i].ops = map[int32]*operation{}
	}
	return r
}

func (r *operationRegistry) shard(id int32) *operationShard {
	return &r.shards[uint32(id)%uint32(len(r.shards))]
}

func (r *operationRegistry) add(op *operation) {
	op.id = r.next.Add(1)
	s := r.shard(op.id)
	s.mu.Lock()
	s.ops[op.id] = op
	s.mu.Unlock()
}

func (r *operationRegistry) remove(op *operation) {
	s := r.shard(op.id)
	s.mu.Lock()
	delete(s.ops, op.id)
	s.mu.Unlock()
}

// kill ends an operation; false if there is none of that id.
func (r *operationRegistry) kill(id int32) bool {
	s := r.shard(id)
	s.mu.Lock()
	op := s.ops[id]
	s.mu.Unlock()
	if op == nil {
		return false
	}
	op.kill(mongoerr.New(mongoerr.Interrupted, "operation was interrupted"))
	return true
}

func (op *operation) kill(cause error) {
	op.killed.Store(true)
	if op.cancel != nil {
		op.cancel(cause)
	}
}

func (r *operationRegistry) killConn(id int64) {
	for _, op := range r.list(false) {
		if op.conn != nil && op.conn.ID == id {
			op.kill(mongoerr.New(mongoerr.ClientDisconnect, "client disconnected"))
		}
	}
}

// list copies what currentOp shows, ordered by id.
func (r *operationRegistry) list(copyBody bool) []*operation {
	var out []*operation
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		for _, op := range s.ops {
			shown := &operation{
				id: op.id, conn: op.conn, started: op.started, name: strings.Clone(op.name),
				ns: op.ns, cancel: op.cancel, session: op.session, user: op.user,
			}
			shown.killed.Store(op.killed.Load())
			if copyBody {
				shown.body = op.body.Clone()
			}
			if p := op.plan.Load(); p != nil {
				shown.plan.Store(p)
			}
			out = append(out, shown)
		}
		s.mu.Unlock()
	}
	sort.Slice(out, func(i, j int) bool { return out[i].id < out[j].id })
	return out
}

// count is the number of running operations.
func (r *operationRegistry) count() (n int) {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		n += len(s.ops)
		s.mu.Unlock()
	}
	return n
}

// countClients is the number of operations that clients run, without those
// that ask for a pass themselves.
func (r *operationRegistry) countClients() (n int) {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		for _, op := range s.ops {
			if op.name != "runExpirationPass" && op.name != "testClock" && op.name != "hello" {
				n++
			}
		}
		s.mu.Unlock()
	}
	return n
}
