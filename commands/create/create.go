package create

import (
	"errors"
	"strings"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Args are the arguments of the create command. collMod plans views with it, too.
type Args struct {
	Create          value.Value    `arg:"create,required"`
	Capped          args.LooseBool `arg:"capped"`
	Size            *int64         `arg:"size"`
	Max             *int64         `arg:"max"`
	AutoIndexID     *bool          `arg:"autoIndexId"`
	IDIndex         value.Doc      `arg:"idIndex"`
	TimeSeries      value.Value    `arg:"timeseries"`
	ExpireAfter     value.Value    `arg:"expireAfterSeconds"`
	ClusteredIndex  value.Value    `arg:"clusteredIndex"`
	PreAndPost      value.Doc      `arg:"changeStreamPreAndPostImages"`
	Validator       value.Doc      `arg:"validator"`
	Level           string         `arg:"validationLevel"`
	Action          string         `arg:"validationAction"`
	ViewOn          *string        `arg:"viewOn"`
	Pipeline        args.Array     `arg:"pipeline"`
	Collation       value.Doc      `arg:"collation"`
	StorageEngine   value.Doc      `arg:"storageEngine"`
	IndexDefaults   value.Doc      `arg:"indexOptionDefaults"`
	EncryptedFields value.Doc      `arg:"encryptedFields"`
	RecordIDsRepl   *bool          `arg:"recordIdsReplicated"`
	Flags           *int64         `arg:"flags"`
	Temp            args.LooseBool `arg:"temp"`
	DocumentTTL     value.Value    `arg:"documentTtl"`
	IndexingPolicy  value.Value    `arg:"indexingPolicy"`
	MessageQueue    value.Value    `arg:"messageQueue"`
	MessageTopic    value.Value    `arg:"messageTopic"`
	Subscription    value.Value    `arg:"messageSubscription"`
	OnExpire        value.Value    `arg:"onExpire"`
}

var createSpec = args.New[Args]("create")

// Run runs the create command.
func Run(c *kernel.Call) error { return WithUUID(c, nil) }

// WithUUID runs a create command whose collection is to have the given UUID; if id
// is nil, a new one is made. A collection that exists already with the same
// options is no error; with others, the error is NamespaceExists.
func WithUUID(c *kernel.Call, id *[16]byte) error {
	var a Args
	if err := createSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.NamespaceOf(a.Create)
	if err != nil {
		return err
	}
	if err := gate.CheckOptionFields(c, "create", &a.Pipeline); err != nil {
		return err
	}
	if v, given := c.Body.Get("clusteredIndex"); given && v.Kind() == value.KindNull {
		return args.WrongType("create", "clusteredIndex", v, "bool, object")
	}
	if err := gate.CheckStorageEngine(a.StorageEngine); err != nil {
		return err
	}
	if err := catalog.CheckUserNamespace(ns); err != nil {
		return err
	}
	if reserved.IsBuckets(ns.Coll) && a.TimeSeries.IsMissing() {
		return mongoerr.Newf(mongoerr.IllegalOperation, "Cannot create the buckets of a time-series collection without the 'timeseries' option: %s", ns)
	}
	if err := a.check(); err != nil {
		return err
	}
	plan, err := planCreate(c, ns, &a)
	if err != nil {
		return err
	}
	if plan, err = planExpiry(c, ns, &a, plan); err != nil {
		return err
	}
	if id != nil {
		plan.identify(&a, id)
	}
	err = c.Update(func(tx storage.Tx) error { return createAll(c, tx, ns, plan) })
	if err != nil {
		return kernel.Translate(ns, err)
	}
	if a.AutoIndexID != nil && *a.AutoIndexID {
		c.Reply.String("note", "The autoIndexId option is deprecated and will be removed in a future release")
	}
	return nil
}

// Plan is what a create creates: the collection itself and, for time series and
// queues, the collections behind it.
type Plan struct {
	Parts []Part
}

// Part is one collection of a Plan: its name, its options as they are stored, and
// its indexes.
type Part struct {
	NS      storage.Namespace
	Options value.Doc
	Indexes []storage.IndexSpec
	id      *[16]byte // nil: a new one
}

// identify gives the UUID to the part that has documents: not to a view, and
// not to a time series, but to its buckets.
func (p *Plan) identify(a *Args, id *[16]byte) {
	switch {
	case a.ViewOn != nil:
	case !a.TimeSeries.IsMissing():
		p.Parts[len(p.Parts)-1].id = id
	default:
		p.Parts[0].id = id
	}
}

func (p *Part) create(tx storage.Tx) (err error) {
	if p.id != nil {
		_, err = tx.CreateAs(p.NS, *p.id, p.Options, p.Indexes)
		return err
	}
	_, err = tx.Create(p.NS, p.Options, p.Indexes)
	return err
}

// createAll makes the collections. Creating one that exists with the same
// options succeeds, as in mongod, but for transactions.
func createAll(c *kernel.Call, tx storage.Tx, ns storage.Namespace, plan *Plan) error {
	existing, err := catalog.Open(tx, ns)
	if err == nil {
		switch {
		case c.Transaction() != nil:
			return mongoerr.Newf(mongoerr.NamespaceExists, "Collection %s already exists.", ns)
		case sameOptions(existing.Info(), plan.Parts[0]):
			return nil
		}
		return mongoerr.Newf(mongoerr.NamespaceExists, "namespace %s already exists, but with different options: %s", ns, ListedOptions(c, existing.Info()))
	}
	if !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	if ns.Coll == catalog.SystemViews { // it comes with the first view
		return nil
	}
	for _, p := range plan.Parts {
		if err := p.create(tx); err != nil {
			return kernel.Translate(p.NS, err)
		}
	}
	return beginQueue(c, tx, plan)
}

func sameOptions(info *storage.Info, p Part) bool {
	return value.CompareDocs(canonical.SortedFields(info.Options), canonical.SortedFields(p.Options), nil) == 0
}

// planCreate checks the options and turns them into what is stored.
func planCreate(c *kernel.Call, ns storage.Namespace, a *Args) (*Plan, error) {
	if a.EncryptedFields != nil {
		return nil, a.refuseEncrypted(c)
	}
	if a.ViewOn != nil {
		return PlanView(c, ns, a)
	}
	if p, err := planSpecial(c, ns, a); p != nil || err != nil {
		return p, err
	}
	options, err := planOptions(c, a)
	if err != nil {
		return nil, err
	}
	id, err := a.planIDIndex(ns)
	if err != nil {
		return nil, err
	}
	part := Part{NS: ns, Options: options, Indexes: []storage.IndexSpec{id}}
	if ns.Coll == "system.profile" { // its entries have no _id
		part.Indexes = nil
	}
	if a.AutoIndexID != nil && !*a.AutoIndexID { // in local, where it is allowed
		o := catalog.NewOptions(options)
		o.Set("autoIndexId", value.Bool(false))
		part.Options, part.Indexes = o.Doc(), nil
	}
	return &Plan{Parts: []Part{part}}, nil
}

// planOptions writes the options of a collection as they are stored and
// listed.
func planOptions(c *kernel.Call, a *Args) (value.Doc, error) {
	o := catalog.NewOptions(value.EmptyDoc)
	a.setCapped(o)
	if !a.StorageEngine.IsEmpty() {
		o.Set("storageEngine", value.Document(a.StorageEngine))
	}
	if a.IndexDefaults != nil {
		if err := checkIndexDefaults(a.IndexDefaults); err != nil {
			return nil, err
		}
		if !a.IndexDefaults.IsEmpty() {
			o.Set("indexOptionDefaults", value.Document(a.IndexDefaults))
		}
	}
	col, err := a.collation()
	if err != nil {
		return nil, err
	}
	v := Validation{Validator: a.Validator, Level: a.Level, Action: a.Action}
	if err := v.Set(c, o, c.Body.Lookup("create").Str(), col); err != nil {
		return nil, err
	}
	if err := SetPreImages(o, a.PreAndPost); err != nil {
		return nil, err
	}
	if col != nil {
		o.Set("collation", value.Document(col.Doc()))
	}
	return o.Doc(), nil
}

// SetPreImages sets changeStreamPreAndPostImages, unless d is nil. It is stored if it is
// enabled.
func SetPreImages(o *catalog.Options, d value.Doc) error {
	if d == nil {
		return nil
	}
	if err := checkPreImages(d); err != nil {
		return err
	}
	o.Set("changeStreamPreAndPostImages", value.Value{})
	if d.Lookup("enabled").Truthy() {
		o.Set("changeStreamPreAndPostImages", value.Document(d))
	}
	return nil
}

// checkPreImages checks the value of changeStreamPreAndPostImages: {enabled:
// <bool>}.
func checkPreImages(d value.Doc) error {
	given := false
	for name, v := range d.All() {
		if name != "enabled" {
			return mongoerr.UnknownField("changeStreamPreAndPostImages." + name)
		}
		if v.Kind() == value.KindNull || v.Kind() == value.KindUndefined {
			continue
		}
		given = true
		if v.Kind() != value.KindBool {
			return args.WrongType("changeStreamPreAndPostImages", "enabled", v, "bool")
		}
	}
	if !given {
		return mongoerr.MissingField("changeStreamPreAndPostImages.enabled")
	}
	return nil
}

// Validation has the arguments of create and collMod that check documents.
type Validation struct {
	Validator     value.Doc // nil: not given
	Level, Action string    // "": not given
}

// Set checks the arguments and sets the options of a collection.
func (v *Validation) Set(c *kernel.Call, o *catalog.Options, coll string, col *collation.Collation) error {
	if !gate.ValidationLevels[v.Level] {
		return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field 'validationLevel' is not a valid value.", v.Level)
	}
	if !gate.ValidationActions[v.Action] {
		return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field 'validationAction' is not a valid value.", v.Action)
	}
	if v.Validator != nil {
		if err := checkValidator(c, coll, v.Validator, col); err != nil {
			return err
		}
		o.Set("validator", value.Document(v.Validator))
		o.SetDefault("validationLevel", value.String("strict"))
		o.SetDefault("validationAction", value.String("error"))
	}
	if v.Level != "" {
		o.Set("validationLevel", value.String(v.Level))
	}
	if v.Action != "" {
		o.Set("validationAction", value.String(v.Action))
	}
	return nil
}

// checkValidator compiles a validator to find its errors, and refuses it for
// collections of the system and of the databases admin, local and config.
func checkValidator(c *kernel.Call, coll string, d value.Doc, col *collation.Collation) error {
	if catalog.IsSystem(coll) {
		return mongoerr.Newf(mongoerr.InvalidOptions, "Document validators not allowed on system collection %s.%s", c.DB, coll)
	}
	if c.DB == "admin" || c.DB == "local" || c.DB == "config" {
		return mongoerr.Newf(mongoerr.InvalidOptions, "Document validators are not allowed on collections in the %s database", c.DB)
	}
	o := match.Options{Scope: c.Svc.RootScope()}
	if col != nil {
		o.Collation = col
	}
	m, err := match.Compile(d, o)
	if err != nil {
		return err
	}
	if m.Scripted() != "" {
		return mongoerr.Newf(4660800, "%s cannot be used inside a validator.", m.Scripted())
	}
	return nil
}

// collation returns the default collation of the collection, nil for the simple
// one.
func (a *Args) collation() (*collation.Collation, error) {
	if a.Collation != nil && a.Collation.IsEmpty() {
		return nil, mongoerr.MissingField("create.collation.locale")
	}
	return collation.Parse(a.Collation)
}

// PlanView checks the definition of a view and plans it. Its pipeline must
// compile; the collection that it reads need not exist.
func PlanView(c *kernel.Call, ns storage.Namespace, a *Args) (*Plan, error) {
	if a.PreAndPost.Lookup("enabled").Truthy() || !a.TimeSeries.IsMissing() || !a.ExpireAfter.IsMissing() || !a.ClusteredIndex.IsMissing() && !a.ClusteredIndex.Truthy() {
		return nil, mongoerr.New(mongoerr.InvalidOptions, "Cannot create view "+ns.String()+" with collection options")
	}
	if !a.ClusteredIndex.IsMissing() {
		return nil, mongoerr.New(6026500, "The 'clusteredIndex' option is not supported with views")
	}
	if *a.ViewOn == "" {
		return nil, mongoerr.New(mongoerr.BadValue, "'viewOn' cannot be empty")
	}
	if !catalog.ValidCollection(*a.ViewOn) {
		return nil, mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid name for 'viewOn' collection: %s", *a.ViewOn)
	}
	if strings.HasPrefix(ns.Coll, "system.") {
		return nil, mongoerr.Newf(mongoerr.InvalidNamespace, "View name cannot start with 'system.': %s", ns)
	}
	col, err := a.collation()
	if err != nil {
		return nil, err
	}
	if err := checkViewGraph(c, ns, *a.ViewOn, value.Doc(a.Pipeline), col); err != nil {
		return nil, err
	}
	var b value.Builder
	b.Reset(nil)
	b.String("viewOn", *a.ViewOn)
	pipeline := value.Doc(a.Pipeline)
	if pipeline == nil {
		pipeline = value.NewArray().Doc()
	}
	b.Array("pipeline", pipeline)
	if col != nil {
		b.Document("collation", col.Doc())
	}
	return &Plan{Parts: []Part{{NS: ns, Options: b.Doc()}}}, nil
}

// inViewContext names the view in an error of its pipeline. Two errors are passed
// on unchanged, as in mongod: those of a pipeline that is not a list of stages.
func inViewContext(ns storage.Namespace, err error) error {
	e := mongoerr.From(err)
	if e.Code == 40323 || e.Code == 40324 {
		return e
	}
	return e.WithPrefix("Invalid pipeline for view " + ns.String())
}

// ListedOptions returns the options of a collection as listCollections shows them.
func ListedOptions(c *kernel.Call, info *storage.Info) value.Doc { return catalog.LastingOptions(info) }
