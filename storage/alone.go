package storage

import "sync/atomic"

// Alone is the part of an engine whose data belong to one process: nobody else
// changes them, this server has all leases, and the stamps of commits are a
// counter. Embedded engines embed it.
type Alone struct{ stamp atomic.Uint64 }

// CommitStamp returns the greatest stamp that was given, also to a transaction
// that has not committed yet.
func (a *Alone) CommitStamp() uint64 { return a.stamp.Load() }

// NextStamp gives the next stamp, which is not below atLeast. The caller has the
// right to write.
func (a *Alone) NextStamp(atLeast uint64) uint64 {
	next := max(a.stamp.Load()+1, atLeast)
	a.stamp.Store(next)
	return next
}

// Changes returns nil: no other server commits.
func (*Alone) Changes() <-chan struct{} { return nil }

// Lease returns true.
func (*Alone) Lease(string) bool { return true }
