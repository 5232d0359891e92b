package commands

import (
	"math"
	"time"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type replSetArgs struct {
	Status   value.Value `arg:"replSetGetStatus"`
	Config   value.Value `arg:"replSetGetConfig"`
	Initiate value.Value `arg:"replSetInitiate"`
	Reconfig value.Value `arg:"replSetReconfig"`
	StepDown value.Value `arg:"replSetStepDown"`
	Freeze   value.Value `arg:"replSetFreeze"`
	Maintain value.Value `arg:"replSetMaintenance"`
	SyncFrom value.Value `arg:"replSetSyncFrom"`
	Initial  value.Value `arg:"initialSync"`
	Commit   looseBool   `arg:"commitmentStatus"`
	Force    looseBool   `arg:"force"`
	CatchUp  value.Value `arg:"secondaryCatchUpPeriodSecs"`
}

var replSetSpec = newArgs[replSetArgs]("replSet")

func (c *Call) replSetArgs() (a replSetArgs, err error) {
	if err = c.needReplicaSet(); err != nil {
		return a, err
	}
	return a, replSetSpec.decodeAs(c.cmd.name, c.Body, &a, true)
}

// runReplSetGetStatus describes the one member, in mongod's form.
func runReplSetGetStatus(c *Call) error {
	if _, err := c.replSetArgs(); err != nil {
		return err
	}
	b, s := c.reply, c.svc
	state, name := int32(1), "PRIMARY"
	if s.leader.aside.Load() {
		state, name = 2, "SECONDARY"
	}
	b.String("set", s.options.ReplSet).Date("date", c.now).Int32("myState", state).Int64("term", s.leader.term.Load()).
		String("syncSourceHost", "").Int32("syncSourceId", -1).Int64("heartbeatIntervalMillis", 2000).
		Int32("majorityVoteCount", 1).Int32("writeMajorityCount", 1).Int32("votingMembersCount", 1).Int32("writableVotingMembersCount", 1)
	b.StartDocument("optimes")
	c.appendOpTimes([2]string{"lastCommittedOpTime", "lastCommittedWallTime"}, [2]string{"appliedOpTime", "lastAppliedWallTime"}, [2]string{"durableOpTime", "lastDurableWallTime"})
	b.End()
	up := int32(s.clock.Now().Sub(s.start) / time.Second)
	b.StartArray("members").StartDocument("")
	appendSmall(b, "_id", s.leader.config.Load().member().id)
	b.String("name", c.memberHost()).Double("health", 1).Int32("state", state).String("stateStr", name).Int32("uptime", up)
	c.appendOpTimes([2]string{"optime", "optimeDate"})
	b.String("syncSourceHost", "").Int32("syncSourceId", -1).String("infoMessage", "")
	if state == 1 {
		b.Append("electionTime", stampValue(s.leader.elected.Load())).Date("electionDate", s.leader.electedAt.Load())
	}
	config := s.leader.config.Load()
	appendSmall(b, "configVersion", config.version)
	appendSmall(b, "configTerm", config.term)
	b.Bool("self", true).String("lastHeartbeatMessage", "")
	b.End().End()
	return nil
}

// runReplSetGetConfig shows the configuration that a set of one has.
func runReplSetGetConfig(c *Call) error {
	a, err := c.replSetArgs()
	if err != nil {
		return err
	}
	b := c.reply.StartDocument("config")
	c.svc.leader.config.Load().append(b, c.memberHost())
	b.End()
	if a.Commit {
		b.Bool("commitmentStatus", true)
	}
	return nil
}

// runReplSetStepDown makes the primary a secondary for a time. It does not
// wait for those who could catch up, because there is nobody; so it must be
// forced.
func runReplSetStepDown(c *Call) error {
	a, err := c.replSetArgs()
	if err != nil {
		return err
	}
	period, err := a.stepDownPeriod()
	switch {
	case err != nil:
		return err
	case c.svc.leader.aside.Load():
		return mongoerr.New(mongoerr.NotWritablePrimary, "not primary so can't step down")
	case !bool(a.Force):
		return mongoerr.Newf(mongoerr.ExceededTimeLimit, "No electable secondaries caught up as of %sPlease use the replSetStepDown command with the argument {force: true} to force node to step down.", isoTime(c.now))
	}
	c.svc.stepDown(period, c.op)
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

// seconds is a number of seconds, or as many as there can be.
func seconds(n int64) time.Duration {
	return time.Duration(min(n, int64(math.MaxInt64/time.Second))) * time.Second
}

// runReplSetFreeze keeps a member that stepped down from becoming primary again
// for a number of seconds; 0 ends that.
func runReplSetFreeze(c *Call) error {
	a, err := c.replSetArgs()
	if err != nil {
		return err
	}
	period := a.Freeze.SafeInt64()
	if period < 0 {
		return mongoerr.New(mongoerr.BadValue, "freeze seconds must be non-negative")
	}
	if err := c.svc.freeze(c.ctx, seconds(period)); err != nil {
		return err
	}
	switch period {
	case 0:
		c.reply.String("info", "unfreezing")
	case 1:
		c.reply.String("warning", "you really want to freeze for only 1 second?")
	}
	return nil
}

// runReplSetMaintenance refuses to put a member aside that is the only one.
func runReplSetMaintenance(c *Call) error {
	if _, err := c.replSetArgs(); err != nil {
		return err
	}
	if c.svc.leader.aside.Load() {
		return mongoerr.New(mongoerr.OperationFailed, "the only member of a set cannot be in maintenance mode")
	}
	return mongoerr.New(mongoerr.NotSecondary, "primaries can't modify maintenance mode")
}

// runReplSetSyncFrom is told from whom to copy, which a primary does not.
func runReplSetSyncFrom(c *Call) error {
	a, err := c.replSetArgs()
	if err != nil {
		return err
	}
	if a.SyncFrom.Str() == "" {
		return mongoerr.New(mongoerr.FailedToParse, "Empty host component parsing HostAndPort from \"\"")
	}
	if c.svc.leader.aside.Load() {
		return mongoerr.Newf(mongoerr.NodeNotFound, "Could not find member \"%s\" in replica set", a.SyncFrom.Str())
	}
	c.reply.String("syncFromRequested", a.SyncFrom.Str())
	return mongoerr.New(mongoerr.NotSecondary, "primaries don't sync")
}

type oplogNoteArgs struct {
	Append value.Value `arg:"appendOplogNote"`
	Data   value.Doc   `arg:"data,required"`
	Max    value.Value `arg:"maxClusterTime"`
}

var oplogNoteSpec = newArgs[oplogNoteArgs]("appendOplogNote")

// runAppendOplogNote writes an entry that does nothing.
func runAppendOplogNote(c *Call) error {
	var a oplogNoteArgs
	if err := oplogNoteSpec.decode(c.Body, &a); err != nil {
		return err
	}
	if err := c.needReplicaSet(); err != nil {
		return err
	}
	err := c.svc.engine.Update(c.ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(oplogNS)
		if err != nil {
			return err
		}
		_, err = coll.Insert(c.svc.oplog.noop(a.Data), c.now)
		return err
	})
	if err != nil {
		return translate(oplogNS, err)
	}
	c.svc.changes.signal()
	return nil
}
