package transaction

import (
	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// NextTimestamp returns a unique timestamp at or after a time in milliseconds.
func NextTimestamp(s *kernel.Service, now int64) value.Value {
	return clustertime.Value(s.Stamps.Next(now))
}

// afterClusterTime honours readConcern.afterClusterTime. A commit is visible at once,
// so there is nothing to wait for. A time that this server has not reached is refused.
func afterClusterTime(c *kernel.Call) error {
	v := c.Generic.ReadConcern.Lookup("afterClusterTime")
	if v.IsMissing() {
		return nil
	}
	ts := clustertime.Of(v)
	if ts == 0 {
		return mongoerr.New(mongoerr.InvalidOptions, "afterClusterTime cannot be a null timestamp")
	}
	// A client that talked to another server may be ahead of our clock: the
	// cluster time follows it, as it does in a cluster, but not far.
	if err := clustertime.CheckDrift(ts, c.Now); err != nil {
		return err
	}
	c.Svc.Stamps.Advance(ts)
	return nil
}

// Gossip advances the cluster time to the one that a client has received from another
// server, unless it is too far ahead. With access control this needs a privilege, since
// cluster times are not signed here.
func Gossip(c *kernel.Call) error {
	if c.Generic.ClusterTime == nil || !c.Svc.Replicated() {
		return nil
	}
	v, given := c.Generic.ClusterTime.Get("clusterTime")
	switch {
	case !given:
		return mongoerr.New(mongoerr.NoSuchKey, "Missing expected field \"clusterTime\"")
	case v.Kind() != value.KindTimestamp:
		return mongoerr.Newf(mongoerr.TypeMismatch, "\"clusterTime\" had the wrong type. Expected timestamp, found %s", v.Kind())
	}
	ts := clustertime.Of(v)
	if ts <= c.Svc.Stamps.Current() {
		return nil
	}
	if err := clustertime.CheckDrift(ts, c.Svc.Clock.NowMillis()); err != nil {
		return err
	}
	if c.Svc.Options.Security.Auth && !access.May(c, auth.Cluster(), "advanceClusterTime") {
		return nil
	}
	c.Svc.Stamps.Advance(ts)
	return nil
}
