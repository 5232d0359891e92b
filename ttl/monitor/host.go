package monitor

import (
	"context"
	"errors"
	"time"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// ErrGone is returned by a [Host] for a collection that no longer exists. The
// monitor skips such collections without logging.
var ErrGone = errors.New("collection is gone")

// Collection is a collection in which something expires. The UUID identifies
// it; the namespace is its name when it was listed.
type Collection struct {
	Namespace storage.Namespace
	UUID      [16]byte
	Rules     *ttl.Rules
	next      []int64 // for each index of Rules: when something falls due in it
}

// Host is the server as the monitor sees it.
type Host interface {
	// Collections lists the collections in which something is due, and the other
	// targets of a pass: message queues. The monitor's Schedule knows which these are.
	Collections(ctx context.Context, s *Schedule, now int64) (Listing, error)
	// View calls fn with a collection, under its present name, and its present
	// rules. It returns ErrGone if the collection does not exist.
	View(ctx context.Context, c *Collection, fn func(storage.Collection, *ttl.Rules) error) error
	// Update is View in a write transaction of the engine, in which fn may remove
	// records. The transaction is committed if fn returns nil.
	Update(ctx context.Context, c *Collection, fn func(storage.Collection, *ttl.Rules, ttl.Remover) error) error
	// Parameters returns the present server parameters.
	Parameters() Parameters
	// Locked reports whether writes are blocked by fsyncLock.
	Locked() bool
	// ActiveOperations is the number of running client operations, not counting
	// the one that requested the pass.
	ActiveOperations() int
	// Operations is the number of client operations begun since the start.
	Operations() int64
}

// Parameters are the server parameters that the monitor uses.
type Parameters struct {
	Enabled           bool  // ttlMonitorEnabled
	SleepSecs         int64 // ttlMonitorSleepSecs
	BatchDeletes      bool  // ttlMonitorBatchDeletes
	SubPassTargetSecs int64 // ttlMonitorSubPassTargetSecs
	DeleteTargetMS    int64 // ttlIndexDeleteTargetTimeMS
	DeleteTargetDocs  int64 // ttlIndexDeleteTargetDocs
	PurgeThreshold    int64 // documentTtlPurgeYieldThreshold
}

// Target is something that a pass visits.
type Target interface {
	// Policy determines the target's place in the pass and the counters that it
	// adds to.
	Policy() ttl.Policy
	// String names the target in logs.
	String() string
	// UUID is that of the collection.
	UUID() [16]byte
	// Namespace is that of the collection when it was listed.
	Namespace() storage.Namespace
	// Sweep removes the items that have expired at v.Now, in transactions of at
	// most v.Batch() items each, and calls v.Yield between them, until nothing is
	// left or the batch is 0.
	Sweep(ctx context.Context, v *Visit) error
}

// Visit is one visit of a target: its limits and its results.
type Visit struct {
	Now     int64 // the instant of the pass
	Removed ttl.Removed
	More    bool // the target stopped at a limit
	// Deferred is set by a purge that stopped because of client operations.
	Deferred bool
	// Refused is the error for the first document that could not be removed.
	Refused error

	keptBefore int64 // documents kept by the visits that this one continues

	limits    visitLimits
	lags      ttl.Lags // delays of the removals; queues observe theirs themselves
	batches   int      // transactions begun
	conflicts int      // conflicts since something was removed
	pause     storage.Backoff
}

// maxConflicts is how often a visit tries again without success. The pauses are
// seven milliseconds together.
const maxConflicts = 3

type visitLimits struct {
	batch    func() int
	docs     int64 // 0: no limit
	over     func() bool
	yield    func()
	pause    func(time.Duration)
	canPurge func() bool
}

// Batch returns the number of items that the next transaction may remove. It
// returns 0 and sets More when the limits of the visit are reached.
func (v *Visit) Batch() int {
	v.batches++
	n := int64(v.limits.batch())
	if d := v.limits.docs; d > 0 {
		removed := v.Removed.Documents + v.Removed.MessagesDropped + v.Removed.MessagesDeadLettered
		n = min(n, d-removed)
	}
	if n <= 0 || v.batches > 1 && v.limits.over() { // each visit makes progress
		v.More = true
		return 0
	}
	return int(n)
}

// Yield lets client operations run between two transactions.
func (v *Visit) Yield() { v.limits.yield() }

// Count adds the removals of a transaction.
func (v *Visit) Count(r ttl.Removed) {
	v.Removed.Add(r)
	if r.Any() {
		v.conflicts, v.pause = 0, storage.Backoff{}
	}
}

// Again is called after a conflict with another writer. It reports whether to try again
// in this visit, after a pause in which the other may have ended. What a
// transaction holds for longer is left to the next pass.
func (v *Visit) Again() bool {
	if v.conflicts == maxConflicts {
		return false
	}
	v.conflicts++
	v.limits.pause(v.pause.Next())
	return true
}
