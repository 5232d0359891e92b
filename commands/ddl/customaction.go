package ddl

import (
	"errors"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

type customActionArgs struct {
	Action     string     `arg:"customAction,required"`
	Collection *string    `arg:"collection"`
	Throughput *int64     `arg:"offerThroughput"`
	AutoScale  value.Doc  `arg:"autoScaleSettings"`
	ShardKey   *string    `arg:"shardKey"`
	Indexes    args.Array `arg:"indexes"`

	ShowIndexes *bool       `arg:"showIndexes"`
	StartAt     value.Value `arg:"startAtOperationTime"`
}

var customActionSpec = args.New[customActionArgs]("customAction")

// customAction is one of the actions.
type customAction struct {
	run func(*customCall) error
	// takes are the arguments it knows besides the action itself.
	collection, offer, shardKey, indexes, showIndexes, startAt bool
	// privileges are needed on the collection, or else on the database.
	privileges []string
}

// customActions are the actions by name.
// Please keep sorted.
var customActions map[string]customAction

func init() {
	customActions = map[string]customAction{
		"CreateCollection":      {run: createCustomCollection, collection: true, offer: true, shardKey: true, indexes: true, privileges: []string{"createCollection", "createIndex"}},
		"CreateDatabase":        {run: createCustomDatabase, offer: true, privileges: []string{"createCollection"}},
		"GetChangeStreamTokens": {run: getChangeStreamTokens, collection: true, startAt: true, privileges: []string{"find", "changeStream"}},
		"GetCollection":         {run: getCustomCollection, collection: true, showIndexes: true, privileges: []string{"collStats"}},
		"GetDatabase":           {run: getCustomDatabase, privileges: []string{"dbStats"}},
		"UpdateCollection":      {run: updateCustomCollection, collection: true, offer: true, indexes: true, privileges: []string{"collMod", "createIndex", "dropIndex"}},
		"UpdateDatabase":        {run: updateCustomDatabase, offer: true, privileges: []string{"collMod"}},
	}
}

// runCustomAction runs an action. Its errors carry their text a second time,
// under the name that the documentation of Cosmos DB gives it.
func runCustomAction(c *kernel.Call) error {
	err := applyCustomAction(c)
	if err != nil {
		e := mongoerr.From(err)
		return e.WithExtra("errMsg", value.String(e.Message))
	}
	return nil
}

func applyCustomAction(c *kernel.Call) error {
	x := &customCall{c: c}
	if err := customActionSpec.Decode(c.Body, &x.args); err != nil {
		return err
	}
	a, ok := customActions[x.args.Action]
	if !ok {
		return mongoerr.Newf(mongoerr.CommandNotFound, "no such custom action: '%s'", x.args.Action)
	}
	if err := x.check(&a); err != nil {
		return err
	}
	return a.run(x)
}

// customCall is one running action.
type customCall struct {
	c     *kernel.Call
	args  customActionArgs
	ns    storage.Namespace // the namespace of the collection; without Coll for a database
	offer offer
}

// check reads the arguments, and refuses those that the action does not have.
func (x *customCall) check(a *customAction) (err error) {
	for _, f := range []struct {
		name    string
		foreign bool
	}{
		{"collection", !a.collection && x.args.Collection != nil}, {"shardKey", !a.shardKey && x.args.ShardKey != nil},
		{"indexes", !a.indexes && x.args.Indexes != nil}, {"offerThroughput", !a.offer && x.args.Throughput != nil},
		{"autoScaleSettings", !a.offer && x.args.AutoScale != nil}, {"showIndexes", !a.showIndexes && x.args.ShowIndexes != nil},
		{"startAtOperationTime", !a.startAt && !x.args.StartAt.IsMissing()},
	} {
		if f.foreign {
			return mongoerr.UnknownField("customAction." + f.name)
		}
	}
	x.ns.DB = x.c.DB
	if a.collection {
		if x.args.Collection == nil {
			return mongoerr.MissingField("customAction.collection")
		}
		x.ns.Coll = *x.args.Collection
		if err := catalog.CheckUserNamespace(x.ns); err != nil {
			return err
		}
	}
	x.offer, err = x.readOffer()
	return err
}

// existing opens the collection.
func (x *customCall) existing(tx storage.Tx) (storage.Collection, error) {
	coll, err := tx.Collection(x.ns)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, mongoerr.Newf(mongoerr.NamespaceNotFound, "collection %s does not exist", x.ns)
	}
	return coll, err
}

// databaseExists fails unless the existence of the database equals wanted.
func (x *customCall) databaseExists(tx storage.Tx, wanted bool) error {
	exists, err := databaseListed(tx, x.ns.DB)
	switch {
	case err != nil:
		return err
	case exists && !wanted:
		return mongoerr.Newf(mongoerr.NamespaceExists, "database %s already exists", x.ns.DB)
	case !exists && wanted:
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "database %s does not exist", x.ns.DB)
	}
	return nil
}

