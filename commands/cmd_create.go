package commands

import (
	"errors"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type createArgs struct {
	Create          value.Value `arg:"create,required"`
	Capped          looseBool   `arg:"capped"`
	Size            *int64      `arg:"size"`
	Max             *int64      `arg:"max"`
	AutoIndexID     *bool       `arg:"autoIndexId"`
	IDIndex         value.Doc   `arg:"idIndex"`
	TimeSeries      value.Value `arg:"timeseries"`
	ExpireAfter     value.Value `arg:"expireAfterSeconds"`
	ClusteredIndex  value.Value `arg:"clusteredIndex"`
	PreAndPost      value.Doc   `arg:"changeStreamPreAndPostImages"`
	Validator       value.Doc   `arg:"validator"`
	Level           string      `arg:"validationLevel"`
	Action          string      `arg:"validationAction"`
	ViewOn          *string     `arg:"viewOn"`
	Pipeline        array       `arg:"pipeline"`
	Collation       value.Doc   `arg:"collation"`
	StorageEngine   value.Doc   `arg:"storageEngine"`
	IndexDefaults   value.Doc   `arg:"indexOptionDefaults"`
	EncryptedFields value.Doc   `arg:"encryptedFields"`
	RecordIDsRepl   *bool       `arg:"recordIdsReplicated"`
	Flags           *int64      `arg:"flags"`
	Temp            looseBool   `arg:"temp"`
	DocumentTTL     value.Value `arg:"documentTtl"`
	IndexingPolicy  value.Value `arg:"indexingPolicy"`
	MessageQueue    value.Value `arg:"messageQueue"`
	OnExpire        value.Value `arg:"onExpire"`
}

var createSpec = newArgs[createArgs]("create")

func runCreate(c *Call) error { return c.create(nil) }

// create runs a create; id is the UUID that the collection is to have, nil
// for a new one.
func (c *Call) create(id *[16]byte) error {
	var a createArgs
	if err := createSpec.decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.namespaceOf(a.Create)
	if err != nil {
		return err
	}
	if err := c.checkOptionFields("create", &a.Pipeline); err != nil {
		return err
	}
	if v, given := c.Body.Get("clusteredIndex"); given && v.Kind() == value.KindNull {
		return wrongType("create", "clusteredIndex", v, "bool, object")
	}
	if err := checkStorageEngine(a.StorageEngine); err != nil {
		return err
	}
	if err := checkUserNamespace(ns); err != nil {
		return err
	}
	if isBuckets(ns.Coll) && a.TimeSeries.IsMissing() {
		return mongoerr.Newf(mongoerr.IllegalOperation, "Cannot create the buckets of a time-series collection without the 'timeseries' option: %s", ns)
	}
	if err := a.check(); err != nil {
		return err
	}
	plan, err := c.planCreate(ns, &a)
	if err != nil {
		return err
	}
	if plan, err = c.planExpiry(ns, &a, plan); err != nil {
		return err
	}
	if id != nil {
		plan.identify(&a, id)
	}
	err = c.update(func(tx storage.Tx) error { return c.createAll(tx, ns, plan) })
	if err != nil {
		return translate(ns, err)
	}
	if a.AutoIndexID != nil && *a.AutoIndexID {
		c.reply.String("note", "The autoIndexId option is deprecated and will be removed in a future release")
	}
	return nil
}

// creation is what a create makes: the collection itself and, for time
// series and queues, those behind it.
type creation struct {
	parts []creationPart
}

type creationPart struct {
	ns      storage.Namespace
	options value.Doc
	indexes []storage.IndexSpec
	id      *[16]byte // nil: a new one
}

// identify gives the UUID to the part that has documents: not to a view, and
// not to a time series, but to its buckets.
func (p *creation) identify(a *createArgs, id *[16]byte) {
	switch {
	case a.ViewOn != nil:
	case !a.TimeSeries.IsMissing():
		p.parts[len(p.parts)-1].id = id
	default:
		p.parts[0].id = id
	}
}

func (p *creationPart) create(tx storage.Tx) (err error) {
	if p.id != nil {
		_, err = tx.CreateAs(p.ns, *p.id, p.options, p.indexes)
		return err
	}
	_, err = tx.Create(p.ns, p.options, p.indexes)
	return err
}

// createAll makes the collections. Creating one that exists with the same
// options succeeds, as in mongod, but for transactions.
func (c *Call) createAll(tx storage.Tx, ns storage.Namespace, plan *creation) error {
	existing, err := tx.Collection(ns)
	if err == nil {
		switch {
		case c.transaction() != nil:
			return mongoerr.Newf(mongoerr.NamespaceExists, "Collection %s already exists.", ns)
		case sameOptions(existing.Info(), plan.parts[0]):
			return nil
		}
		return mongoerr.Newf(mongoerr.NamespaceExists, "namespace %s already exists, but with different options: %s", ns, c.listedOptions(existing.Info()))
	}
	if !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	for _, p := range plan.parts {
		if err := p.create(tx); err != nil {
			return translate(p.ns, err)
		}
	}
	return c.beginQueue(tx, plan)
}

func sameOptions(info *storage.Info, p creationPart) bool {
	return value.CompareDocs(sortedFields(info.Options), sortedFields(p.options), nil) == 0
}

// sortedFields orders the fields of a document by name, for comparison.
func sortedFields(d value.Doc) value.Doc {
	names := map[string]value.Value{}
	var order []string
	for name, v := range d.All() {
		names[name] = v
		order = append(order, name)
	}
	slices.Sort(order)
	var b value.Builder
	b.Reset(nil)
	for _, name := range order {
		b.Append(name, names[name])
	}
	return b.Doc()
}

// planCreate checks the options and turns them into what is stored.
func (c *Call) planCreate(ns storage.Namespace, a *createArgs) (*creation, error) {
	switch {
	case a.ViewOn != nil:
		return c.planView(ns, a)
	case a.EncryptedFields != nil:
		return nil, mongoerr.New(mongoerr.InvalidOptions, "encryptedFields is not supported")
	}
	if p, err := c.planSpecial(ns, a); p != nil || err != nil {
		return p, err
	}
	options, err := c.planOptions(a)
	if err != nil {
		return nil, err
	}
	id, err := a.planIDIndex(ns)
	if err != nil {
		return nil, err
	}
	part := creationPart{ns: ns, options: options, indexes: []storage.IndexSpec{id}}
	if ns.Coll == "system.profile" { // its entries have no _id
		part.indexes = nil
	}
	if a.AutoIndexID != nil && !*a.AutoIndexID { // in local, where it is allowed
		o := newOptions(options)
		o.set("autoIndexId", value.Bool(false))
		part.options, part.indexes = o.doc(), nil
	}
	return &creation{parts: []creationPart{part}}, nil
}

// planOptions writes the options of a collection as they are stored and
// listed.
func (c *Call) planOptions(a *createArgs) (value.Doc, error) {
	var b value.Builder
	b.Reset(nil)
	a.appendCapped(&b)
	if !a.StorageEngine.IsEmpty() {
		b.Document("storageEngine", a.StorageEngine)
	}
	if a.IndexDefaults != nil {
		if err := checkIndexDefaults(a.IndexDefaults); err != nil {
			return nil, err
		}
		if !a.IndexDefaults.IsEmpty() {
			b.Document("indexOptionDefaults", a.IndexDefaults)
		}
	}
	col, err := a.collation()
	if err != nil {
		return nil, err
	}
	if err := c.appendValidation(&b, a, col); err != nil {
		return nil, err
	}
	if a.PreAndPost != nil {
		if err := checkPreImages(a.PreAndPost); err != nil {
			return nil, err
		}
		if a.PreAndPost.Lookup("enabled").Truthy() {
			b.Document("changeStreamPreAndPostImages", a.PreAndPost)
		}
	}
	if col != nil {
		b.Document("collation", col.Doc())
	}
	return b.Doc(), nil
}

func checkPreImages(d value.Doc) error {
	given := false
	for name, v := range d.All() {
		if name != "enabled" {
			return mongoerr.Newf(mongoerr.IDLUnknownField, "BSON field 'changeStreamPreAndPostImages.%s' is an unknown field.", name)
		}
		if v.Kind() == value.KindNull || v.Kind() == value.KindUndefined {
			continue
		}
		given = true
		if v.Kind() != value.KindBool {
			return wrongType("changeStreamPreAndPostImages", "enabled", v, "bool")
		}
	}
	if !given {
		return mongoerr.New(mongoerr.IDLFailedToParse, "BSON field 'changeStreamPreAndPostImages.enabled' is missing but a required field")
	}
	return nil
}

var (
	validationLevels  = map[string]bool{"": true, "off": true, "strict": true, "moderate": true}
	validationActions = map[string]bool{"": true, "error": true, "warn": true}
)

func checkValidationMode(level, action string) error {
	if !validationLevels[level] {
		return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field 'validationLevel' is not a valid value.", level)
	}
	if !validationActions[action] {
		return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field 'validationAction' is not a valid value.", action)
	}
	return nil
}

func (c *Call) appendValidation(b *value.Builder, a *createArgs, col *collation.Collation) error {
	if err := checkValidationMode(a.Level, a.Action); err != nil {
		return err
	}
	if a.Validator != nil {
		if err := c.checkValidator(c.Body.Lookup("create").Str(), a.Validator, col); err != nil {
			return err
		}
		b.Document("validator", a.Validator)
	}
	if a.Level != "" {
		b.String("validationLevel", a.Level)
	} else if a.Validator != nil {
		b.String("validationLevel", "strict")
	}
	if a.Action != "" {
		b.String("validationAction", a.Action)
	} else if a.Validator != nil {
		b.String("validationAction", "error")
	}
	return nil
}

// checkValidator compiles a validator to see that it is one.
func (c *Call) checkValidator(coll string, d value.Doc, col *collation.Collation) error {
	if isSystem(coll) {
		return mongoerr.Newf(mongoerr.InvalidOptions, "Document validators not allowed on system collection %s.%s", c.DB, coll)
	}
	if c.DB == "admin" || c.DB == "local" || c.DB == "config" {
		return mongoerr.Newf(mongoerr.InvalidOptions, "Document validators are not allowed on collections in the %s database", c.DB)
	}
	o := match.Options{}
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

// collation is the default collation, nil for the simple one.
func (a *createArgs) collation() (*collation.Collation, error) {
	if a.Collation != nil && a.Collation.IsEmpty() {
		return nil, mongoerr.New(40414, "BSON field 'create.collation.locale' is missing but a required field")
	}
	return collation.Parse(a.Collation)
}

// planView checks a view. Its pipeline must compile; what it reads need not
// exist.
func (c *Call) planView(ns storage.Namespace, a *createArgs) (*creation, error) {
	if a.PreAndPost.Lookup("enabled").Truthy() || !a.TimeSeries.IsMissing() || !a.ExpireAfter.IsMissing() || !a.ClusteredIndex.IsMissing() && !a.ClusteredIndex.Truthy() {
		return nil, mongoerr.New(mongoerr.InvalidOptions, "Cannot create view "+ns.String()+" with collection options")
	}
	if !a.ClusteredIndex.IsMissing() {
		return nil, mongoerr.New(6026500, "The 'clusteredIndex' option is not supported with views")
	}
	if *a.ViewOn == "" {
		return nil, mongoerr.New(mongoerr.BadValue, "'viewOn' cannot be empty")
	}
	if !validCollection(*a.ViewOn) {
		return nil, mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid name for 'viewOn' collection: %s", *a.ViewOn)
	}
	if strings.HasPrefix(ns.Coll, "system.") {
		return nil, mongoerr.Newf(mongoerr.InvalidNamespace, "View name cannot start with 'system.': %s", ns)
	}
	col, err := a.collation()
	if err != nil {
		return nil, err
	}
	if err := c.checkViewGraph(ns, *a.ViewOn, value.Doc(a.Pipeline), col); err != nil {
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
	return &creation{parts: []creationPart{{ns: ns, options: b.Doc()}}}, nil
}

// inViewContext tells of which view an error in a pipeline is. What is not
// even a list of stages is found earlier, and told without.
func inViewContext(ns storage.Namespace, err error) error {
	e := mongoerr.From(err)
	if e.Code == 40323 || e.Code == 40324 {
		return e
	}
	return e.WithPrefix("Invalid pipeline for view " + ns.String())
}
