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
	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
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
	OnExpire       value.Value    `arg:"onExpire"`
	UUID           args.UUIDArg   `arg:"collectionUUID"`
}

type collModIndexArgs struct {
	KeyPattern    value.Doc   `arg:"keyPattern"`
	Name          *string     `arg:"name"`
	ExpireAfter   value.Value `arg:"expireAfterSeconds"`
	Hidden        *bool       `arg:"hidden"`
	PrepareUnique *bool       `arg:"prepareUnique"`
	Unique        *bool       `arg:"unique"`
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
	reopen, err := settleCollMod(c, ns, &a)
	defer reopen()
	if err != nil {
		return kernel.Translate(ns, err)
	}
	var m collMod
	err = c.Update(func(tx storage.Tx) error {
		if err := catalog.CheckUUID(tx, ns, a.UUID); err != nil {
			return err
		}
		coll, err := tx.Collection(ns)
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

// settleCollMod does ahead what would keep other writers waiting: where the
// command changes the document policy, or makes an index unique, what has
// expired is removed. reopen is to be called when the command has ended.
func settleCollMod(c *kernel.Call, ns storage.Namespace, a *collModArgs) (reopen func(), err error) {
	reopen = func() {}
	name, key := a.Index.Lookup("name"), a.Index.Lookup("keyPattern")
	switch {
	case bool(a.DryRun):
	case !a.DocumentTTL.IsMissing(), catalog.MayNameTSIndex(name), catalog.MayNameTSIndex(key):
		return write.EndPolicy(c, ns)
	case a.Index.Lookup("unique").Truthy():
		_, err = write.SettleAhead(c, ns)
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

	indexNow, indexWas value.Doc // what it changes of an index, and what it was
}

// runLogged runs the command and tells the change log what was asked for,
// whether it has changed something or not.
func (m *collMod) runLogged() error {
	log := m.c.Recorder()
	log.Modifying = m.info.Namespace
	err := m.run()
	log.Modifying = storage.Namespace{}
	if err != nil || bool(m.args.DryRun) || m.meta.Kind == catalog.View && m.args.ViewOn == nil && m.args.Pipeline == nil {
		return err
	}
	b := value.NewBuilder()
	for name, v := range m.c.Body.All() {
		_, own := collModSpec.Index[name]
		switch {
		case name == "index" && m.indexNow != nil:
			b.Document(name, m.indexNow)
		case own && name != "collMod" && name != "dryRun" && name != "collectionUUID":
			b.Append(name, v)
		}
	}
	log.CollMod(m.info, b.Doc(), m.indexWas)
	return nil
}

func (m *collMod) add(key string, v value.Value) {
	m.reply = append(m.reply, mongoerr.Field{Key: key, Value: v})
}

// checkDryRun refuses to try anything but whether an index can be unique.
func (m *collMod) checkDryRun() error {
	if !m.args.DryRun {
		return nil
	}
	for name := range m.c.Body.All() {
		if _, own := collModSpec.Index[name]; own && name != "collMod" && name != "dryRun" && name != "index" {
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

// modifyView changes what a view shows.
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
		{"messageQueue", !a.MessageQueue.IsMissing()}, {"onExpire", !a.OnExpire.IsMissing()},
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
	plan, err := create.PlanView(m.c, m.info.Namespace, &create.CreateArgs{ViewOn: on, Pipeline: pipeline, Collation: m.info.Options.Lookup("collation").Doc()})
	if err != nil {
		return err
	}
	return m.tx.SetOptions(m.info.Namespace, plan.Parts[0].Options)
}

// modifyIndex changes expireAfterSeconds, hidden, prepareUnique or unique of
// one index (semantics.md §3.5).
func (m *collMod) modifyIndex() error {
	var x collModIndexArgs
	if err := collModIndexSpec.DecodeNested("collMod.index", m.args.Index, &x); err != nil {
		return err
	}
	if m.isTSIndex(&x) {
		return m.modifyTSIndex(&x)
	}
	if err := x.check(m.meta); err != nil {
		return err
	}
	if err := m.checkClusteredHidden(&x); err != nil {
		return err
	}
	if m.meta.Kind == catalog.TimeSeries {
		return m.modifyBucketIndex(&x)
	}
	if m.c.Svc.Params.Bool("documentTtlStrictTsOnly") && !x.ExpireAfter.IsMissing() {
		if spec, err := m.findIndex(&x); err == nil && !ttl.IsTSKey(spec.Key) {
			return ttl.ErrStrict
		}
	}
	spec, err := m.findIndex(&x)
	if err != nil {
		return err
	}
	if x.PrepareUnique != nil && *x.PrepareUnique != spec.PrepareUnique && (x.Hidden != nil || x.Unique != nil || !x.ExpireAfter.IsMissing()) {
		return mongoerr.New(mongoerr.InvalidOptions, "prepareUnique cannot be combined with any other modification.")
	}
	if !x.ExpireAfter.IsMissing() && ttl.IsTSKey(spec.Key) && m.c.Svc.Params.Bool("documentTtlTsIndex") {
		return m.convertTSIndex(spec, x.ExpireAfter.SafeInt64())
	}
	old := spec
	if spec, err = m.setExpire(spec, &x); err != nil {
		return err
	}
	if spec, err = m.setHidden(spec, &x); err != nil {
		return err
	}
	if spec, err = m.setUnique(spec, &x); err != nil || m.args.DryRun {
		return err
	}
	m.indexNow, m.indexWas = oplog.IndexChange(spec.Name, old.Doc(), spec.Doc())
	return m.tx.SetIndex(m.info.Namespace, spec.Stored())
}

func (x *collModIndexArgs) check(meta *catalog.Meta) error {
	switch {
	case x.KeyPattern != nil && x.Name != nil:
		return mongoerr.New(mongoerr.InvalidOptions, "Cannot specify both key pattern and name.")
	case x.KeyPattern == nil && x.Name == nil:
		return mongoerr.New(mongoerr.InvalidOptions, "Must specify either index name or key pattern.")
	case x.ExpireAfter.IsMissing() && x.Hidden == nil && x.PrepareUnique == nil && x.Unique == nil:
		return mongoerr.New(mongoerr.InvalidOptions, "no expireAfterSeconds, hidden, unique, or prepareUnique field")
	case meta.Kind == catalog.TimeSeries && !x.ExpireAfter.IsMissing():
		return mongoerr.New(mongoerr.InvalidOptions, "TTL indexes are not supported for time-series collections. Please refer to the documentation and use the top-level 'expireAfterSeconds' option instead")
	case meta.Kind == catalog.TimeSeries && x.PrepareUnique != nil:
		return mongoerr.New(mongoerr.InvalidOptions, "PrepareUnique is not supported for time-series collections")
	case x.Unique != nil && !*x.Unique:
		return mongoerr.New(mongoerr.BadValue, "Cannot make index non-unique")
	}
	if x.ExpireAfter.IsMissing() {
		return nil
	}
	_, err := ttl.ParseIndexModSeconds(x.ExpireAfter, singleField)
	return err
}

// singleField stands for the key of an index that is not known yet.
var singleField = value.NewDoc("x", value.Int32(1))

func (m *collMod) findIndex(x *collModIndexArgs) (*index.Spec, error) {
	if x.Name != nil {
		for _, s := range m.meta.Indexes {
			if s.Name == *x.Name {
				return s, nil
			}
		}
		return nil, mongoerr.Newf(mongoerr.IndexNotFound, "cannot find index %s for ns %s", *x.Name, m.info.Namespace)
	}
	var found []*index.Spec
	for _, s := range m.meta.Listed {
		if s.Clustered {
			continue
		}
		if value.CompareDocs(s.Key, x.KeyPattern, nil) == 0 {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return nil, mongoerr.Newf(mongoerr.IndexNotFound, "cannot find index %s for ns %s", x.KeyPattern, m.info.Namespace)
	case 1:
		return found[0], nil
	}
	return nil, mongoerr.Newf(mongoerr.AmbiguousIndexKeyPattern, "index keyPattern %s matches %d indexes, must use index name. Conflicting indexes:%s, %s", x.KeyPattern, len(found), found[0].Doc(), found[1].Doc())
}

func (m *collMod) setExpire(spec *index.Spec, x *collModIndexArgs) (*index.Spec, error) {
	if x.ExpireAfter.IsMissing() {
		return spec, nil
	}
	switch {
	case spec.IsID():
		return nil, mongoerr.New(mongoerr.InvalidOptions, "the _id field does not support TTL indexes")
	case spec.Key.Len() != 1:
		return nil, mongoerr.New(mongoerr.InvalidOptions, "TTL indexes are single-field indexes, compound indexes do not support TTL")
	}
	if err := ttl.CheckTTLIndex(m.info.Namespace, m.info.Options, m.args.Index); err != nil {
		return nil, mongoerr.New(mongoerr.InvalidOptions, mongoerr.From(err).Message)
	}
	n, err := ttl.ParseIndexModSeconds(x.ExpireAfter, singleField)
	if err != nil {
		return nil, err
	}
	if spec.ExpireAfter != nil {
		m.add("expireAfterSeconds_old", value.Int64(*spec.ExpireAfter))
	}
	m.add("expireAfterSeconds_new", value.Int64(n))
	return spec.WithExpire(n)
}

// checkClusteredHidden refuses to hide the key that a collection is clustered
// by. It is no index of its own: for all other changes it is not found.
func (m *collMod) checkClusteredHidden(x *collModIndexArgs) error {
	if x.Hidden == nil || m.meta.Clustered == nil {
		return nil
	}
	for _, s := range m.meta.Listed {
		if s.Clustered && (x.Name != nil && *x.Name == s.Name || x.KeyPattern != nil && value.CompareDocs(s.Key, x.KeyPattern, nil) == 0) {
			return mongoerr.New(6011800, "The 'hidden' option is not supported for a clustered index")
		}
	}
	return nil
}

func (m *collMod) setHidden(spec *index.Spec, x *collModIndexArgs) (*index.Spec, error) {
	if x.Hidden == nil {
		return spec, nil
	}
	if spec.IsID() {
		return nil, mongoerr.New(mongoerr.BadValue, "can't hide _id index")
	}
	if spec.Hidden != *x.Hidden {
		m.add("hidden_old", value.Bool(spec.Hidden))
		m.add("hidden_new", value.Bool(*x.Hidden))
		m.c.Svc.IndexUse.Forget(m.info, spec.Name)
	}
	return spec.WithHidden(*x.Hidden)
}

func (m *collMod) setUnique(spec *index.Spec, x *collModIndexArgs) (*index.Spec, error) {
	if x.PrepareUnique != nil {
		if spec.PrepareUnique != *x.PrepareUnique {
			m.add("prepareUnique_old", value.Bool(spec.PrepareUnique))
			m.add("prepareUnique_new", value.Bool(*x.PrepareUnique))
		}
		return spec.WithPrepareUnique(*x.PrepareUnique)
	}
	if x.Unique == nil || spec.IsUnique {
		return spec, nil
	}
	if !spec.PrepareUnique {
		return nil, mongoerr.New(mongoerr.InvalidOptions, "Cannot make index unique with 'prepareUnique=false'. Run collMod to set it first.")
	}
	if err := m.becomeUnique(spec); err != nil {
		return nil, err
	}
	if !m.args.DryRun {
		m.add("unique_new", value.Bool(true))
	}
	return spec.WithUnique()
}

// becomeUnique looks for documents that share a key, and removes those that
// have expired, which count for nothing.
func (m *collMod) becomeUnique(spec *index.Spec) error {
	see := m.c.Visible(m.coll)
	if err := m.checkDuplicates(spec, see); err != nil || bool(m.args.DryRun) {
		return err
	}
	kept := write.New(m.c, m.tx, m.coll, true).Settle()
	if kept != nil && errors.Is(kept, ttl.ErrKept) && m.checkDuplicates(spec, kernel.Visible{Coll: m.coll, Meta: catalog.None}) == nil {
		return nil
	}
	return write.RefusedWith(kept)
}

// checkDuplicates looks for keys that several records share.
func (m *collMod) checkDuplicates(spec *index.Spec, see kernel.Visible) error {
	var violations, ids []value.Value
	var last []byte
	flush := func() {
		if len(ids) > 1 {
			violations = append(violations, value.Document(value.NewDoc("ids", value.NewArray(ids...))))
		}
		ids = nil
	}
	err := see.Entries(spec.Name, storage.KeyRange{}, func(key []byte, r storage.Record) bool {
		if key = spec.Order(key); string(key) != string(last) {
			flush()
			last = append(last[:0], key...)
		}
		ids = append(ids, r.Doc.Lookup("_id"))
		return true
	})
	flush()
	if err != nil || violations == nil {
		return err
	}
	return mongoerr.New(mongoerr.CannotConvertIndexToUnique, "Cannot convert the index to unique. Please resolve conflicting documents before running collMod again.").
		WithExtra("violations", value.NewArray(violations...))
}

// modifyOptions changes the collection's own options.
func (m *collMod) modifyOptions() error {
	a, o := m.args, catalog.NewOptions(m.info.Options)
	if err := create.CheckValidationMode(a.Level, a.Action); err != nil {
		return err
	}
	if a.Validator != nil {
		if err := create.CheckValidator(m.c, m.info.Namespace.Coll, a.Validator, m.meta.Collation); err != nil {
			return err
		}
		o.Set("validator", value.Document(a.Validator))
		if a.Validator.IsEmpty() {
			o.Set("validator", value.Value{})
		}
		o.SetDefault("validationLevel", value.String("strict"))
		o.SetDefault("validationAction", value.String("error"))
	}
	if a.Level != "" {
		o.Set("validationLevel", value.String(a.Level))
	}
	if a.Action != "" {
		o.Set("validationAction", value.String(a.Action))
	}
	if a.PreAndPost != nil {
		if err := create.CheckPreImages(a.PreAndPost); err != nil {
			return err
		}
		o.Set("changeStreamPreAndPostImages", value.Document(a.PreAndPost))
	}
	if err := m.setCapped(o); err != nil {
		return err
	}
	if err := m.setExpiry(o); err != nil {
		return err
	}
	if !o.Changed {
		return nil
	}
	return m.tx.SetOptions(m.info.Namespace, o.Doc())
}

func (m *collMod) setCapped(o *catalog.Options) error {
	a := m.args
	if a.CappedSize == nil && a.CappedMax == nil || m.meta.Kind == catalog.TimeSeries { // where they mean nothing
		return nil
	}
	if m.info.Namespace == oplog.Namespace {
		return mongoerr.New(mongoerr.InvalidOptions, "Cannot resize the oplog using this command. Use the 'replSetResizeOplog' command instead.")
	}
	if !m.meta.Capped {
		return mongoerr.New(mongoerr.InvalidOptions, "Collection must be capped.")
	}
	if err := create.CheckCappedLimits("cappedSize", a.CappedSize, 1, "cappedMax", a.CappedMax); err != nil {
		return err
	}
	if a.CappedSize != nil {
		o.Set("size", value.Int(*a.CappedSize))
	}
	if a.CappedMax != nil {
		o.Set("max", create.CappedDocs(*a.CappedMax))
	}
	return nil
}

// setExpiry changes the expireAfterSeconds of a clustered or time-series
// collection (semantics.md §5, §6).
func (m *collMod) setExpiry(o *catalog.Options) error {
	v := m.args.ExpireAfter
	if v.IsMissing() {
		return nil
	}
	if m.meta.Clustered == nil && m.meta.Kind != catalog.TimeSeries {
		return mongoerr.New(mongoerr.InvalidOptions, "'expireAfterSeconds' option is only supported on collections clustered by _id")
	}
	switch {
	case v.Kind() == value.KindString:
		if v.Str() != "off" {
			return mongoerr.Newf(mongoerr.InvalidOptions, "Invalid string value for the 'clusteredIndex::expireAfterSeconds' option. Got: '%s'. Accepted value is 'off'", v.Str())
		}
		return m.storeExpiry(o, nil)
	case !v.IsNumber():
		return args.WrongType("collMod", "expireAfterSeconds", v, "string, long, int, decimal, double")
	}
	n, err := ttl.ParseCollModSeconds(v, m.c.Now)
	if err != nil {
		return err
	}
	return m.storeExpiry(o, &n)
}

// storeExpiry notes the new number of seconds, nil for off. A time series
// keeps it twice.
func (m *collMod) storeExpiry(o *catalog.Options, n *int64) error {
	if m.meta.Kind == catalog.TimeSeries {
		return m.setSeries(m.meta.Series, n)
	}
	if n == nil {
		o.Set("expireAfterSeconds", value.Value{})
	} else {
		o.Set("expireAfterSeconds", value.Int64(*n))
	}
	return nil
}

// checkMixedSchema: buckets here may always hold measurements of any types, as
// those of a mongod that is told so, which dumps of such collections ask for.
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

// modifyQueue applies the messageQueue option of collMod. Nothing may be
// changed that a queue cannot have. Any collMod of a queue is an activity.
func (m *collMod) modifyQueue() error {
	v := m.args.MessageQueue
	if v.IsMissing() && !m.meta.IsQueue {
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
	if v.IsMissing() {
		return nil
	}
	return m.c.Svc.Queues.Modify(m.tx, m.info.Namespace, v, m.c.Now)
}
