package commands

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// liveStream is a change stream as its cursor sees it.
type liveStream interface {
	// appendToken writes postBatchResumeToken. ahead: a document was read that the
	// client has not got yet.
	appendToken(b *value.Builder, ahead bool)
	// ended reports whether the last event has been delivered.
	ended() bool
	// wait returns a channel that is closed when there may be something new, or
	// nil if the stream is closed.
	wait() <-chan struct{}
}

// cursor is a result that a client reads in batches. Between batches it
// holds no lock and no transaction: its iterator remembers a position.
type cursor struct {
	id        int64
	ns        storage.Namespace
	it        agg.Iterator
	peeked    value.Doc // read, but did not fit into the last batch
	session   *session
	user      string
	grants    []grant    // what the command that made it was asked for
	asked     *auth.User // who had them when they were last looked at
	txnNumber *int64
	stream    liveStream    // that it reads, nil: none
	held      *heldSnapshot // the state it reads, nil: the latest
	noTimeout bool
	tailable  bool
	awaitData bool
	timeLeft  time.Duration           // of the command that made it, for further batches; 0: as much as they take
	lastUsed  time.Time               // real time, guarded by the registry
	inUse     bool                    // guarded by the registry
	killed    bool                    // guarded by the registry
	interrupt context.CancelCauseFunc // ends the getMore that uses it, guarded by the registry
	opened    time.Time               // real time
	returned  int64                   // documents
	batches   int64                   // with them
	plan      string                  // of the command that made it, see planSummary
	access    planned
	created   value.Doc              // the command that made it, for currentOp and comments
	extra     func(b *value.Builder) // further fields of the cursor document
	setOp     func(*Call)            // hands the running command to the iterator
}

// streamEnded reports whether the cursor reads a change stream that is over.
func (c *cursor) streamEnded() bool { return c.stream != nil && c.stream.ended() }

// cursorRegistry holds the open cursors.
type cursorRegistry struct {
	mu       sync.Mutex
	cursors  map[int64]*cursor
	total    int64 // opened since start
	timedOut int64
	limit    int // of open cursors
}

// maxOpenCursors bounds what forgetful clients can make the server hold.
const maxOpenCursors = 100_000

func newCursorRegistry() *cursorRegistry {
	return &cursorRegistry{cursors: map[int64]*cursor{}, limit: maxOpenCursors}
}

// add registers a cursor, in use, under a random id.
func (r *cursorRegistry) add(c *cursor) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.cursors) >= r.limit {
		return mongoerr.Newf(mongoerr.ExceededMemoryLimit, "too many open cursors: %d", len(r.cursors))
	}
	for c.id == 0 || r.cursors[c.id] != nil {
		c.id = rand.Int64() //nolint:gosec // ids are guarded by the session's owner, not by secrecy
	}
	c.inUse = true
	r.total++
	r.cursors[c.id] = c
	return nil
}

// take checks a cursor out for a getMore, which interrupt can end.
func (r *cursorRegistry) take(id int64, interrupt context.CancelCauseFunc) (*cursor, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.cursors[id]
	if c == nil {
		return nil, cursorNotFound(id)
	}
	if c.inUse {
		return nil, mongoerr.Newf(mongoerr.CursorInUse, "cursor id %d is already in use", id)
	}
	c.inUse, c.interrupt = true, interrupt
	return c, nil
}

func cursorNotFound(id int64) error {
	return mongoerr.Newf(mongoerr.CursorNotFound, "cursor id %d not found", id)
}

// release puts a cursor back; it is closed if it was killed meanwhile.
func (r *cursorRegistry) release(c *cursor, now time.Time) {
	r.mu.Lock()
	c.inUse, c.interrupt, c.lastUsed = false, nil, now
	killed := c.killed
	r.mu.Unlock()
	if killed {
		c.it.Close()
	}
}

// kill removes a cursor; one that is in use is closed when it is released.
func (r *cursorRegistry) kill(id int64) bool {
	r.mu.Lock()
	c := r.cursors[id]
	if c == nil {
		r.mu.Unlock()
		return false
	}
	delete(r.cursors, id)
	c.killed = true
	idle := !c.inUse
	r.mu.Unlock()
	if idle {
		c.it.Close()
	}
	return true
}

// interrupt kills a cursor and ends the getMore that uses it. It does so while
// the cursor is held: a moment later the connection may run something else.
func (r *cursorRegistry) interrupt(id int64) bool {
	r.mu.Lock()
	if c := r.cursors[id]; c != nil && c.interrupt != nil {
		c.interrupt(errCursorKilled)
	}
	r.mu.Unlock()
	return r.kill(id)
}

// errCursorKilled is what a getMore answers whose cursor is killed meanwhile.
var errCursorKilled = mongoerr.New(mongoerr.CursorKilled, "operation was interrupted")

// killWhere removes all cursors that match.
func (r *cursorRegistry) killWhere(match func(*cursor) bool) (n int) {
	r.mu.Lock()
	var ids []int64
	for id, c := range r.cursors {
		if match(c) {
			ids = append(ids, id)
		}
	}
	r.mu.Unlock()
	for _, id := range ids {
		if r.kill(id) {
			n++
		}
	}
	return n
}

// expire closes cursors that lay unused too long.
func (r *cursorRegistry) expire(now time.Time, timeout time.Duration) {
	n := r.killWhere(func(c *cursor) bool {
		return !c.inUse && !c.noTimeout && now.Sub(c.lastUsed) >= timeout
	})
	r.mu.Lock()
	r.timedOut += int64(n)
	r.mu.Unlock()
}

func (r *cursorRegistry) closeAll() {
	r.killWhere(func(*cursor) bool { return true })
}

// count is the number of open cursors, of those without time-out, of those
// in use, and of all ever opened and timed out.
func (r *cursorRegistry) count() (open, noTimeout, pinned, total, timedOut int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.cursors {
		if c.noTimeout {
			noTimeout++
		}
		if c.inUse {
			pinned++
		}
	}
	return int64(len(r.cursors)), noTimeout, pinned, r.total, r.timedOut
}
