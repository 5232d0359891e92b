package replication

import (
	"math"
	"time"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/replset"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type replSetArgs struct {
	Status   value.Value    `arg:"replSetGetStatus"`
	Config   value.Value    `arg:"replSetGetConfig"`
	Initiate value.Value    `arg:"replSetInitiate"`
	Reconfig value.Value    `arg:"replSetReconfig"`
	StepDown value.Value    `arg:"replSetStepDown"`
	Freeze   value.Value    `arg:"replSetFreeze"`
	Maintain value.Value    `arg:"replSetMaintenance"`
	SyncFrom value.Value    `arg:"replSetSyncFrom"`
	Initial  value.Value    `arg:"initialSync"`
	Commit   args.LooseBool `arg:"commitmentStatus"`
	Force    args.LooseBool `arg:"force"`
	CatchUp  value.Value    `arg:"secondaryCatchUpPeriodSecs"`
}

var replSetSpec = args.New[replSetArgs]("replSet")

func readReplSetArgs(c *kernel.Call) (a replSetArgs, err error) {
	if err = needReplicaSet(c); err != nil {
		return a, err
	}
	return a, replSetSpec.DecodeAs(c.Cmd.Name, c.Body, &a, true)
}

// runReplSetGetStatus describes the one member, in mongod's form.
func runReplSetGetStatus(c *kernel.Call) error {
	if c.Svc.InCluster() { // as a mongos answers, without a code
		c.NoOK = true
		c.Reply.String("info", "mongos").Double("ok", 0).String("errmsg", "replSetGetStatus is not supported through mongos")
		return nil
	}
	if _, err := readReplSetArgs(c); err != nil {
		return err
	}
	return WriteStatus(c)
}

// WriteStatus writes the reply of replSetGetStatus.
func WriteStatus(c *kernel.Call) error {
	b, s := c.Reply, c.Svc
	config, err := c.SetConfig()
	if err != nil {
		return err
	}
	state, name := int32(1), "PRIMARY"
	if s.Leader.SteppedDown.Load() {
		state, name = 2, "SECONDARY"
	}
	b.String("set", s.Options.ReplSet).Date("date", c.Now).Int32("myState", state).Int64("term", s.Leader.Term.Load()).
		String("syncSourceHost", "").Int32("syncSourceId", -1).Int64("heartbeatIntervalMillis", 2000).
		Int32("majorityVoteCount", 1).Int32("writeMajorityCount", 1).Int32("votingMembersCount", 1).Int32("writableVotingMembersCount", 1)
	b.StartDocument("optimes")
	appendOpTimes(c, [2]string{"lastCommittedOpTime", "lastCommittedWallTime"}, [2]string{"appliedOpTime", "lastAppliedWallTime"}, [2]string{"durableOpTime", "lastDurableWallTime"})
	b.End()
	up := int32(s.Clock.Now().Sub(s.StartedAt) / time.Second)
	b.StartArray("members").StartDocument("")
	replset.AppendInt(b, "_id", config.Member().ID)
	b.String("name", memberHost(c, config)).Double("health", 1).Int32("state", state).String("stateStr", name).Int32("uptime", up)
	appendOpTimes(c, [2]string{"optime", "optimeDate"})
	b.String("syncSourceHost", "").Int32("syncSourceId", -1).String("infoMessage", "")
	if state == 1 {
		b.Append("electionTime", clustertime.Value(s.Leader.Elected.Load())).Date("electionDate", s.Leader.ElectedAt.Load())
	}
	replset.AppendInt(b, "configVersion", config.Version)
	replset.AppendInt(b, "configTerm", config.Term)
	b.Bool("self", true).String("lastHeartbeatMessage", "")
	b.End().End()
	return nil
}

// runReplSetGetConfig shows the configuration that a set of one has.
func runReplSetGetConfig(c *kernel.Call) error {
	a, err := readReplSetArgs(c)
	if err != nil {
		return err
	}
	config, err := c.SetConfig()
	if err != nil {
		return err
	}
	b := c.Reply.StartDocument("config")
	config.Append(b, memberHost(c, config))
	b.End()
	if a.Commit {
		b.Bool("commitmentStatus", true)
	}
	return nil
}

// runReplSetStepDown makes the primary a secondary for a time. It must be forced, since no
// other member can catch up.
func runReplSetStepDown(c *kernel.Call) error {
	a, err := readReplSetArgs(c)
	if err != nil {
		return err
	}
	period, err := a.stepDownPeriod()
	switch {
	case err != nil:
		return err
	case c.Svc.Leader.SteppedDown.Load():
		return mongoerr.New(mongoerr.NotWritablePrimary, "not primary so can't step down")
	case !bool(a.Force):
		return mongoerr.Newf(mongoerr.ExceededTimeLimit, "No electable secondaries caught up as of %sPlease use the replSetStepDown command with the argument {force: true} to force node to step down.", observe.ISOTime(c.Now))
	}
	stepDown(c.Svc, period, c.Op)
	return nil
}