func createCustomDatabase(x *customCall) error {
	return x.c.Update(func(tx storage.Tx) error {
		if err := x.databaseExists(tx, false); err != nil {
			return err
		}
		return x.offer.store(tx, x.ns.DB, offerOfDatabase, x.c.Now)
	})
}

func updateCustomDatabase(x *customCall) error {
	return x.c.Update(func(tx storage.Tx) error {
		if err := x.databaseExists(tx, true); err != nil {
			return err
		}
		old, err := readOffer(tx, x.ns.DB, offerOfDatabase)
		if err != nil {
			return err
		}
		return x.offer.over(old).store(tx, x.ns.DB, offerOfDatabase, x.c.Now)
	})
}

func getCustomDatabase(x *customCall) error {
	var o offer
	err := x.c.View(func(tx storage.Tx) (err error) {
		if err := x.databaseExists(tx, true); err != nil {
			return err
		}
		o, err = readOffer(tx, x.ns.DB, offerOfDatabase)
		return err
	})
	if err != nil {
		return err
	}
	x.c.Reply.String("database", x.ns.DB)
	o.append(x.c.Reply)
	return nil
}

func createCustomCollection(x *customCall) error {
	indexes, err := x.indexes()
	if err != nil {
		return err
	}
	if x.args.ShardKey != nil {
		x.offer.shardKey = *x.args.ShardKey
	}
	if err := x.offer.check(); err != nil {
		return err
	}
	err = x.c.Update(func(tx storage.Tx) error {
		if _, err := tx.Collection(x.ns); !errors.Is(err, storage.ErrNotFound) {
			return mongoerr.Newf(mongoerr.NamespaceExists, "collection %s already exists", x.ns).WithCause(err)
		}
		coll, err := write.CollectionForInsert(x.c, tx, x.ns)
		if err != nil {
			return err
		}
		shared, err := sharesThroughput(tx, x.ns.DB)
		if err != nil {
			return err
		}
		if x.offer.none() && !shared {
			x.offer.throughput = defaultThroughput
		}
		uuid := coll.Info().UUID
		if len(indexes) > 0 {
			if _, _, _, err := createIndexes(x.c, tx, x.ns, indexes); err != nil {
				return err
			}
		}
		return x.offer.store(tx, x.ns.DB, offerOfCollection(uuid), x.c.Now)
	})
	return kernel.Translate(x.ns, err)
}

func updateCustomCollection(x *customCall) error {
	indexes, err := x.indexes()
	if err != nil {
		return err
	}
	if x.args.Indexes != nil { // this may end the document policy and build indexes
		reopen, err := write.EndPolicy(x.c, x.ns)
		defer reopen()
		if err != nil {
			return kernel.Translate(x.ns, err)
		}
	}
	err = x.c.Update(func(tx storage.Tx) error {
		coll, err := x.existing(tx)
		if err != nil {
			return err
		}
		if catalog.Of(coll.Info()).Kind != catalog.Ordinary {
			return mongoerr.Newf(mongoerr.IllegalOperation, "%s is not an ordinary collection", x.ns)
		}
		id := offerOfCollection(coll.Info().UUID)
		old, err := readOffer(tx, x.ns.DB, id)
		if err != nil {
			return err
		}
		fresh := x.offer.over(old)
		if err := fresh.check(); err != nil {
			return err
		}
		if x.args.Indexes != nil {
			if err := x.replaceIndexes(tx, coll, indexes); err != nil {
				return err
			}
		}
		return fresh.store(tx, x.ns.DB, id, x.c.Now)
	})
	return kernel.Translate(x.ns, err)
}

func getCustomCollection(x *customCall) error {
	var o offer
	var shared bool
	var info *storage.Info
	err := x.c.View(func(tx storage.Tx) error {
		coll, err := x.existing(tx)
		if err != nil {
			return err
		}
		info = coll.Info()
		if o, err = readOffer(tx, x.ns.DB, offerOfCollection(info.UUID)); err != nil {
			return err
		}
		shared, err = sharesThroughput(tx, x.ns.DB)
		return err
	})
	if err != nil {
		return err
	}
	if o.none() && !shared { // it was not made by customAction
		o.throughput = defaultThroughput
	}
	b := x.c.Reply.String("database", x.ns.DB).String("collection", x.ns.Coll)
	if o.shardKey != "" {
		b.StartDocument("shardKeyDefinition").String(o.shardKey, "hashed").End()
	}
	o.append(b)
	if x.args.ShowIndexes != nil && *x.args.ShowIndexes {
		return x.appendIndexes(info)
	}
	return nil
}

