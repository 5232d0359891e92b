package commands

import (
	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// settingCommands read and change what holds for all clients.
func settingCommands() []command {
	return []command{
		{name: "getDefaultRWConcern", run: runGetDefaultRWConcern, flags: adminOnly, action: "getDefaultRWConcern", on: onCluster, help: "default read and write concern"},
		{name: "setDefaultRWConcern", run: runSetDefaultRWConcern, flags: adminOnly | writes, action: "setDefaultRWConcern", on: onCluster, help: "set the default read and write concern"},
		{name: "getClusterParameter", run: runGetClusterParameter, flags: adminOnly, action: "getClusterParameter", on: onCluster, help: "read cluster parameters"},
		{name: "setClusterParameter", run: runSetClusterParameter, flags: adminOnly, action: "setClusterParameter", on: onCluster, help: "change a cluster parameter"},
		{name: "setUserWriteBlockMode", run: runSetUserWriteBlockMode, flags: adminOnly, action: "setUserWriteBlockMode", on: onCluster, help: "stop the writes of users, or allow them again"},
		{name: "setFeatureCompatibilityVersion", run: runSetFCV, flags: adminOnly | writes, action: "setFeatureCompatibilityVersion", on: onCluster, help: "set the version whose features may be used"},
	}
}

type getDefaultRWArgs struct {
	Get      value.Value `arg:"getDefaultRWConcern"`
	InMemory strictBool  `arg:"inMemory"`
}

type setDefaultRWArgs struct {
	Set   value.Value `arg:"setDefaultRWConcern"`
	Read  value.Doc   `arg:"defaultReadConcern"`
	Write value.Doc   `arg:"defaultWriteConcern"`
}

var (
	getDefaultRWSpec = newArgs[getDefaultRWArgs]("getDefaultRWConcern")
	setDefaultRWSpec = newArgs[setDefaultRWArgs]("setDefaultRWConcern")
)

func runGetDefaultRWConcern(c *Call) error {
	var a getDefaultRWArgs
	if err := getDefaultRWSpec.decode(c.Body, &a); err != nil {
		return err
	}
	if !c.svc.inReplicaSet() {
		return errNoDefaults("getDefaultRWConcern")
	}
	c.appendConcerns()
	if a.InMemory {
		c.reply.Bool("inMemory", true)
	}
	return nil
}

// appendConcerns writes the defaults, and whether anyone has set them.
func (c *Call) appendConcerns() {
	st, b := c.svc.settled(), c.reply
	st.mu.Lock()
	set := st.concern
	st.mu.Unlock()
	read, write := set.Lookup("defaultReadConcern"), set.Lookup("defaultWriteConcern")
	readSource, writeSource := "global", "global"
	if read.IsMissing() {
		read, readSource = value.Document(value.NewDoc("level", value.String("local"))), "implicit"
	}
	if write.IsMissing() { // a set without arbiters: a majority
		write, writeSource = value.Document(value.NewDoc("w", value.String("majority"), "wtimeout", value.Int32(0))), "implicit"
	}
	b.Append("defaultReadConcern", read).Append("defaultWriteConcern", write)
	b.Append("updateOpTime", set.Lookup("updateOpTime")).Append("updateWallClockTime", set.Lookup("updateWallClockTime"))
	b.String("defaultWriteConcernSource", writeSource).String("defaultReadConcernSource", readSource)
	b.Date("localUpdateWallClockTime", c.now)
}

func runSetDefaultRWConcern(c *Call) error {
	var a setDefaultRWArgs
	if err := setDefaultRWSpec.decode(c.Body, &a); err != nil {
		return err
	}
	if !c.svc.inReplicaSet() {
		return errNoDefaults("setDefaultRWConcern")
	}
	if a.Read == nil && a.Write == nil {
		return mongoerr.New(mongoerr.BadValue, "At least one of the \"defaultReadConcern\" or \"defaultWriteConcern\" fields must be present")
	}
	if err := checkDefaultRead(a.Read); err != nil {
		return err
	}
	if err := c.checkDefaultWrite(a.Write); err != nil {
		return err
	}
	st := c.svc.settled()
	st.mu.Lock()
	o := newOptions(st.concern)
	hadWrite := st.write != nil
	st.mu.Unlock()
	o.set("_id", value.String(concernID))
	setConcern := func(name string, d value.Doc) {
		switch {
		case d == nil:
		case d.IsEmpty():
			o.set(name, value.Value{})
		default:
			o.set(name, value.Document(d))
		}
	}
	if a.Write != nil && a.Write.IsEmpty() && hadWrite {
		return mongoerr.New(mongoerr.IllegalOperation, "The global default write concern cannot be unset once it is set.")
	}
	setConcern("defaultReadConcern", a.Read)
	setConcern("defaultWriteConcern", completeConcern(a.Write))
	o.set("updateOpTime", c.svc.nextTimestamp(c.now))
	o.set("updateWallClockTime", value.DateTime(c.now))
	stored := o.doc().Clone()
	if err := c.keep(concernHome, stored); err != nil {
		return err
	}
	st.mu.Lock()
	st.setConcern(stored)
	st.mu.Unlock()
	c.appendConcerns()
	return nil
}

// checkDefaultRead refuses read concerns that cannot be a default.
func checkDefaultRead(d value.Doc) error {
	if d == nil || d.IsEmpty() {
		return nil
	}
	var g generic
	if err := g.readReadConcern(value.Document(d)); err != nil {
		return err
	}
	for name := range d.All() {
		if name != "level" {
			return mongoerr.Newf(mongoerr.BadValue, "'%s' is not suitable for the default read concern", name)
		}
	}
	if g.level != "local" && g.level != "available" && g.level != "majority" {
		return mongoerr.Newf(mongoerr.BadValue, "level: '%s' is not suitable for the default read concern", g.level)
	}
	return nil
}

// errNoDefaults is what mongod says that stands alone.
func errNoDefaults(command string) error {
	return mongoerr.Newf(51300, "'%s' is not supported on standalone nodes.", command)
}

// completeConcern is a default write concern as it is kept: with a w and a wtimeout.
func completeConcern(d value.Doc) value.Doc {
	if d == nil || d.IsEmpty() {
		return d
	}
	b := value.NewBuilder()
	b.Append("w", d.Lookup("w"))
	b.Append("j", d.Lookup("j"))
	wtimeout := value.Int32(0)
	if v := d.Lookup("wtimeout"); v.IsNumber() {
		wtimeout = value.Int32(int32(v.SafeInt64()))
	}
	b.Append("wtimeout", wtimeout)
	return b.Doc()
}

func (c *Call) checkDefaultWrite(d value.Doc) error {
	if d == nil || d.IsEmpty() {
		return nil
	}
	var g generic
	if err := g.readWriteConcern(value.Document(d)); err != nil {
		return err
	}
	switch {
	case !d.Has("w"):
		return mongoerr.New(mongoerr.BadValue, "'w' must be specified in the default write concern")
	case g.named:
		if known, _ := c.svc.leader.config.Load().satisfies(g.mode); !known {
			return mongoerr.New(mongoerr.UnknownReplWriteConcern, "No write concern mode named '"+g.mode+"' found in replica set configuration")
		}
	}
	if g.unacked {
		return mongoerr.New(mongoerr.BadValue, "Unacknowledged write concern is not suitable for the default write concern")
	}
	return nil
}

type writeBlockArgs struct {
	Set    value.Value `arg:"setUserWriteBlockMode"`
	Global bool        `arg:"global,required"`
}

var writeBlockSpec = newArgs[writeBlockArgs]("setUserWriteBlockMode")

// runSetUserWriteBlockMode stops what users write, until it is called again
// or the server starts anew.
func runSetUserWriteBlockMode(c *Call) error {
	var a writeBlockArgs
	if err := writeBlockSpec.decode(c.Body, &a); err != nil {
		return err
	}
	c.svc.settled().blocked.Store(a.Global)
	return nil
}

// mayBypassWriteBlock tells whether the client may write all the same. A
// server without access control has nobody who may.
func (c *Call) mayBypassWriteBlock() bool {
	return c.svc.options.Security.Auth && c.may(auth.Cluster(), "bypassWriteBlockingMode")
}

type setFCVArgs struct {
	Version string    `arg:"setFeatureCompatibilityVersion,required"`
	Confirm looseBool `arg:"confirm"`
}

var setFCVSpec = newArgs[setFCVArgs]("setFeatureCompatibilityVersion")

// runSetFCV takes the version whose features this server has, and no other.
func runSetFCV(c *Call) error {
	var a setFCVArgs
	if err := setFCVSpec.decode(c.Body, &a); err != nil {
		return err
	}
	switch {
	case a.Version != featureVersion && a.Version != "7.3" && a.Version != "7.0":
		return mongoerr.Newf(4926900, "Invalid feature compatibility version value '%s'; expected '7.0' or '7.3' or '8.0'. See https://dochub.mongodb.org/core/8.0-feature-compatibility.", a.Version)
	case !bool(a.Confirm) && a.Version == featureVersion:
		return mongoerr.New(7369100, "Once you have upgraded to 8.0, you will not be able to downgrade FCV and binary version without support assistance. Please re-run this command with 'confirm: true' to acknowledge this and continue with the FCV upgrade.")
	case !bool(a.Confirm):
		return mongoerr.New(7369100, "Once you have downgraded the FCV, if you choose to downgrade the binary version, it will require support assistance. Please re-run this command with 'confirm: true' to acknowledge this and continue with the FCV downgrade.")
	case a.Version != featureVersion:
		return mongoerr.Newf(mongoerr.CannotDowngrade, "Cannot downgrade to featureCompatibilityVersion %s: the data is written as by 8.0", a.Version)
	}
	return nil
}
