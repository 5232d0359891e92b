package kernel

import (
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// liveStream is a change stream as its cursor sees it.
type liveStream interface {
	// AppendToken writes postBatchResumeToken; ahead reports whether a document was
	// read that the client has not got yet.
	AppendToken(b *value.Builder, ahead bool)
	// Ended reports whether the last event has been delivered.
	Ended() bool
	// Wait returns a channel that is closed when there may be something new, or
	// nil if the stream is closed.
	Wait() <-chan struct{}
}

// Cursor is a result that a client reads in batches. Between batches it
// holds no lock and no transaction: its iterator remembers a position.
type Cursor struct {
	ID          int64 // never 0, which stands for no cursor in replies
	NS          storage.Namespace
	It          agg.Iterator            // yields the remaining documents
	Peeked      value.Doc               // a document that was read and did not fit into the last batch
	Session     *session.Session        // the session of the command that opened it; nil: none
	User        string                  // the user who opened it, as "db.name"; "": nobody logged in
	Grants      []session.Grant         // the privileges that were checked when it was opened
	CheckedUser *auth.User              // the user for whom they were checked last
	TxnNumber   *int64                  // the transaction in which it was opened; nil: none
	Stream      liveStream              // the change stream behind it; nil: none
	Held        *session.HeldSnapshot   // the state it reads, nil: the latest
	Conn        int64                   // the id of the connection with which it ends; 0: none
	NoTimeout   bool                    // whether it stays open however long nobody reads it
	Tailable    bool                    // whether it stays open at its end
	AwaitData   bool                    // whether a getMore waits at its end
	TimeLeft    time.Duration           // the rest of maxTimeMS of the command that opened it; 0: no limit
	lastUsed    time.Time               // real time, guarded by the registry
	inUse       bool                    // guarded by the registry
	user        int32                   // id of the getMore that reads it, 0: none; guarded by the registry
	before      delivered               // what it had returned before that getMore; guarded by the registry
	killed      bool                    // guarded by the registry
	interrupt   context.CancelCauseFunc // ends the getMore that reads it; guarded by the registry
	Opened      time.Time               // real time
	delivered
	Plan    string                 // the plan of the command that opened it, see planSummary
	Access  observe.PlanInfo       // how that command found its documents
	Created value.Doc              // the command that opened it, truncated as by the profiler; for currentOp and comments
	Extra   func(b *value.Builder) // further fields of the cursor document
	SetOp   func(*Call)            // hands the running command to the iterator
	Stats   *observe.QueryRun      // the record of its query, which ends with it; nil: none
}

// delivered is how much a cursor has returned.
type delivered struct {
	Returned int64 // documents returned
	Batches  int64 // batches returned
}

// StreamEnded reports whether the cursor reads a change stream that is over.
func (c *Cursor) StreamEnded() bool { return c.Stream != nil && c.Stream.Ended() }

// Cursors is the registry of the open cursors.
type Cursors struct {
	Mu       sync.Mutex        // guards the fields below, except Limit
	Open     map[int64]*Cursor // the open cursors by their ids
	total    int64             // cursors opened since start
	timedOut int64
	Limit    int // maximum number of open cursors
}

// maxOpenCursors bounds the memory for cursors that clients do not close.
const maxOpenCursors = 100_000

// newCursors makes an empty registry.
func newCursors() *Cursors {
	return &Cursors{Open: map[int64]*Cursor{}, Limit: maxOpenCursors}
}

// Add registers a cursor, in use, under a random id.
func (r *Cursors) Add(c *Cursor) error {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if len(r.Open) >= r.Limit {
		return mongoerr.Newf(mongoerr.ExceededMemoryLimit, "too many open cursors: %d", len(r.Open))
	}
	for c.ID == 0 || r.Open[c.ID] != nil {
		c.ID = rand.Int64() //nolint:gosec // ids are guarded by the session's owner, not by secrecy
	}
	c.inUse = true
	r.total++
	r.Open[c.ID] = c
	return nil
}

// Take checks a cursor out for a getMore, an operation that interrupt can end.
func (r *Cursors) Take(id int64, op *Operation, interrupt context.CancelCauseFunc) (*Cursor, error) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	c := r.Open[id]
	if c == nil {
		return nil, cursorNotFound(id)
	}
	if c.inUse {
		return nil, mongoerr.Newf(mongoerr.CursorInUse, "cursor id %d is already in use", id)
	}
	c.inUse, c.interrupt, c.user, c.before = true, interrupt, op.ID, c.delivered
	return c, nil
}

func cursorNotFound(id int64) error {
	return mongoerr.Newf(mongoerr.CursorNotFound, "cursor id %d not found", id)
}

// Release puts a cursor back; it is closed if it was killed meanwhile.
func (r *Cursors) Release(c *Cursor, now time.Time) {
	r.Mu.Lock()
	c.inUse, c.interrupt, c.user, c.lastUsed = false, nil, 0, now
	killed := c.killed
	r.Mu.Unlock()
	if killed {
		c.It.Close()
		c.Stats.End()
	}
}

// Attach makes the record of a query end with its cursor. It returns false if that has been
// closed.
func (r *Cursors) Attach(id int64, run *observe.QueryRun) bool {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	c := r.Open[id]
	if c == nil {
		return false
	}
	if c.Tailable { // it has no end: each batch is an execution
		run.End()
	}
	c.Stats = run
	return true
}

// Kill removes a cursor; one that is in use is closed when it is released.
func (r *Cursors) Kill(id int64) bool {
	return r.removeIf(id, func(*Cursor) bool { return true })
}

