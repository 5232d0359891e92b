package oplog

import (
	"strings"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// loggedTx is an engine transaction whose changes are logged. Commands, the expiry of
// documents and the message queues all use it, so that the log has every change.
type loggedTx struct {
	storage.Tx
	r *Recorder
}

// loggedCollection is a collection of a loggedTx.
type loggedCollection struct {
	storage.Collection
	r *Recorder
}

// Unlogged reports whether a collection is not logged, as it is the server's own.
func Unlogged(ns storage.Namespace) bool {
	switch ns.DB {
	case "local":
		return true
	case "config":
		return ns == Transactions || ns == PreImages || ns == Statements
	}
	return ns.Coll == "system.profile" || strings.HasPrefix(ns.Coll, "$")
}

// Collection opens a collection whose changes are recorded.
func (t *loggedTx) Collection(ns storage.Namespace) (storage.Collection, error) {
	c, err := t.Tx.Collection(ns)
	if err != nil || Unlogged(ns) {
		return c, err
	}
	return t.r.collection(c), nil
}

// collection wraps a collection so that its changes are recorded. Most transactions open
// only one.
func (r *Recorder) collection(c storage.Collection) *loggedCollection {
	if r.coll.r == nil && r.txn == nil {
		r.coll = loggedCollection{Collection: c, r: r}
		return &r.coll
	}
	return &loggedCollection{Collection: c, r: r}
}

// Insert adds a document: i.
func (c *loggedCollection) Insert(d value.Doc, ts int64) (storage.RecordID, error) {
	if err := c.allowed(len(d)); err != nil {
		return 0, err
	}
	id, err := c.Collection.Insert(d, ts)
	if err == nil {
		c.r.insert(c.Info(), id, d, ts)
	}
	return id, err
}

// Update replaces a document: u, with the difference.
func (c *loggedCollection) Update(id storage.RecordID, d value.Doc, ts int64) (storage.Written, error) {
	return c.update(id, d, ts, &Change{})
}

// Update replaces a document of a collection. Its entry, if the collection is logged, is
// written as how says.
func Update(coll storage.Collection, id storage.RecordID, d value.Doc, ts int64, how *Change) (storage.Written, error) {
	if c, ok := coll.(*loggedCollection); ok {
		return c.update(id, d, ts, how)
	}
	return coll.Update(id, d, ts)
}

func (c *loggedCollection) update(id storage.RecordID, d value.Doc, ts int64, how *Change) (w storage.Written, err error) {
	if err := c.allowed(len(d)); err != nil {
		return w, err
	}
	w, err = c.Collection.Update(id, d, ts)
	if err == nil {
		c.r.update(c.Info(), w.Old, d, ts, how)
	}
	return w, err
}

// Delete removes a document: d.
func (c *loggedCollection) Delete(id storage.RecordID) (storage.Written, error) {
	return c.DeleteBecause(id, nil)
}

// DeleteBecause removes a document for a reason, which the entry has.
func (c *loggedCollection) DeleteBecause(id storage.RecordID, reason storage.Reason) (w storage.Written, err error) {
	if err := c.allowed(0); err != nil {
		return w, err
	}
	w, err = c.Collection.Delete(id)
	if err == nil {
		c.r.remove(c.Info(), w.Old, reason)
	}
	return w, err
}

// DeleteRange removes documents, each of them a d with the reason of its verdict. They are
// recorded when all of them have been removed.
func (c *loggedCollection) DeleteRange(d *storage.RangeDelete) (out storage.RangeDeleted, err error) {
	if err := c.allowed(0); err != nil {
		return out, err
	}
	type removal struct {
		storage.Record
		reason storage.Reason
	}
	var removed []removal
	logged := *d
	logged.Pick = func(key []byte, r storage.Record) (storage.Verdict, error) {
		v, err := d.Pick(key, r)
		if v.Do == storage.Remove {
			removed = append(removed, removal{r, v.Reason})
		}
		return v, err
	}
	out, err = c.Collection.DeleteRange(&logged)
	if err == nil {
		info := c.Info()
		for i := range removed {
			c.r.remove(info, removed[i].Record, removed[i].reason)
		}
	}
	return out, err
}

// Truncate removes all documents, each of them a d.
func (c *loggedCollection) Truncate() error {
	info := c.Info()
	if err := c.Scan(storage.Range{}, func(r storage.Record) bool { c.r.remove(info, r, nil); return true }); err != nil {
		return err
	}
	return c.Collection.Truncate()
}

// allowed refuses writes that are not allowed in a multi-document transaction.
func (c *loggedCollection) allowed(size int) error {
	if c.r.txn == nil {
		return nil
	}
	info := c.Info()
	switch m := catalog.Of(info); {
	case m.Capped:
		return NotInTransaction("Collection '" + info.Namespace.String() + "' is a capped collection. Writes in transactions are not allowed on capped collections.")
	case m.Kind == catalog.Buckets:
		series, _ := reserved.Series(info.Namespace.Coll)
		return NotInTransaction("Cannot write to a time-series collection in a multi-document transaction: " + info.Namespace.DB + "." + series)
	}
	return c.r.room(size)
}

// Create creates a collection, and logs it as create with its options.
func (t *loggedTx) Create(ns storage.Namespace, options value.Doc, indexes []storage.IndexSpec) (storage.Collection, error) {
	if err := catalog.CheckDatabaseCase(t.Tx, ns.DB); err != nil {
		return nil, err
	}
	c, err := t.Tx.Create(ns, options, indexes)
	return t.created(c, err, ns, options)
}

// CreateAs is Create with a given UUID.
func (t *loggedTx) CreateAs(ns storage.Namespace, id [16]byte, options value.Doc, indexes []storage.IndexSpec) (storage.Collection, error) {
	if err := catalog.CheckDatabaseCase(t.Tx, ns.DB); err != nil {
		return nil, err
	}
	c, err := t.Tx.CreateAs(ns, id, options, indexes)
	return t.created(c, err, ns, options)
}

// created logs that a collection was made, unless err says that it was not.
func (t *loggedTx) created(c storage.Collection, err error, ns storage.Namespace, options value.Doc) (storage.Collection, error) {
	if err != nil || Unlogged(ns) {
		return c, err
	}
	info := c.Info()
	t.r.add("c", ns, loggedUUID(info), func(b *value.Builder) {
		b.StartDocument("o").String("create", ns.Coll)
		it := options.Iter()
		b.Raw(it.Rest())
		for _, spec := range catalog.Of(info).Indexes {
			// mongod does not log an _id index of version 1.
			if doc := spec.Doc(); spec.IsID() && catalog.Of(info).Clustered == nil && doc.Lookup("v").SafeInt64() > 1 {
				b.Document("idIndex", doc)
			}
		}
		b.End()
	})
	return &loggedCollection{Collection: c, r: t.r}, nil
}

// loggedUUID returns the UUID for entries about a collection. It is nil for a view, and for
// a time series, which the log treats as a view of its buckets.
func loggedUUID(info *storage.Info) *[16]byte {
	if k := catalog.Of(info).Kind; k == catalog.View || k == catalog.TimeSeries {
		return nil
	}
	return &info.UUID
}

// Drop removes a collection.
func (t *loggedTx) Drop(ns storage.Namespace) error { return t.DropBecause(ns, nil) }

// DropBecause removes a collection for a reason, which the entry has.
func (t *loggedTx) DropBecause(ns storage.Namespace, reason storage.Reason) error {
	c, err := t.Tx.Collection(ns)
	if err != nil {
		return err
	}
	info := c.Info()
	records, err := c.Count()
	if err != nil {
		return err
	}
	if err := t.Tx.Drop(ns); err != nil {
		return err
	}
	t.r.gone = append(t.r.gone, Gone{Info: info})
	if Unlogged(ns) {
		return nil
	}
	t.r.add("c", ns, loggedUUID(info), func(b *value.Builder) {
		b.StartDocument("o").String("drop", ns.Coll).End()
		b.StartDocument("o2").Int64("numRecords", records).End()
		appendReason(b, reason)
	})
	t.r.last().drop = info.UUID
	return nil
}

// Rename renames a collection. If the target was dropped just before, both are logged as
// one operation.
func (t *loggedTx) Rename(from, to storage.Namespace) error {
	info, err := t.info(from)
	if err != nil {
		return err
	}
	if err := catalog.CheckDatabaseCase(t.Tx, to.DB); err != nil {
		return err
	}
	if err := t.Tx.Rename(from, to); err != nil {
		return err
	}
	r := t.r
	r.gone = append(r.gone, Gone{Info: info, To: to})
	var target [16]byte
	if m := r.last(); m != nil && m.ns == to && m.drop != target {
		target = m.drop
		r.removeLast()
	}
	r.add("c", from, &info.UUID, func(b *value.Builder) {
		b.StartDocument("o").String("renameCollection", from.String()).String("to", to.String()).Bool("stayTemp", false)
		if target != [16]byte{} {
			b.Append("dropTarget", value.Binary(4, target[:]))
		}
		b.End()
	})
	return nil
}

// goneTx is an engine transaction without a log.
type goneTx struct {
	storage.Tx
	r *Recorder
}

// Drop removes a collection.
func (t *goneTx) Drop(ns storage.Namespace) error {
	c, err := t.Collection(ns)
	if err != nil {
		return err
	}
	info := c.Info()
	if err := t.Tx.Drop(ns); err != nil {
		return err
	}
	t.r.gone = append(t.r.gone, Gone{Info: info})
	return nil
}

// Rename renames a collection.
func (t *goneTx) Rename(from, to storage.Namespace) error {
	c, err := t.Collection(from)
	if err != nil {
		return err
	}
	info := c.Info()
	if err := t.Tx.Rename(from, to); err != nil {
		return err
	}
	t.r.gone = append(t.r.gone, Gone{Info: info, To: to})
	return nil
}

// DropDatabase records that a database was dropped, after its collections.
func (r *Recorder) DropDatabase(db string) {
	r.add("c", storage.Namespace{DB: db}, nil, func(b *value.Builder) {
		b.StartDocument("o").Int32("dropDatabase", 1).End()
	})
}

// SetOptions replaces a collection's options. It logs a collMod with the new and the old
// options.
func (t *loggedTx) SetOptions(ns storage.Namespace, options value.Doc) error {
	info, err := t.info(ns)
	if err != nil {
		return err
	}
	if err := t.Tx.SetOptions(ns, options); err != nil || Unlogged(ns) {
		return err
	}
	b := value.NewBuilder()
	for name, v := range options.All() {
		if old, ok := info.Options.Get(name); !ok || !value.Equal(old, v) {
			b.Append(name, v)
		}
	}
	t.r.CollMod(info, b.Doc(), nil)
	return nil
}

// modifyingTx is the transaction of a collMod of one collection, which the command logs as
// a whole: its changes of the options and of the indexes' specifications are not logged.
type modifyingTx struct {
	*loggedTx
	ns storage.Namespace
}

// Modifying returns the transaction for a collMod of a collection.
func Modifying(tx storage.Tx, ns storage.Namespace) storage.Tx {
	if l, ok := tx.(*loggedTx); ok {
		return modifyingTx{l, ns}
	}
	return tx
}

// SetOptions replaces the options of a collection.
func (t modifyingTx) SetOptions(ns storage.Namespace, options value.Doc) error {
	if ns == t.ns {
		return t.Tx.SetOptions(ns, options)
	}
	return t.loggedTx.SetOptions(ns, options)
}

// SetIndex replaces the specification of an index.
func (t modifyingTx) SetIndex(ns storage.Namespace, spec storage.IndexSpec) error {
	if ns == t.ns {
		return t.Tx.SetIndex(ns, spec)
	}
	return t.loggedTx.SetIndex(ns, spec)
}

// unlogged returns the engine transaction itself.
func (t *loggedTx) unlogged() storage.Tx { return t.Tx }

// CollMod records a collMod: its arguments, and the old options of the collection and of
// its index.
func (r *Recorder) CollMod(before *storage.Info, change, indexWas value.Doc) {
	ui := loggedUUID(before)
	r.add("c", before.Namespace, ui, func(b *value.Builder) {
		it := change.Iter()
		b.StartDocument("o").String("collMod", before.Namespace.Coll).Raw(it.Rest()).End()
		if catalog.Of(before).Kind == catalog.View {
			return
		}
		b.StartDocument("o2").Document("collectionOptions_old", catalog.LastingOptions(before))
		if indexWas != nil {
			b.Document("indexOptions_old", indexWas)
		}
		b.End()
	})
}

func (t *loggedTx) info(ns storage.Namespace) (*storage.Info, error) {
	c, err := t.Tx.Collection(ns)
	if err != nil {
		return nil, err
	}
	return c.Info(), nil
}

// CreateIndex adds an index.
func (t *loggedTx) CreateIndex(ns storage.Namespace, spec storage.IndexSpec) error {
	if err := t.Tx.CreateIndex(ns, spec); err != nil || Unlogged(ns) || index.IsInternal(spec.Name) {
		return err
	}
	coll, err := t.Tx.Collection(ns)
	if err != nil {
		return err
	}
	info := coll.Info()
	made := index.Of(info.Index(spec.Name))
	if made == nil {
		return nil
	}
	records, err := coll.Count()
	if err != nil {
		return err
	}
	if t.r.txn == nil && records > 0 {
		t.r.indexBuild(info, made.Doc())
		return nil
	}
	t.r.add("c", ns, &info.UUID, func(b *value.Builder) {
		it := made.Doc().Iter()
		b.StartDocument("o").String("createIndexes", ns.Coll).Raw(it.Rest()).End()
	})
	return nil
}

// indexBuild records that an index was built over existing documents. The indexes of one
// command are one build.
func (r *Recorder) indexBuild(info *storage.Info, spec value.Doc) {
	specs := []value.Value{value.Document(spec)}
	fresh := catalog.NewUUID()
	id := value.Binary(4, fresh[:])
	if n := len(r.Marks) - 1; n >= 0 && r.Marks[n].Command && r.Marks[n].ns == info.Namespace {
		if o := r.Op(n).Lookup("o").Doc().Clone(); o.Has("commitIndexBuild") {
			id, specs = o.Lookup("indexBuildUUID"), append(catalog.Elements(o.Lookup("indexes").Doc()), specs...)
			r.removeLast()
		}
	}
	r.add("c", info.Namespace, &info.UUID, func(b *value.Builder) {
		b.StartDocument("o").String("commitIndexBuild", info.Namespace.Coll).Append("indexBuildUUID", id)
		b.Append("indexes", value.NewArray(specs...)).End()
	})
}

// DropIndex removes an index.
func (t *loggedTx) DropIndex(ns storage.Namespace, name string) error {
	info, err := t.info(ns)
	if err != nil {
		return err
	}
	if err := t.Tx.DropIndex(ns, name); err != nil || Unlogged(ns) || index.IsInternal(name) {
		return err
	}
	t.r.add("c", ns, &info.UUID, func(b *value.Builder) {
		b.StartDocument("o").String("dropIndexes", ns.Coll).String("index", name).End()
		if s := index.Of(info.Index(name)); s != nil {
			b.Document("o2", s.Doc())
		}
	})
	return nil
}

// SetIndex replaces the specification of an index: collMod.
func (t *loggedTx) SetIndex(ns storage.Namespace, spec storage.IndexSpec) error {
	before, err := t.info(ns)
	if err != nil {
		return err
	}
	if err := t.Tx.SetIndex(ns, spec); err != nil || Unlogged(ns) || index.IsInternal(spec.Name) {
		return err
	}
	after, err := t.info(ns)
	if err != nil {
		return err
	}
	old, new := index.Of(before.Index(spec.Name)), index.Of(after.Index(spec.Name))
	if old == nil || new == nil {
		return nil
	}
	changed, was := indexChange(spec.Name, old.Doc(), new.Doc())
	t.r.CollMod(before, value.NewDoc("index", value.Document(changed)), was)
	return nil
}

// modifiable are the options of an index that collMod can change, with their defaults.
var modifiable = []struct {
	name   string
	absent value.Value
}{{"expireAfterSeconds", value.Value{}}, {"hidden", value.Bool(false)}, {"prepareUnique", value.Bool(false)}, {"unique", value.Bool(false)}}

// indexChange returns in what two versions of an index differ.
func indexChange(name string, old, new value.Doc) (changed, was value.Doc) {
	a, b := value.NewBuilder(), value.NewBuilder()
	a.String("name", name)
	for _, f := range modifiable {
		before, after := old.Lookup(f.name), new.Lookup(f.name)
		if before.IsMissing() {
			before = f.absent
		}
		if after.IsMissing() {
			after = f.absent
		}
		if !value.Equal(before, after) {
			a.Append(f.name, after)
			b.Append(f.name, before)
		}
	}
	return a.Doc(), b.Doc()
}

// RebuildShown rebuilds the indexes whose keys depend on whether documents are shown with
// _ts. It is not logged: for clients the indexes stay the same.
func RebuildShown(tx storage.Tx, ns storage.Namespace) error {
	if l, ok := tx.(interface{ unlogged() storage.Tx }); ok {
		tx = l.unlogged()
	}
	coll, err := tx.Collection(ns)
	if err != nil {
		return err
	}
	for _, spec := range catalog.Of(coll.Info()).Indexes {
		if !spec.Mentions(ttl.TSField) {
			continue
		}
		if err := tx.DropIndex(ns, spec.Name); err != nil {
			return err
		}
		if err := tx.CreateIndex(ns, spec.Stored()); err != nil {
			return err
		}
	}
	return nil
}

// NotInTransaction is the error (OperationNotSupportedInTransaction, 263) for what a
// multi-document transaction may not do.
func NotInTransaction(text string) error {
	return mongoerr.New(mongoerr.OperationNotSupportedInTransaction, text)
}
