package ddl

import (
	"errors"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/create"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/timeseries"
	"github.com/duskdb/duskdb/value"
)

type collModArgs struct {
	CollMod        value.Value    `arg:"collMod,required"`
	Index          value.Doc      `arg:"index"`
	Validator      value.Doc      `arg:"validator"`
	Level          string         `arg:"validationLevel"`
	Action         string         `arg:"validationAction"`
	ViewOn         *string        `arg:"viewOn"`
	Pipeline       args.Array     `arg:"pipeline"`
	CappedSize     *int64         `arg:"cappedSize"`
	CappedMax      *int64         `arg:"cappedMax"`
	PreAndPost     value.Doc      `arg:"changeStreamPreAndPostImages"`
	TimeSeries     value.Value    `arg:"timeseries"`
	ExpireAfter    value.Value    `arg:"expireAfterSeconds"`
	DryRun         args.LooseBool `arg:"dryRun"`
	RecordPreIms   *bool          `arg:"recordPreImages"`
	DocumentTTL    value.Value    `arg:"documentTtl"`
	MixedSchema    *bool          `arg:"timeseriesBucketsMayHaveMixedSchemaData"`
	IndexingPolicy value.Value    `arg:"indexingPolicy"`
	MessageQueue   value.Value    `arg:"messageQueue"`
	MessageTopic   value.Value    `arg:"messageTopic"`
	Subscription   value.Value    `arg:"messageSubscription"`
	OnExpire       value.Value    `arg:"onExpire"`
	UUID           args.UUID      `arg:"collectionUUID"`
}

var (
	collModSpec      = args.New[collModArgs]("collMod")
	collModIndexSpec = args.New[collModIndexArgs]("collMod.index")
)

func runCollMod(c *kernel.Call) error {
	var a collModArgs
	if err := collModSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.NamespaceOf(a.CollMod)
	if err != nil {
		return err
	}
	if err := gate.CheckOptionFields(c, "collMod", &a.Pipeline); err != nil {
		return err
	}
	if v, given := c.Body.Get("expireAfterSeconds"); given && v.Kind() == value.KindNull {
		return args.WrongType("collMod", "expireAfterSeconds", v, "string, long, int, decimal, double")
	}
	if a.Validator != nil && catalog.IsSystem(ns.Coll) {
		return mongoerr.Newf(mongoerr.InvalidOptions, "Document validators not allowed on system collection %s", ns)
	}
	if err := c.ExpectUUID(ns, a.UUID); err != nil {
		return err
	}
	reopen, err := expireBeforeCollMod(c, ns, &a)
	defer reopen()
	if err != nil {
		return kernel.Translate(ns, err)
	}
	var m collMod
	err = c.Update(func(tx storage.Tx) error {
		if err := catalog.CheckUUID(tx, ns, a.UUID); err != nil {
			return err
		}
		coll, err := catalog.Open(tx, ns)
		if err != nil {
			if errors.Is(err, storage.ErrNotFound) {
				return mongoerr.Newf(mongoerr.NamespaceNotFound, "ns does not exist: %s", ns)
			}
			return err
		}
		m = collMod{c: c, tx: tx, coll: coll, info: coll.Info(), meta: catalog.Of(coll.Info()), args: &a}
		return m.runLogged()
	})
	if err != nil {
		return kernel.Translate(ns, err)
	}
	for _, f := range m.reply {
		c.Reply.Append(f.Key, f.Value)
	}
	return nil
}

// expireBeforeCollMod removes expired documents before the command takes the write lock, so
// that other writers need not wait. It does so if the command changes the document
// policy or makes an index unique. The caller must call reopen when the command has ended.
func expireBeforeCollMod(c *kernel.Call, ns storage.Namespace, a *collModArgs) (reopen func(), err error) {
	reopen = func() {}
	name, key := a.Index.Lookup("name"), a.Index.Lookup("keyPattern")
	switch {
	case bool(a.DryRun):
	case !a.DocumentTTL.IsMissing(), catalog.MayNameTSIndex(name), catalog.MayNameTSIndex(key):
		return write.EndPolicy(c, ns)
	case a.Index.Lookup("unique").Truthy():
		_, err = write.RemoveExpiredAhead(c, ns)
	}
	return reopen, err
}

