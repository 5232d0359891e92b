package settings

import (
	"slices"

	"github.com/google/uuid"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/concern"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type getDefaultRWArgs struct {
	Get      value.Value     `arg:"getDefaultRWConcern"`
	InMemory args.StrictBool `arg:"inMemory"`
}

type setDefaultRWArgs struct {
	Set   value.Value `arg:"setDefaultRWConcern"`
	Read  value.Doc   `arg:"defaultReadConcern"`
	Write value.Doc   `arg:"defaultWriteConcern"`
}

var (
	getDefaultRWSpec = args.New[getDefaultRWArgs]("getDefaultRWConcern")
	setDefaultRWSpec = args.New[setDefaultRWArgs]("setDefaultRWConcern")
)

func runGetDefaultRWConcern(c *kernel.Call) error {
	var a getDefaultRWArgs
	if err := getDefaultRWSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if !c.Svc.Replicated() {
		return errNoDefaults("getDefaultRWConcern")
	}
	if err := appendConcerns(c); err != nil {
		return err
	}
	if a.InMemory {
		c.Reply.Bool("inMemory", true)
	}
	return nil
}

// appendConcerns writes the defaults, and whether anyone has set them.
func appendConcerns(c *kernel.Call) error {
	concerns, err := c.DefaultConcerns()
	if err != nil {
		return err
	}
	set, b := concerns.Doc, c.Reply
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
	b.Date("localUpdateWallClockTime", c.Now)
	return nil
}

func runSetDefaultRWConcern(c *kernel.Call) error {
	var a setDefaultRWArgs
	if err := setDefaultRWSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if !c.Svc.Replicated() {
		return errNoDefaults("setDefaultRWConcern")
	}
	if a.Read == nil && a.Write == nil {
		return mongoerr.New(mongoerr.BadValue, "At least one of the \"defaultReadConcern\" or \"defaultWriteConcern\" fields must be present")
	}
	if err := checkDefaultRead(a.Read); err != nil {
		return err
	}
	if err := checkDefaultWrite(c, a.Write); err != nil {
		return err
	}
	before, err := c.DefaultConcerns()
	if err != nil {
		return err
	}
	o := catalog.NewOptions(before.Doc)
	o.Set("_id", value.String(kernel.ConcernID))
	setConcern := func(name string, d value.Doc) {
		switch {
		case d == nil:
		case d.IsEmpty():
			o.Set(name, value.Value{})
		default:
			o.Set(name, value.Document(d))
		}
	}
	if a.Write != nil && a.Write.IsEmpty() && before.Write != nil {
		return mongoerr.New(mongoerr.IllegalOperation, "The global default write concern cannot be unset once it is set.")
	}
	setConcern("defaultReadConcern", a.Read)
	setConcern("defaultWriteConcern", completeConcern(a.Write))
	o.Set("updateOpTime", transaction.NextTimestamp(c.Svc, c.Now))
	o.Set("updateWallClockTime", value.DateTime(c.Now))
	if err := c.PutSetting(kernel.ConcernNamespace, o.Doc()); err != nil {
		return err
	}
	if code, text := concern.UnmetReason(c); code != mongoerr.OK { // of mongod's own write, so it is no writeConcernError
		return mongoerr.New(code, text)
	}
	return appendConcerns(c)
}

// checkDefaultRead refuses read concerns that cannot be a default.
func checkDefaultRead(d value.Doc) error {
	if d == nil || d.IsEmpty() {
		return nil
	}
	var g kernel.Generic
	if err := g.ParseReadConcern(value.Document(d)); err != nil {
		return err
	}
	for name := range d.All() {
		if name != "level" {
			return mongoerr.Newf(mongoerr.BadValue, "'%s' is not suitable for the default read concern", name)
		}
	}
	if g.Level != "local" && g.Level != "available" && g.Level != "majority" {
		return mongoerr.Newf(mongoerr.BadValue, "level: '%s' is not suitable for the default read concern", g.Level)
	}
	return nil
}

// errNoDefaults is the error of a standalone.
func errNoDefaults(command string) error {
	return mongoerr.Newf(51300, "'%s' is not supported on standalone nodes.", command)
}

// completeConcern returns a default write concern as it is stored: with w and wtimeout.
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