// removeIf removes a cursor if match, which is called under the lock, returns true.
func (r *Cursors) removeIf(id int64, match func(*Cursor) bool) bool {
	r.Mu.Lock()
	c := r.Open[id]
	if c == nil || !match(c) {
		r.Mu.Unlock()
		return false
	}
	delete(r.Open, id)
	c.killed = true
	idle := !c.inUse
	r.Mu.Unlock()
	if idle {
		c.It.Close()
		c.Stats.End()
	}
	return true
}

// Interrupt kills a cursor and ends the getMore that uses it. Both happen under the lock of
// the registry: otherwise the getMore could remove the cursor first, which would then count
// as not found, or its connection might run another command already.
func (r *Cursors) Interrupt(id int64) bool {
	return r.removeIf(id, func(c *Cursor) bool {
		if c.interrupt != nil {
			c.interrupt(errCursorKilled)
		}
		return true
	})
}

// errCursorKilled is the error of a getMore whose cursor was killed meanwhile.
var errCursorKilled = mongoerr.New(mongoerr.CursorKilled, "operation was interrupted")

// KillWhere removes all cursors that match.
func (r *Cursors) KillWhere(match func(*Cursor) bool) {
	for _, id := range r.matching(match) {
		r.removeIf(id, match) // it may have come into use meanwhile
	}
}

// matching returns the ids of the open cursors that match.
func (r *Cursors) matching(match func(*Cursor) bool) (ids []int64) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	for id, c := range r.Open {
		if match(c) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Expire closes cursors that have not been used for timeout. They are counted under the
// lock that removes them, so that Count never shows one as neither open nor timed out.
func (r *Cursors) Expire(now time.Time, timeout time.Duration) {
	due := func(c *Cursor) bool {
		return !c.inUse && !c.NoTimeout && now.Sub(c.lastUsed) >= timeout
	}
	for _, id := range r.matching(due) {
		r.removeIf(id, func(c *Cursor) bool {
			if !due(c) {
				return false
			}
			r.timedOut++
			return true
		})
	}
}

// CloseAll closes all cursors; those in use are closed when they are released.
func (r *Cursors) CloseAll() {
	r.KillWhere(func(*Cursor) bool { return true })
}

// Count returns the number of open cursors, of those without timeout, of those in use, and
// of all cursors ever opened and timed out.
func (r *Cursors) Count() (open, noTimeout, pinned, total, timedOut int64) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	for _, c := range r.Open {
		if c.NoTimeout {
			noTimeout++
		}
		if c.inUse {
			pinned++
		}
	}
	return int64(len(r.Open)), noTimeout, pinned, r.total, r.timedOut
}

// AppendLSID writes the id of a session, with the digest of its user.
func AppendLSID(b *value.Builder, s *session.Session) {
	b.StartDocument("lsid").Append("id", value.Binary(4, s.Key.ID[:])).Append("uid", value.Binary(0, s.Record.UID[:])).End()
}

// ActiveCursor is the cursor of a getMore that runs.
type ActiveCursor struct {
	Doc     value.Doc // the document for currentOp
	Created value.Doc // the command that opened it
}

// Active describes the cursors that getMores use, by the ids of these operations. Commands
// are [Truncated] to maxBody bytes, unless it is negative.
func (r *Cursors) Active(maxBody int) map[int32]ActiveCursor {
	active := map[int32]ActiveCursor{}
	r.Mu.Lock()
	defer r.Mu.Unlock()
	for _, c := range r.Open {
		if c.user != 0 {
			b := value.NewBuilder()
			c.appendFields(b, c.before, maxBody)
			b.Int64("operationUsingCursorId", int64(c.user))
			active[c.user] = ActiveCursor{b.Doc(), c.Created}
		}
	}
	return active
}

// Idle describes the wanted cursors that no command reads at the moment. Commands are
// [Truncated] to maxBody bytes, unless it is negative.
func (r *Cursors) Idle(wanted func(*Cursor) bool, maxBody int) (docs []value.Doc) {
	host, _ := os.Hostname()
	r.Mu.Lock()
	defer r.Mu.Unlock()
	for _, c := range r.Open {
		if !c.inUse && wanted(c) {
			docs = append(docs, c.describe(host, maxBody))
		}
	}
	slices.SortFunc(docs, func(a, b value.Doc) int { // the oldest first
		return cmp.Compare(createdDate(a), createdDate(b))
	})
	return docs
}

func createdDate(d value.Doc) int64 { return d.Lookup("cursor").Doc().Lookup("createdDate").DateTime() }

// describe returns the document of an idle cursor. The caller holds the lock of the
// registry.
func (c *Cursor) describe(host string, maxBody int) value.Doc {
	b := value.NewBuilder()
	b.String("type", "idleCursor").String("host", host).String("ns", c.NS.String())
	if c.Session != nil {
		AppendLSID(b, c.Session)
	}
	if p := observe.PlanSummary(c.Plan, c.Access); p != "" {
		b.String("planSummary", p)
	}
	b.StartDocument("cursor")
	c.appendFields(b, c.delivered, maxBody)
	b.End()
	return b.Doc()
}

// appendFields writes the fields that describe the cursor. The caller holds the lock of the
// registry.
func (c *Cursor) appendFields(b *value.Builder, n delivered, maxBody int) {
	created := c.Created
	if maxBody >= 0 {
		created = Truncated(created, maxBody)
	}
	b.Int64("cursorId", c.ID).Int64("nDocsReturned", n.Returned).Int64("nBatchesReturned", n.Batches).
		Bool("tailable", c.Tailable).Bool("awaitData", c.AwaitData).
		Document("originatingCommand", created).Bool("noCursorTimeout", c.NoTimeout).
		Date("lastAccessDate", c.lastUsed.UnixMilli()).Date("createdDate", c.Opened.UnixMilli())
}
