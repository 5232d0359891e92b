package kernel

import (
	"context"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Operation is a running command. currentOp shows it and killOp ends it.
type Operation struct {
	ID      int32                   // opid in currentOp
	Conn    *Conn                   // the connection that sent it; nil: the server runs it
	Started int64                   // server clock, milliseconds
	Name    string                  // the name of the command, even if an alias was sent
	ns      string                  // the namespace, in a copy
	Shape   string                  // queryShapeHash, in a copy
	Body    value.Doc               // valid while the operation runs
	Cancel  context.CancelCauseFunc // ends the command
	Session *session.Session        // its session; nil: none
	User    string                  // the user who runs it, as "db.name"; "": nobody logged in
	Killed  atomic.Bool             // whether it was killed
	Plan    atomic.Pointer[string]  // planSummary; nil: it has none yet

	before, after *Operation // the neighbors in its shard
}

// forget clears the references to the command that has run.
func (op *Operation) forget() { op.Body, op.Cancel, op.Session = nil, nil, nil }

// Operations holds the running operations in shards, so that
// connections do not queue for one lock.
type Operations struct {
	Next   atomic.Int32 // the newest id
	shards [16]operationShard
}

// operationShard is a list, so that beginning and ending an operation costs
// little; searches are rare.
type operationShard struct {
	mu    sync.Mutex
	first *Operation
	_     [48]byte // keep shards on cache lines of their own
}

// newOperations makes an empty registry.
func newOperations() *Operations { return &Operations{} }

func (r *Operations) shard(id int32) *operationShard {
	return &r.shards[uint32(id)%uint32(len(r.shards))]
}

// Add gives an operation its id and registers it.
func (r *Operations) Add(op *Operation) {
	op.ID = r.Next.Add(1)
	s := r.shard(op.ID)
	s.mu.Lock()
	op.before, op.after = nil, s.first
	if s.first != nil {
		s.first.before = op
	}
	s.first = op
	s.mu.Unlock()
}

// Remove forgets an operation that is over.
func (r *Operations) Remove(op *Operation) {
	s := r.shard(op.ID)
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

// Each calls fn with each running operation, which is valid until fn returns.
func (r *Operations) Each(fn func(*Operation)) {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		for op := s.first; op != nil; op = op.after {
			fn(op)
		}
		s.mu.Unlock()
	}
}

// Kill ends the operations that match and returns their number. It kills an operation while
// it holds the lock of its shard: without it, the connection might already run another
// command with the same context.
func (r *Operations) Kill(cause error, match func(*Operation) bool) (n int) {
	r.Each(func(op *Operation) {
		if match(op) {
			op.Killed.Store(true)
			if op.Cancel != nil {
				op.Cancel(cause)
			}
			n++
		}
	})
	return n
}

// ErrKilled is the error of a command that killOp has ended.
var ErrKilled = mongoerr.New(mongoerr.Interrupted, "operation was interrupted")

func (r *Operations) killConn(id int64) {
	r.Kill(mongoerr.New(mongoerr.ClientDisconnect, "client disconnected"), func(op *Operation) bool { return op.Conn != nil && op.Conn.ID == id })
}

// List copies the running operations, ordered by id, without their commands.
func (r *Operations) List() []*Operation { return r.list(func(_, _ *Operation) {}) }

// ListWith is List with the commands, [Truncated] to maxBody bytes unless it is negative, and
// their shapes, which shape returns.
func (r *Operations) ListWith(maxBody int, shape func(body value.Doc) string) []*Operation {
	return r.list(func(shown, op *Operation) {
		if shown.Shape = shape(op.Body); maxBody < 0 {
			shown.Body = op.Body.Clone()
		} else {
			shown.Body = Truncated(op.Body, maxBody)
		}
	})
}

// list copies the operations. more adds to a copy, while the operation is valid.
func (r *Operations) list(more func(shown, op *Operation)) []*Operation {
	var out []*Operation
	r.Each(func(op *Operation) {
		shown := &Operation{
			ID: op.ID, Conn: op.Conn, Started: op.Started, Name: strings.Clone(op.Name),
			ns: strings.Clone(OperationNamespace(op)), Session: op.Session, User: op.User,
		}
		shown.Killed.Store(op.Killed.Load())
		more(shown, op)
		if p := op.Plan.Load(); p != nil {
			shown.Plan.Store(p)
		}
		out = append(out, shown)
	})
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return out
}

// Count is the number of running operations.
func (r *Operations) Count() (n int) {
	r.Each(func(*Operation) { n++ })
	return n
}

// CountClients returns the number of operations of clients, without the commands that run
// an expiry pass themselves.
func (r *Operations) CountClients() (n int) {
	r.Each(func(op *Operation) {
		if op.Name != "runExpirationPass" && op.Name != "testClock" && op.Name != "hello" {
			n++
		}
	})
	return n
}

// OperationNamespace returns the namespace that an operation works on, as currentOp
// shows it.
func OperationNamespace(op *Operation) string {
	if op.ns != "" {
		return op.ns
	}
	return requestNamespace(op.Name, op.Body, op.Body.Lookup("$db").Str())
}

// requestNamespace is the namespace that a command is about, as mongod names
// it.
func requestNamespace(name string, body value.Doc, db string) string {
	_, v := body.First()
	if name == "getMore" {
		v = body.Lookup("collection")
	}
	switch {
	case v.Kind() == value.KindString && name == "dataSize": // with its database
		return v.Str()
	case v.Kind() == value.KindString:
		return db + "." + v.Str()
	case name == "aggregate":
		return db + ".$cmd.aggregate"
	}
	return db + ".$cmd"
}

// Profiled reports whether the profiler considers the command. In mongod it considers only
// commands that open a collection of the database, or its statistics.
func (c *Call) Profiled() bool {
	if c.Cmd.Has(Continues) {
		return !strings.HasPrefix(c.Body.Lookup("collection").Str(), "$cmd.list")
	}
	return c.Cmd.On == OnCollection || c.Cmd.Has(Profiled)
}