func checkDefaultWrite(c *kernel.Call, d value.Doc) error {
	if d == nil || d.IsEmpty() {
		return nil
	}
	var g kernel.Generic
	if err := g.ParseWriteConcern(value.Document(d)); err != nil {
		return err
	}
	switch {
	case !d.Has("w"):
		return mongoerr.New(mongoerr.BadValue, "'w' must be specified in the default write concern")
	case g.Named:
		config, err := c.SetConfig()
		if err != nil {
			return err
		}
		if known, _ := config.Satisfies(g.Mode); !known {
			return mongoerr.New(mongoerr.UnknownReplWriteConcern, "No write concern mode named '"+g.Mode+"' found in replica set configuration")
		}
	}
	if g.Unacked {
		return mongoerr.New(mongoerr.BadValue, "Unacknowledged write concern is not suitable for the default write concern")
	}
	return nil
}

type writeBlockArgs struct {
	Set    value.Value `arg:"setUserWriteBlockMode"`
	Global bool        `arg:"global,required"`
	Reason *string     `arg:"reason"`
}

var writeBlockSpec = args.New[writeBlockArgs]("setUserWriteBlockMode")

// runSetUserWriteBlockMode blocks or unblocks the writes of users. A restart unblocks them.
func runSetUserWriteBlockMode(c *kernel.Call) error {
	var a writeBlockArgs
	if err := writeBlockSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	reason := ""
	if a.Reason != nil {
		if reason = *a.Reason; !slices.Contains(kernel.WriteBlockReasons[:], reason) {
			return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field 'setUserWriteBlockMode.reason' is not a valid value.", reason)
		}
	}
	changed, err := c.Svc.Settings.Block.Set(a.Global, reason)
	if err != nil || !changed {
		return err
	}
	text := "Unblocking user writes"
	if a.Global {
		text = "Blocking user writes"
	}
	c.Svc.Log.Info().Str("reason", kernel.NamedReason(reason)).Msg(text)
	return nil
}

type setFCVArgs struct {
	Version string         `arg:"setFeatureCompatibilityVersion,required"`
	Confirm args.LooseBool `arg:"confirm"`
}

var setFCVSpec = args.New[setFCVArgs]("setFeatureCompatibilityVersion")

// runSetFCV sets the feature compatibility version. Features that are guarded by it are on or
// off from then on; what they have stored stays readable.
func runSetFCV(c *kernel.Call) error {
	var a setFCVArgs
	if err := setFCVSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	spoken := c.Svc.Options.Dialect
	if err := kernel.CheckFeatureVersion(spoken, a.Version); err != nil {
		return err
	}
	if !bool(a.Confirm) {
		return confirmFCV(spoken, a.Version)
	}
	if _, ok := spoken.As(a.Version); !ok {
		return mongoerr.Newf(5147403, "cannot set featureCompatibilityVersion to '%s' while featureCompatibilityVersion is '%s'", a.Version, c.Svc.Dialect().FeatureVersion())
	}
	if a.Version != spoken.FeatureVersion() {
		if err := checkDowngrade(c); err != nil {
			return err
		}
	}
	return c.PutSetting(kernel.VersionNamespace, kernel.FeatureVersionDoc(a.Version))
}

// checkDowngrade refuses to lower the feature compatibility version while a collection has
// what the older version does not know.
func checkDowngrade(c *kernel.Call) error {
	return c.View(func(tx storage.Tx) error {
		infos, err := catalog.List(tx, "")
		if err != nil {
			return err
		}
		for _, info := range infos {
			if catalog.Of(info).ValidationAction == "errorAndLog" {
				return mongoerr.Newf(mongoerr.CannotDowngrade, "Cannot downgrade the cluster when there are collections with 'errorAndLog' validation action. "+
					"Please unset the option or drop the collection(s) before downgrading. First detected collection with 'errorAndLog' enabled: %s (UUID: %s).", info.Namespace, uuid.UUID(info.UUID))
			}
		}
		return nil
	})
}

// confirmFCV is the error of a change that nobody has confirmed.
func confirmFCV(spoken dialect.Dialect, version string) error {
	const again = "Please re-run this command with 'confirm: true' to acknowledge this and continue with the FCV "
	if version == spoken.FeatureVersion() {
		return mongoerr.Newf(7369100, "Once you have upgraded to %s, you will not be able to downgrade FCV and binary version without support assistance. "+again+"upgrade.", version)
	}
	return mongoerr.New(7369100, "Once you have downgraded the FCV, if you choose to downgrade the binary version, it will require support assistance. "+again+"downgrade.")
}
