package commands

import (
	"sync/atomic"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// timestamps hands out BSON timestamps that never repeat nor go back: the
// cluster time. Entries of the change log take theirs while they are the
// only writer, so the log is in the order of its timestamps.
type timestamps struct {
	last atomic.Uint64
}

// next is a fresh timestamp at or after an instant in milliseconds.
func (t *timestamps) next(now int64) uint64 {
	for {
		last := t.last.Load()
		ts := max(last+1, uint64(max(now, 0)/1000)<<32|1)
		if t.last.CompareAndSwap(last, ts) {
			return ts
		}
	}
}

// current is the newest timestamp.
func (t *timestamps) current() uint64 { return t.last.Load() }

// advance makes sure that no later timestamp is below ts.
func (t *timestamps) advance(ts uint64) {
	for last := t.last.Load(); last < ts && !t.last.CompareAndSwap(last, ts); last = t.last.Load() {
	}
}

// nextTimestamp is a unique timestamp at or after an instant in
// milliseconds.
func (s *Service) nextTimestamp(now int64) value.Value { return stampValue(s.stamps.next(now)) }

func stampValue(ts uint64) value.Value { return value.Timestamp(uint32(ts>>32), uint32(ts)) }

func stampOf(v value.Value) uint64 {
	t, i := v.Timestamp()
	return uint64(t)<<32 | uint64(i)
}

// afterClusterTime honours readConcern.afterClusterTime. What is committed
// is visible at once here, so there is nothing to wait for; but a time that
// this server never gave out is none to read after.
func (c *Call) afterClusterTime() error {
	v := c.generic.readConcern.Lookup("afterClusterTime")
	if v.IsMissing() {
		return nil
	}
	ts := stampOf(v)
	if ts == 0 {
		return mongoerr.New(mongoerr.InvalidOptions, "afterClusterTime cannot be a null timestamp")
	}
	// A client that talked to another server may be ahead of our clock: the
	// cluster time follows it, as it does in a cluster, but not far.
	if err := checkDrift(ts, c.now); err != nil {
		return err
	}
	c.svc.stamps.advance(ts)
	return nil
}

// gossip takes over the cluster time that a client has heard elsewhere, as the
// members of a cluster do, unless it is too far ahead. With access control only
// those may move the time who have the right to: nothing is signed here.
func (c *Call) gossip() error {
	if c.generic.clusterTime == nil || !c.svc.inReplicaSet() {
		return nil
	}
	v, given := c.generic.clusterTime.Get("clusterTime")
	switch {
	case !given:
		return mongoerr.New(mongoerr.NoSuchKey, "Missing expected field \"clusterTime\"")
	case v.Kind() != value.KindTimestamp:
		return mongoerr.Newf(mongoerr.TypeMismatch, "\"clusterTime\" had the wrong type. Expected timestamp, found %s", v.Kind())
	}
	ts := stampOf(v)
	if ts <= c.svc.stamps.current() {
		return nil
	}
	if err := checkDrift(ts, c.svc.clock.NowMillis()); err != nil {
		return err
	}
	if c.svc.options.Security.Auth && !c.may(auth.Cluster(), "advanceClusterTime") {
		return nil
	}
	c.svc.stamps.advance(ts)
	return nil
}

// checkDrift refuses a cluster time that is too far ahead of the clock; now is
// in milliseconds.
func checkDrift(ts uint64, now int64) error {
	if limit := uint64(now/1000+maxClockDrift) << 32; ts > limit {
		return mongoerr.Newf(mongoerr.ClusterTimeFailsRateLimiter, "New cluster time, %d, is too far from this node's wall clock time, %d.", ts>>32, now/1000)
	}
	return nil
}

// maxClockDrift is how many seconds a client's cluster time may be ahead of
// the clock.
const maxClockDrift = 365 * 24 * 3600