// appendIndexes writes the indexes as listIndexes shows them. In Cosmos DB those that
// reIndex would make faster have a field requiresReIndex, which no index needs here.
func (x *customCall) appendIndexes(info *storage.Info) error {
	docs, err := listedIndexes(x.c, info)
	if err != nil {
		return err
	}
	list := make([]value.Value, len(docs))
	for i, d := range docs {
		list[i] = value.Document(index.Listed(d))
	}
	x.c.Reply.Append("indexes", value.NewArray(list...))
	return nil
}

// getChangeStreamTokens returns a resume token for each physical partition of a
// collection, for programs that read them side by side: here there is one.
func getChangeStreamTokens(x *customCall) error {
	at := x.args.StartAt
	if !at.IsMissing() && at.Kind() != value.KindTimestamp {
		return args.WrongType("customAction", "startAtOperationTime", at, "timestamp")
	}
	x.c.Svc.Oplog.NoteReader(x.c.Ctx)
	err := x.c.View(func(tx storage.Tx) error {
		_, err := x.existing(tx)
		return err
	})
	if err != nil {
		return err
	}
	t := token.Token{TS: x.c.Svc.Stamps.Current() + 1}
	if !at.IsMissing() {
		t.TS = max(clustertime.Of(at), 1)
	}
	x.c.Reply.Append("resumeAfterTokens", value.NewArray(value.Document(t.Encode())))
	return nil
}

// indexes reads the indexes argument, without the index on _id that must be
// there.
func (x *customCall) indexes() (rest []value.Doc, err error) {
	if x.args.Indexes == nil {
		return nil, nil
	}
	list, err := args.ArrayDocs("customAction", "indexes", x.args.Indexes)
	if err != nil {
		return nil, err
	}
	found := false
	for _, d := range list {
		key := d.Lookup("key").Doc()
		if name, v := key.First(); name == "_id" && key.Len() == 1 && v.AsDouble() == 1 && !d.Has("expireAfterSeconds") {
			found = true
			continue
		}
		rest = append(rest, d)
	}
	if !found {
		return nil, mongoerr.New(mongoerr.BadValue, "'indexes' must contain an index with the key {_id: 1}")
	}
	return rest, nil
}

// replaceIndexes gives a collection the given indexes and drops all others. Indexes that
// exist already stay as they are.
func (x *customCall) replaceIndexes(tx storage.Tx, coll storage.Collection, given []value.Doc) error {
	if err := x.replacePolicy(tx, coll, given); err != nil {
		return err
	}
	coll, err := tx.Collection(x.ns)
	if err != nil {
		return err
	}
	m := catalog.Of(coll.Info())
	for _, spec := range m.Indexes {
		if spec.IsID() || x.keeps(m, spec, given) {
			continue
		}
		if err := removeIndex(x.c, tx, coll.Info(), spec.Name); err != nil {
			return err
		}
	}
	if len(given) == 0 {
		return nil
	}
	_, _, _, err = createIndexes(x.c, tx, x.ns, given)
	return err
}

// keeps reports whether the existing index spec is one of the given indexes.
func (x *customCall) keeps(m *catalog.Meta, spec *index.Spec, given []value.Doc) bool {
	var o index.ParseOptions
	if m.Collation != nil {
		o.Collation = m.Collation.Doc()
	}
	for _, d := range given {
		wanted, err := index.Parse(d, o)
		if err == nil && mongoerr.Is(index.Conflict([]*index.Spec{spec}, wanted, x.ns.String()), mongoerr.IndexAlreadyExists) {
			return true
		}
	}
	return false
}

// replacePolicy sets the default of document TTL from the given index on _ts, or switches
// document TTL off if there is no such index.
func (x *customCall) replacePolicy(tx storage.Tx, coll storage.Collection, given []value.Doc) error {
	old := catalog.Of(coll.Info()).DocTTL
	if old == nil {
		return nil
	}
	for _, d := range given {
		p, ok, err := ttl.ParseTSIndex(d)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if p.Default == old.Default {
			return nil
		}
		changed := *old
		changed.Default = p.Default
		return setDocumentPolicy(x.c, tx, coll, &changed)
	}
	return setDocumentPolicy(x.c, tx, coll, nil)
}

// MayCustomAction asks for the privileges of the action.
func MayCustomAction(c *kernel.Call) error {
	ns := storage.Namespace{DB: c.DB}
	action := customActions[c.Body.Lookup("customAction").Str()]
	if action.collection {
		ns.Coll = c.Body.Lookup("collection").Str()
	}
	for _, p := range action.privileges {
		if err := access.Need(c, access.Pattern(ns), p); err != nil {
			return err
		}
	}
	if c.Body.Lookup("showIndexes").Truthy() {
		return access.Need(c, access.Pattern(ns), "listIndexes")
	}
	return nil
}
