package replication

import (
	"cmp"

	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/replset"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// TopologyVersion returns the value of topologyVersion: the id of this process and
// the counter.
func TopologyVersion(c *kernel.Call, version int64) value.Doc {
	return value.NewDoc("processId", value.ObjectID(c.Svc.ProcessID), "counter", value.Int64(version))
}

// AppendTopologyVersion writes topologyVersion into the reply.
func AppendTopologyVersion(c *kernel.Call, version int64) {
	c.Reply.Document("topologyVersion", TopologyVersion(c, version))
}

// memberHost returns the address at which the client reaches the member of a
// configuration.
func memberHost(c *kernel.Call, config *replset.Config) string {
	if host := c.Svc.Options.AdvertiseHost; host != "" {
		return host
	}
	if !config.AsConnected {
		return config.Member().Host
	}
	return c.Conn.Local
}

// AppendMember writes the part of hello's reply that is about the replica set, or the
// message by which drivers recognise a mongos.
func AppendMember(c *kernel.Call, primary bool) error {
	switch c.Svc.Deployment() {
	case kernel.Sharded:
		c.Reply.String("msg", "isdbgrid")
		return nil
	case kernel.Standalone:
		return nil
	}
	config, err := c.SetConfig()
	if err != nil {
		return err
	}
	b, host := c.Reply, memberHost(c, config)
	b.StartArray("hosts").String("", host).End()
	b.String("setName", c.Svc.Options.ReplSet).Int32("setVersion", int32(config.Version)).Bool("secondary", !primary)
	if primary {
		b.String("primary", host)
	}
	b.String("me", host)
	if primary {
		b.Append("electionId", value.ObjectID(replset.ElectionID(c.Svc.Leader.Term.Load())))
	}
	if tags := config.Member().Tags; !tags.IsEmpty() {
		b.Document("tags", tags)
	}
	b.StartDocument("lastWrite")
	appendOpTimes(c, [2]string{"opTime", "lastWriteDate"}, [2]string{"majorityOpTime", "majorityWriteDate"})
	b.End()
	return nil
}

// appendOpTimes writes pairs of the last write's time in the log and on the
// clock.
func appendOpTimes(c *kernel.Call, pairs ...[2]string) {
	ts := c.Svc.Stamps.Current()
	for _, p := range pairs {
		c.Reply.StartDocument(p[0]).Append("ts", clustertime.Value(ts)).Int64("t", c.Svc.Leader.Term.Load()).End()
		c.Reply.Date(p[1], int64(ts>>32)*1000)
	}
}

// emptySignature is the signature in $clusterTime: there are no keys.
var emptySignature = value.NewDoc("hash", value.Binary(0, make([]byte, 20)), "keyId", value.Int64(0))

// AppendClusterTime writes $clusterTime and operationTime, which end every reply
// of a replica set or a sharded cluster. The cluster time of this server may be ahead of the
// commits, and another server may commit at an earlier time: so with other servers the
// operation time is that of the last commit. A change stream may start at it.
func AppendClusterTime(s *kernel.Service, b *value.Builder) {
	if !s.Replicated() {
		return
	}
	now := s.Stamps.Current()
	last := now
	if s.Shared {
		last = cmp.Or(s.Engine.CommitStamp(), now)
	}
	b.StartDocument("$clusterTime").Append("clusterTime", clustertime.Value(now)).Document("signature", emptySignature).End()
	b.Append("operationTime", clustertime.Value(last))
}

// Commands returns the commands of the one-member replica set.
func Commands() []kernel.Command {
	member := func(name, action string, run func(*kernel.Call) error, help string) kernel.Command {
		cmd := kernel.Command{Name: name, Run: run, Flags: kernel.AdminOnly, Action: action, On: kernel.OnCluster, Help: help}
		if name != "replSetGetStatus" && name != "replSetResizeOplog" && name != "appendOplogNote" { // without a set there are no others
			cmd.Enabled = func(s *kernel.Service) bool { return !s.InCluster() }
		}
		return cmd
	}
	return []kernel.Command{
		{Name: "_isSelf", Run: runIsSelf, Flags: kernel.PreAuth, Help: "tell which server answers"},
		member("replSetGetStatus", "replSetGetStatus", runReplSetGetStatus, "describe the members of the replica set"),
		member("replSetGetConfig", "replSetGetConfig", runReplSetGetConfig, "show the configuration of the replica set"),
		member("replSetInitiate", "replSetConfigure", runReplSetInitiate, "give the replica set its first configuration"),
		member("replSetReconfig", "replSetConfigure", runReplSetReconfig, "give the replica set a new configuration"),
		member("replSetStepDown", "replSetStateChange", runReplSetStepDown, "have the primary be a secondary for a time"),
		member("replSetFreeze", "replSetStateChange", runReplSetFreeze, "keep a member from seeking election"),
		member("replSetMaintenance", "replSetStateChange", runReplSetMaintenance, "put a secondary aside"),
		member("replSetSyncFrom", "replSetStateChange", runReplSetSyncFrom, "tell a secondary from whom to copy"),
		member("replSetResizeOplog", "replSetResizeOplog", runReplSetResizeOplog, "change the bounds of the change log"),
		member("appendOplogNote", "appendOplogNote", runAppendOplogNote, "write a note into the change log"),
	}
}

// needReplicaSet refuses commands about a replica set on a standalone.
func needReplicaSet(c *kernel.Call) error {
	if c.Svc.InReplicaSet() {
		return nil
	}
	if c.Cmd.Name == "replSetInitiate" {
		return mongoerr.New(mongoerr.NoReplicationEnabled, "This node was not started with replication enabled.")
	}
	return mongoerr.New(mongoerr.NoReplicationEnabled, "not running with --replSet")
}
