package ttl

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/storage"
)

// ErrGone is what a [Host] returns for a collection that does not exist any
// more. The monitor passes over it in silence.
var ErrGone = errors.New("collection is gone")

// Collection is a collection in which something expires. The UUID tells
// which, the namespace only what it was called when it was listed.
type Collection struct {
	Namespace storage.Namespace
	UUID      [16]byte
	Rules     *Rules
}

// Host is the server as the monitor sees it.
type Host interface {
	// Collections lists the collections that have Rules.
	Collections(ctx context.Context) ([]Collection, error)
	// Targets lists what expires otherwise: message queues.
	Targets(ctx context.Context) ([]Target, error)
	// View gives fn a collection and its rules as they are now, under
	// whatever name it goes by now; ErrGone if it does not exist.
	View(ctx context.Context, c *Collection, fn func(storage.Collection, *Rules) error) error
	// Update is View in an engine transaction that fn may remove records in.
	// The transaction is committed when fn returns nil.
	Update(ctx context.Context, c *Collection, fn func(storage.Collection, *Rules, Remover) error) error
	// Parameters returns the server parameters as they are now.
	Parameters() Parameters
	// Locked reports whether writes are blocked by fsyncLock.
	Locked() bool
	// ActiveOperations is the number of client operations that are running,
	// the one that asks for a pass not included.
	ActiveOperations() int
	// Operations is the number of client operations that have begun so far.
	Operations() int64
}

// Parameters are the server parameters that the monitor obeys.
type Parameters struct {
	Enabled           bool  // ttlMonitorEnabled
	SleepSecs         int64 // ttlMonitorSleepSecs
	BatchDeletes      bool  // ttlMonitorBatchDeletes
	SubPassTargetSecs int64 // ttlMonitorSubPassTargetSecs
	DeleteTargetMS    int64 // ttlIndexDeleteTargetTimeMS
	DeleteTargetDocs  int64 // ttlIndexDeleteTargetDocs
	PurgeThreshold    int64 // documentTtlPurgeYieldThreshold
}

// DefaultParameters are those of a server that was not told otherwise.
func DefaultParameters() Parameters {
	return Parameters{
		Enabled: true, SleepSecs: 60, BatchDeletes: true, SubPassTargetSecs: 60,
		DeleteTargetMS: 1000, DeleteTargetDocs: 50000, PurgeThreshold: 64,
	}
}

// Target is something that a pass visits.
type Target interface {
	// Policy decides when in the pass it is visited and how it is counted.
	Policy() Policy
	// String names the target in logs.
	String() string
	// Sweep removes what has expired at v.Now, in transactions of at most
	// v.Batch() items each, calling v.Yield between them, until nothing is
	// left or the batch is 0.
	Sweep(ctx context.Context, v *Visit) error
}

// Visit is one visit of a target: what it may do and what it did.
type Visit struct {
	Now     int64 // the instant of the pass
	Removed Removed
	More    bool // the target stopped at a limit
	// Deferred is set by a purge that gave way to client operations.
	Deferred bool
	// Refused is why the first of the documents was kept that stay.
	Refused error

	limits  visitLimits
	batches int
}

type visitLimits struct {
	batch    func() int
	docs     int64 // 0: no limit
	over     func() bool
	yield    func()
	canPurge func() bool
}

// Batch is how many items the next transaction may remove. It is 0 when the
// limits of the visit are reached; More is set then.
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

// Yield lets others run between two transactions.
func (v *Visit) Yield() { v.limits.yield() }

// Count adds what a transaction removed.
func (v *Visit) Count(r Removed) { v.Removed.add(r) }
