package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// With --replSet the server shows the face of a replica set of one member,
// which needs no set-up to be its primary: drivers then use sessions,
// retryable writes and causal consistency on their own. Transactions and
// change streams do not need it.

// inReplicaSet reports whether the server says that it is a member.
func (s *Service) inReplicaSet() bool { return s.options.ReplSet != "" }

// memberHost is the address under which the client finds the member.
func (c *Call) memberHost() string {
	if host := c.svc.options.AdvertiseHost; host != "" {
		return host
	}
	if config := c.svc.leader.config.Load(); !config.asConnected {
		return config.member().host
	}
	return c.conn.Local
}

// appendMember writes what hello says of the replica set.
func (c *Call) appendMember(primary bool) {
	if !c.svc.inReplicaSet() {
		return
	}
	b, host, config := c.reply, c.memberHost(), c.svc.leader.config.Load()
	b.StartArray("hosts").String("", host).End()
	b.String("setName", c.svc.options.ReplSet).Int32("setVersion", int32(config.version)).Bool("secondary", !primary)
	if primary {
		b.String("primary", host)
	}
	b.String("me", host)
	if primary {
		b.Append("electionId", value.ObjectID(electionID(c.svc.leader.term.Load())))
	}
	if tags := config.member().tags; !tags.IsEmpty() {
		b.Document("tags", tags)
	}
	b.StartDocument("lastWrite")
	c.appendOpTimes([2]string{"opTime", "lastWriteDate"}, [2]string{"majorityOpTime", "majorityWriteDate"})
	b.End()
}

// appendOpTimes writes pairs of the last write's time in the log and on the
// clock.
func (c *Call) appendOpTimes(pairs ...[2]string) {
	ts := c.svc.stamps.current()
	for _, p := range pairs {
		c.reply.StartDocument(p[0]).Append("ts", stampValue(ts)).Int64("t", c.svc.leader.term.Load()).End()
		c.reply.Date(p[1], int64(ts>>32)*1000)
	}
}

// emptySignature stands in $clusterTime: there are no keys to sign with.
var emptySignature = value.NewDoc("hash", value.Binary(0, make([]byte, 20)), "keyId", value.Int64(0))

// appendClusterTime writes the cluster time behind every reply of a member.
func (s *Service) appendClusterTime(b *value.Builder) {
	if !s.inReplicaSet() {
		return
	}
	ts := stampValue(s.stamps.current())
	b.StartDocument("$clusterTime").Append("clusterTime", ts).Document("signature", emptySignature).End()
	b.Append("operationTime", ts)
}

// replicaSetCommands are those of the one-member set.
func replicaSetCommands() []command {
	member := func(name, action string, run func(*Call) error, help string) command {
		return command{name: name, run: run, flags: adminOnly, action: action, on: onCluster, help: help}
	}
	return []command{
		{name: "_isSelf", run: runIsSelf, flags: preAuth, help: "tell which server answers"},
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
func (c *Call) needReplicaSet() error {
	if c.svc.inReplicaSet() {
		return nil
	}
	if c.cmd.name == "replSetInitiate" {
		return mongoerr.New(mongoerr.NoReplicationEnabled, "This node was not started with replication enabled.")
	}
	return mongoerr.New(mongoerr.NoReplicationEnabled, "not running with --replSet")
}