// collMod is one change of a collection's options or of one of its indexes.
type collMod struct {
	c     *kernel.Call
	tx    storage.Tx
	coll  storage.Collection
	info  *storage.Info
	meta  *catalog.Meta
	args  *collModArgs
	reply []mongoerr.Field

	series *timeseries.Options // the new options of a time series

	indexNow, indexWas value.Doc // the changed options of an index, and their old values
}

// runLogged runs the command and writes it into the change log, even if it has changed
// nothing.
func (m *collMod) runLogged() error {
	if m.info.Namespace.Coll == catalog.SystemViews {
		return m.leaveViews()
	}
	m.tx = oplog.Modifying(m.tx, m.info.Namespace)
	err := m.run()
	if err != nil || bool(m.args.DryRun) || m.meta.Kind == catalog.View && m.args.ViewOn == nil && m.args.Pipeline == nil {
		return err
	}
	b := value.NewBuilder()
	for name, v := range m.c.Body.All() {
		switch {
		case name == "index" && m.indexNow != nil:
			b.Document(name, m.indexNow)
		case collModSpec.Declares(name) && name != "collMod" && name != "dryRun" && name != "collectionUUID":
			b.Append(name, v)
		}
	}
	m.c.Recorder().CollMod(m.info, b.Doc(), m.indexWas)
	return nil
}

// leaveViews runs the command on system.views, which is not stored and stays as it is.
func (m *collMod) leaveViews() error {
	err := m.run()
	if errors.Is(err, storage.ErrNotFound) {
		return mongoerr.Newf(mongoerr.InvalidNamespace, "cannot write to %s", m.info.Namespace)
	}
	return err
}

func (m *collMod) add(key string, v value.Value) {
	m.reply = append(m.reply, mongoerr.Field{Key: key, Value: v})
}

// checkDryRun refuses dryRun with anything but unique: true for an index.
func (m *collMod) checkDryRun() error {
	if !m.args.DryRun {
		return nil
	}
	for name := range m.c.Body.All() {
		if collModSpec.Declares(name) && name != "collMod" && name != "dryRun" && name != "index" {
			return mongoerr.Newf(mongoerr.InvalidOptions, "dryRun mode is not supported with the field: %s", name)
		}
	}
	if m.args.Index == nil {
		return mongoerr.New(mongoerr.InvalidOptions, "dryRun mode is only supported when an index is modified")
	}
	for name := range m.args.Index.All() {
		if name != "name" && name != "keyPattern" && name != "unique" {
			return mongoerr.Newf(mongoerr.InvalidOptions, "dryRun mode is not supported with the field: index.%s", name)
		}
	}
	return nil
}

func (m *collMod) run() error {
	a := m.args
	if err := m.checkDryRun(); err != nil {
		return err
	}
	if m.meta.Kind == catalog.View {
		return m.modifyView()
	}
	switch {
	case a.Pipeline != nil:
		return mongoerr.New(mongoerr.InvalidOptions, "option only supported on a view: pipeline")
	case a.ViewOn != nil:
		return mongoerr.New(mongoerr.InvalidOptions, "option only supported on a view: viewOn")
	}
	if err := m.checkTimeSeriesOptions(); err != nil {
		return err
	}
	if err := m.checkTimeSeries(); err != nil {
		return err
	}
	if err := m.checkMixedSchema(); err != nil {
		return err
	}
	if err := m.modifyTimeSeries(); err != nil {
		return err
	}
	if err := m.modifyQueue(); err != nil {
		return err
	}
	if a.Index != nil {
		if err := m.modifyIndex(); err != nil {
			return err
		}
	}
	if err := m.modifyOptions(); err != nil {
		return err
	}
	if err := m.setDocumentTTL(); err != nil {
		return err
	}
	return m.setOnExpire()
}

