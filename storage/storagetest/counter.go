package storagetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Counter is an engine that counts the calls it passes on to another. What a
// call costs depends on the engine: some nanoseconds in memory, a trip to
// another machine elsewhere. How many a command makes depends on the command.
//
// Runs of a function that an Update repeats are all counted. An engine without
// [storage.Sharer] gets an Update for each UpdateShared.
type Counter struct {
	storage.Engine
	mu    sync.Mutex
	calls Calls
}

// Calls are numbers of calls by the name of the method. Those of the engine
// have their plain names. Those of a transaction and of its collections have
// "r." in front within a View or a snapshot transaction, and "W." within an
// Update, while other writers wait. The entries and records that scans and
// GetMany yield are counted as "rows".
type Calls map[string]int

// NewCounter returns a counter over an engine.
func NewCounter(e storage.Engine) *Counter { return &Counter{Engine: e, calls: Calls{}} }

// Take returns what was counted since the last Take.
func (c *Counter) Take() Calls {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.calls
	c.calls = Calls{}
	return taken
}

func (c *Counter) count(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[name]++
}

// String lists the calls in the order of their names, without rows.
func (c Calls) String() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if !strings.HasSuffix(name, rows) {
			list = append(list, fmt.Sprintf("%s %d", name, c[name]))
		}
	}
	return strings.Join(list, ", ")
}

// Transactions is the number of Views, Updates and snapshot transactions.
func (c Calls) Transactions() int { return c["View"] + c["Update"] + c["Begin"] }

// Opens is how often a collection was opened.
func (c Calls) Opens() int { return c.of("Collection") }

// Data is the number of calls that read or write records, entries or their
// statistics. Opening a collection is not one.
func (c Calls) Data() (n int) {
	for _, name := range dataMethods {
		n += c.of(name)
	}
	return n
}

// Writes is the number of calls that write records.
func (c Calls) Writes() int {
	return c.of("Insert") + c.of("Update") + c.of("Delete") + c.of("DeleteRange")
}

// Rows is the number of entries and records that scans and GetMany have yielded.
func (c Calls) Rows() int { return c.of(rows) }

func (c Calls) of(method string) int { return c["r."+method] + c["W."+method] }

// rows is the name under which the yields of scans are counted.
const rows = "rows"

// dataMethods are the methods of a collection that reach its data.
var dataMethods = []string{
	"Get", "GetMany", "Insert", "Update", "Delete", "DeleteRange", "Truncate", "Scan", "ScanIndex", "ScanRecords", "Find",
	"Count", "Size", "LastID", "IndexStats",
}

// View implements storage.Engine.
func (c *Counter) View(ctx context.Context, fn func(storage.Tx) error) error {
	c.count("View")
	return c.Engine.View(ctx, func(tx storage.Tx) error { return fn(countedTx{tx, c, "r."}) })
}

// Update implements storage.Engine.
func (c *Counter) Update(ctx context.Context, fn func(storage.Tx) error) error {
	c.count("Update")
	return c.Engine.Update(ctx, c.writing(fn))
}

// UpdateShared implements storage.Sharer. It is counted as an Update.
func (c *Counter) UpdateShared(ctx context.Context, fn func(storage.Tx) error) error {
	c.count("Update")
	if sharer, ok := c.Engine.(storage.Sharer); ok {
		return sharer.UpdateShared(ctx, c.writing(fn))
	}
	return c.Engine.Update(ctx, c.writing(fn))
}

func (c *Counter) writing(fn func(storage.Tx) error) func(storage.Tx) error {
	if fn == nil {
		return nil
	}
	return func(tx storage.Tx) error { return fn(countedTx{tx, c, "W."}) }
}

// Changed implements storage.ChangeLister. It is not counted.
func (c *Counter) Changed(mark uint64) ([]storage.Namespace, bool, uint64) {
	return storage.Changed(c.Engine, mark)
}

// PrepareIndex implements storage.IndexPreparer. Over an engine that cannot
// prepare indexes it does nothing.
func (c *Counter) PrepareIndex(ctx context.Context, ns storage.Namespace, spec storage.IndexSpec) (release func(), err error) {
	c.count("PrepareIndex")
	if preparer, ok := c.Engine.(storage.IndexPreparer); ok {
		return preparer.PrepareIndex(ctx, ns, spec)
	}
	return func() {}, nil
}

// Begin implements storage.Engine.
func (c *Counter) Begin(ctx context.Context) (storage.Txn, error) {
	c.count("Begin")
	t, err := c.Engine.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return countedTxn{countedTx{t, c, "r."}, t}, nil
}

// Stamp implements storage.Engine.
func (c *Counter) Stamp(ns storage.Namespace) (uint64, error) {
	c.count("Stamp")
	return c.Engine.Stamp(ns)
}

// Sync implements storage.Engine.
func (c *Counter) Sync(ctx context.Context) error {
	c.count("Sync")
	return c.Engine.Sync(ctx)
}

// Stats implements storage.Engine.
func (c *Counter) Stats() (storage.EngineStats, error) {
	c.count("Stats")
	return c.Engine.Stats()
}

// countedTx counts the calls of a transaction.
type countedTx struct {
	storage.Tx
	c    *Counter
	side string // put in front of the names
}

func (t countedTx) count(method string) { t.c.count(t.side + method) }

func (t countedTx) collection(coll storage.Collection, err error) (storage.Collection, error) {
	if err != nil {
		return nil, err
	}
	return countedCollection{coll, t}, nil
}

func (t countedTx) Collection(ns storage.Namespace) (storage.Collection, error) {
	t.count("Collection")
	return t.collection(t.Tx.Collection(ns))
}