// stepDownPeriod reads for how long the primary is to step down.
func (a *replSetArgs) stepDownPeriod() (time.Duration, error) {
	period, catchUp := a.StepDown.SafeInt64(), int64(10)
	switch {
	case !a.StepDown.IsNumber() || period == 0:
		period = 60
	case period < 0:
		return 0, mongoerr.New(mongoerr.BadValue, "stepdown period must be a positive integer")
	}
	switch {
	case a.CatchUp.IsNumber():
		catchUp = a.CatchUp.SafeInt64()
	case !a.CatchUp.IsMissing():
		return 0, mongoerr.Newf(mongoerr.TypeMismatch, "Expected field \"secondaryCatchUpPeriodSecs\" to have numeric type, but found %s", a.CatchUp.Kind())
	case bool(a.Force):
		catchUp = 0
	}
	switch {
	case catchUp < 0:
		return 0, mongoerr.New(mongoerr.BadValue, "secondaryCatchUpPeriodSecs period must be a positive or absent")
	case period < catchUp:
		return 0, mongoerr.New(mongoerr.BadValue, "stepdown period must be longer than secondaryCatchUpPeriodSecs")
	}
	return seconds(period), nil
}

// seconds converts a number of seconds, at most the greatest possible duration.
func seconds(n int64) time.Duration {
	return time.Duration(min(n, int64(math.MaxInt64/time.Second))) * time.Second
}

// runReplSetFreeze keeps a member that stepped down from becoming primary again
// for a number of seconds; 0 ends that.
func runReplSetFreeze(c *kernel.Call) error {
	a, err := readReplSetArgs(c)
	if err != nil {
		return err
	}
	period := a.Freeze.SafeInt64()
	if period < 0 {
		return mongoerr.New(mongoerr.BadValue, "freeze seconds must be non-negative")
	}
	if err := freeze(c.Svc, c.Ctx, seconds(period)); err != nil {
		return err
	}
	switch period {
	case 0:
		c.Reply.String("info", "unfreezing")
	case 1:
		c.Reply.String("warning", "you really want to freeze for only 1 second?")
	}
	return nil
}

// runReplSetMaintenance refuses maintenance mode, since the member is the only one.
func runReplSetMaintenance(c *kernel.Call) error {
	if _, err := readReplSetArgs(c); err != nil {
		return err
	}
	if c.Svc.Leader.SteppedDown.Load() {
		return mongoerr.New(mongoerr.OperationFailed, "the only member of a set cannot be in maintenance mode")
	}
	return mongoerr.New(mongoerr.NotSecondary, "primaries can't modify maintenance mode")
}

// runReplSetSyncFrom refuses replSetSyncFrom: a primary has no sync source.
func runReplSetSyncFrom(c *kernel.Call) error {
	a, err := readReplSetArgs(c)
	if err != nil {
		return err
	}
	if a.SyncFrom.Str() == "" {
		return mongoerr.New(mongoerr.FailedToParse, "Empty host component parsing HostAndPort from \"\"")
	}
	if c.Svc.Leader.SteppedDown.Load() {
		return mongoerr.Newf(mongoerr.NodeNotFound, "Could not find member \"%s\" in replica set", a.SyncFrom.Str())
	}
	c.Reply.String("syncFromRequested", a.SyncFrom.Str())
	return mongoerr.New(mongoerr.NotSecondary, "primaries don't sync")
}

type oplogNoteArgs struct {
	Append value.Value `arg:"appendOplogNote"`
	Data   value.Doc   `arg:"data,required"`
	Max    value.Value `arg:"maxClusterTime"`
}

var oplogNoteSpec = args.New[oplogNoteArgs]("appendOplogNote")

// runAppendOplogNote writes an entry that does nothing.
func runAppendOplogNote(c *kernel.Call) error {
	var a oplogNoteArgs
	if err := oplogNoteSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if !c.Svc.InCluster() {
		if err := needReplicaSet(c); err != nil {
			return err
		}
	}
	err := storage.Retry(c.Ctx, c.Svc.Engine, func(tx storage.Tx) error {
		_, err := c.Svc.Oplog.AddNoop(tx, a.Data)
		return err
	})
	if err != nil {
		return kernel.Translate(oplog.Namespace, err)
	}
	c.Svc.Changes.Signal()
	return nil
}