// modifyView changes the definition of a view.
func (m *collMod) modifyView() error {
	a := m.args
	// In the order of mongod, then the options of DuskDB.
	for _, o := range []struct {
		name  string
		given bool
	}{
		{"cappedSize", a.CappedSize != nil}, {"cappedMax", a.CappedMax != nil}, {"index", a.Index != nil},
		{"validator", a.Validator != nil}, {"validationLevel", a.Level != ""}, {"validationAction", a.Action != ""},
		{"changeStreamPreAndPostImages", a.PreAndPost != nil}, {"expireAfterSeconds", !a.ExpireAfter.IsMissing()},
		{"timeseries", !a.TimeSeries.IsMissing()}, {"documentTtl", !a.DocumentTTL.IsMissing()},
		{"messageQueue", !a.MessageQueue.IsMissing()}, {"messageTopic", !a.MessageTopic.IsMissing()},
		{"messageSubscription", !a.Subscription.IsMissing()}, {"onExpire", !a.OnExpire.IsMissing()},
	} {
		if o.given {
			return mongoerr.Newf(mongoerr.InvalidOptions, "option not supported on a view: %s", o.name)
		}
	}
	if a.ViewOn == nil && a.Pipeline == nil {
		return nil
	}
	on, pipeline := a.ViewOn, a.Pipeline
	if on == nil { // as it was
		on = &m.meta.ViewOn
	}
	if pipeline == nil {
		pipeline = args.Array(m.meta.Pipeline)
	}
	plan, err := create.PlanView(m.c, m.info.Namespace, &create.Args{ViewOn: on, Pipeline: pipeline, Collation: m.info.Options.Lookup("collation").Doc()})
	if err != nil {
		return err
	}
	return m.tx.SetOptions(m.info.Namespace, plan.Parts[0].Options)
}

// checkMixedSchema checks the option for mixed-schema buckets and does nothing else:
// buckets may always have measurements of mixed types. Dumps of such collections from
// mongod set this option.
func (m *collMod) checkMixedSchema() error {
	switch mixed := m.args.MixedSchema; {
	case mixed == nil:
		return nil
	case m.meta.Kind != catalog.TimeSeries:
		return mongoerr.New(mongoerr.InvalidOptions, "option only supported on a time-series collection: timeseriesBucketsMayHaveMixedSchemaData")
	case !*mixed:
		return mongoerr.New(mongoerr.InvalidOptions, "timeseriesBucketsMayHaveMixedSchemaData can only be set to true")
	}
	return nil
}

func (m *collMod) checkTimeSeries() error {
	if !m.args.TimeSeries.IsMissing() && m.meta.Kind != catalog.TimeSeries {
		return mongoerr.New(mongoerr.InvalidOptions, "option only supported on a time-series collection: timeseries")
	}
	return nil
}

// modifyQueue applies the options of collections for messages in collMod, and refuses options
// that they cannot have. Every collMod of a queue counts as an activity.
func (m *collMod) modifyQueue() error {
	kind, v := queue.Given(m.args.MessageQueue, m.args.MessageTopic, m.args.Subscription)
	if kind == 0 && !m.meta.IsQueue {
		return nil
	}
	if err := queue.CheckOptions(m.c.Body); err != nil {
		return err
	}
	if m.meta.IsQueue && m.args.Index != nil {
		if err := queue.CheckIndex(m.info, m.args.Index); err != nil {
			return err
		}
	}
	if kind == 0 {
		return nil
	}
	return m.c.Svc.Queues.Modify(m.tx, m.c.QueueChanges(), m.info.Namespace, kind, v, m.c.Now)
}