func (t countedTx) Collections(db string) ([]*storage.Info, error) {
	t.count("Collections")
	return t.Tx.Collections(db)
}

func (t countedTx) Databases(from string, each func(string) bool) error {
	t.count("Databases")
	return t.Tx.Databases(from, each)
}

func (t countedTx) Create(ns storage.Namespace, options value.Doc, indexes []storage.IndexSpec) (storage.Collection, error) {
	t.count("Create")
	return t.collection(t.Tx.Create(ns, options, indexes))
}

func (t countedTx) CreateAs(ns storage.Namespace, id [16]byte, options value.Doc, indexes []storage.IndexSpec) (storage.Collection, error) {
	t.count("CreateAs")
	return t.collection(t.Tx.CreateAs(ns, id, options, indexes))
}

func (t countedTx) Drop(ns storage.Namespace) error {
	t.count("Drop")
	return t.Tx.Drop(ns)
}

func (t countedTx) Rename(from, to storage.Namespace) error {
	t.count("Rename")
	return t.Tx.Rename(from, to)
}

func (t countedTx) SetOptions(ns storage.Namespace, options value.Doc) error {
	t.count("SetOptions")
	return t.Tx.SetOptions(ns, options)
}

func (t countedTx) CreateIndex(ns storage.Namespace, spec storage.IndexSpec) error {
	t.count("CreateIndex")
	return t.Tx.CreateIndex(ns, spec)
}

func (t countedTx) DropIndex(ns storage.Namespace, name string) error {
	t.count("DropIndex")
	return t.Tx.DropIndex(ns, name)
}

func (t countedTx) SetIndex(ns storage.Namespace, spec storage.IndexSpec) error {
	t.count("SetIndex")
	return t.Tx.SetIndex(ns, spec)
}

// countedTxn counts the calls of a snapshot transaction. Its commit is an
// Update.
type countedTxn struct {
	countedTx
	txn storage.Txn
}

func (t countedTxn) Within(ctx context.Context) { t.txn.Within(ctx) }

func (t countedTxn) Commit(ctx context.Context) error {
	t.c.count("Update")
	return t.txn.Commit(ctx)
}

func (t countedTxn) CommitWith(ctx context.Context, last func(storage.Tx) error) error {
	t.c.count("Update")
	return t.txn.CommitWith(ctx, t.c.writing(last))
}

func (t countedTxn) Abort() { t.txn.Abort() }

// countedCollection counts the calls of a collection.
type countedCollection struct {
	storage.Collection
	t countedTx
}

func (c countedCollection) Get(id storage.RecordID) (storage.Record, bool, error) {
	c.t.count("Get")
	return c.Collection.Get(id)
}

func (c countedCollection) GetMany(ids []storage.RecordID, fn func(storage.Record) bool) error {
	c.t.count("GetMany")
	return c.Collection.GetMany(ids, c.row(fn))
}

func (c countedCollection) row(fn func(storage.Record) bool) func(storage.Record) bool {
	return func(r storage.Record) bool {
		c.t.count(rows)
		return fn(r)
	}
}

func (c countedCollection) Insert(doc value.Doc, ts int64) (storage.RecordID, error) {
	c.t.count("Insert")
	return c.Collection.Insert(doc, ts)
}

func (c countedCollection) Update(id storage.RecordID, doc value.Doc, ts int64) (storage.Written, error) {
	c.t.count("Update")
	return c.Collection.Update(id, doc, ts)
}

func (c countedCollection) Delete(id storage.RecordID) (storage.Written, error) {
	c.t.count("Delete")
	return c.Collection.Delete(id)
}

func (c countedCollection) DeleteRange(d *storage.RangeDelete) (storage.RangeDeleted, error) {
	c.t.count("DeleteRange")
	counted := *d
	counted.Pick = func(key []byte, r storage.Record) (storage.Verdict, error) {
		c.t.count(rows)
		return d.Pick(key, r)
	}
	return c.Collection.DeleteRange(&counted)
}

func (c countedCollection) Truncate() error {
	c.t.count("Truncate")
	return c.Collection.Truncate()
}

func (c countedCollection) Scan(r storage.Range, fn func(storage.Record) bool) error {
	c.t.count("Scan")
	return c.Collection.Scan(r, c.row(fn))
}

func (c countedCollection) ScanIndex(name string, r storage.KeyRange, fn func(key []byte, id storage.RecordID) bool) error {
	c.t.count("ScanIndex")
	return c.Collection.ScanIndex(name, r, func(key []byte, id storage.RecordID) bool {
		c.t.count(rows)
		return fn(key, id)
	})
}

func (c countedCollection) ScanRecords(name string, r storage.KeyRange, fn func(key []byte, r storage.Record) bool) error {
	c.t.count("ScanRecords")
	return c.Collection.ScanRecords(name, r, func(key []byte, r storage.Record) bool {
		c.t.count(rows)
		return fn(key, r)
	})
}

func (c countedCollection) Find(index string, key []byte) (storage.Record, bool, error) {
	c.t.count("Find")
	return c.Collection.Find(index, key)
}

func (c countedCollection) Count() (int64, error) {
	c.t.count("Count")
	return c.Collection.Count()
}

func (c countedCollection) Size() (int64, error) {
	c.t.count("Size")
	return c.Collection.Size()
}

func (c countedCollection) LastID() (storage.RecordID, error) {
	c.t.count("LastID")
	return c.Collection.LastID()
}

func (c countedCollection) IndexStats(name string) (storage.IndexStats, error) {
	c.t.count("IndexStats")
	return c.Collection.IndexStats(name)
}
