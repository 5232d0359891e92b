package clustertime

import (
	"sync/atomic"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Clock hands out BSON timestamps that never repeat nor go back: the
// cluster time. Entries of the change log take theirs from the engine, where
// all servers over the same data get them, so the log is in the order of its
// timestamps.
type Clock struct {
	last  atomic.Uint64
	stamp Stamper // nil: the timestamps are those of this clock alone
}

// Stamper knows the stamps of commits; a storage.Engine is one.
type Stamper interface {
	// CommitStamp returns the greatest stamp so far.
	CommitStamp() uint64
}

// Committer provides the stamp of its commit; a storage.Tx of an Update is one.
type Committer interface {
	// CommitStamp returns a stamp that is not below least.
	CommitStamp(least uint64) (uint64, error)
}

// Follow makes the stamps of commits part of the cluster time. It must be called
// before the clock is used.
func (t *Clock) Follow(s Stamper) { t.stamp = s }

// Next returns a timestamp that is greater than all before and not before now, which is
// in milliseconds since the epoch. The upper 32 bits are the seconds, the lower ones the
// increment. Another server may give a commit the same.
func (t *Clock) Next(now int64) uint64 {
	for {
		last := t.last.Load()
		ts := max(max(last, t.committed())+1, uint64(max(now, 0)/1000)<<32|1)
		if t.last.CompareAndSwap(last, ts) {
			return ts
		}
	}
}

// Commit returns the timestamp of an entry that an Update of the engine adds to the
// change log, greater than those of all entries before.
func (t *Clock) Commit(tx Committer, now int64) (uint64, error) {
	return tx.CommitStamp(t.Next(now))
}

// Current returns the newest timestamp, 0 before the first.
func (t *Clock) Current() uint64 { return max(t.last.Load(), t.committed()) }

// committed returns the greatest stamp of a commit.
func (t *Clock) committed() uint64 {
	if t.stamp == nil {
		return 0
	}
	return t.stamp.CommitStamp()
}

// Advance makes sure that all later timestamps are greater than ts.
func (t *Clock) Advance(ts uint64) {
	for last := t.last.Load(); last < ts && !t.last.CompareAndSwap(last, ts); last = t.last.Load() {
	}
}

// Value returns a timestamp as BSON.
func Value(ts uint64) value.Value { return value.Timestamp(uint32(ts>>32), uint32(ts)) }

// Of returns the timestamp that a BSON timestamp holds.
func Of(v value.Value) uint64 {
	t, i := v.Timestamp()
	return uint64(t)<<32 | uint64(i)
}

// CheckDrift refuses a client's cluster time that is further ahead of the clock than
// mongod's maxAcceptableLogicalClockDriftSecs, which is a year; now is in milliseconds.
func CheckDrift(ts uint64, now int64) error {
	if limit := uint64(now/1000+maxClockDrift) << 32; ts > limit {
		return mongoerr.Newf(mongoerr.ClusterTimeFailsRateLimiter, "New cluster time, %d, is too far from this node's wall clock time, %d.", ts>>32, now/1000)
	}
	return nil
}

// maxClockDrift is how many seconds a client's cluster time may be ahead of
// the clock.
const maxClockDrift = 365 * 24 * 3600
