package storagetest

import (
	"errors"
	"fmt"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// hostileTx is a transaction of a hostile engine.
type hostileTx struct {
	storage.Tx
	h        *hostile
	writer   bool
	outdated bool // a View that will run again
	conflict *int // writes until one has a conflict; nil: no write has
	use      *use
}

// use is what a transaction does.
type use struct {
	wrote    bool
	scanning map[[16]byte]int // the scans that run, by the UUID of their collection
}

// fail returns the error that a read is to have.
func (t hostileTx) fail(r Read) error {
	if t.outdated && r != "Collection" && r != "Collections" {
		return errOutdated
	}
	if t.h.how.Fail == nil {
		return nil
	}
	return t.h.how.Fail(r)
}

func (t hostileTx) Collection(ns storage.Namespace) (storage.Collection, error) {
	if err := t.fail("Collection"); err != nil {
		return nil, err
	}
	return t.wrap(t.Tx.Collection(ns))
}

func (t hostileTx) Collections(db string) ([]*storage.Info, error) {
	if err := t.fail("Collections"); err != nil {
		return nil, err
	}
	return t.Tx.Collections(db)
}

func (t hostileTx) Databases(from string, each func(string) bool) error {
	if err := t.fail("Databases"); err != nil {
		return err
	}
	return t.Tx.Databases(from, each)
}

func (t hostileTx) Create(ns storage.Namespace, options value.Doc, indexes []storage.IndexSpec) (storage.Collection, error) {
	return t.wrap(t.Tx.Create(ns, options, indexes))
}

func (t hostileTx) CreateAs(ns storage.Namespace, id [16]byte, options value.Doc, indexes []storage.IndexSpec) (storage.Collection, error) {
	return t.wrap(t.Tx.CreateAs(ns, id, options, indexes))
}

func (t hostileTx) wrap(c storage.Collection, err error) (storage.Collection, error) {
	if err != nil {
		return nil, err
	}
	return hostileColl{Collection: c, tx: t}, nil
}

// errWriteInScan is the error of a write to a collection while it is scanned.
var errWriteInScan = errors.New("a write to a collection within a scan of it")

// hostileColl is a collection in a transaction of a hostile engine.
type hostileColl struct {
	storage.Collection
	tx hostileTx
}

// write returns the error that a write is to have. One during a scan of the same
// collection always has one: the contract does not allow it.
func (c hostileColl) write() error {
	c.tx.use.wrote = true
	if c.tx.use.scanning[c.Info().UUID] > 0 {
		return fmt.Errorf("%w: %s", errWriteInScan, c.Info().Namespace)
	}
	return c.conflict()
}

// conflict returns the conflict that the write of a record is to have.
func (c hostileColl) conflict() error {
	n := c.tx.conflict
	if n == nil || *n < 0 {
		return nil
	}
	if *n--; *n < 0 {
		return storage.ErrConflict
	}
	return nil
}

// Insert stores the document twice if there is to be a gap, and removes the first.
func (c hostileColl) Insert(doc value.Doc, ts int64) (storage.RecordID, error) {
	if err := c.write(); err != nil {
		return 0, err
	}
	if c.tx.h.how.Gaps && c.tx.h.chance(2) {
		id, err := c.Collection.Insert(doc, ts)
		if err != nil {
			return 0, err
		}
		if _, err := c.Collection.Delete(id); err != nil {
			return 0, err
		}
	}
	return c.Collection.Insert(doc, ts)
}

func (c hostileColl) Update(id storage.RecordID, doc value.Doc, ts int64) (storage.Written, error) {
	if err := errors.Join(c.write(), c.tx.fail("Update")); err != nil {
		return storage.Written{}, err
	}
	return c.Collection.Update(id, doc, ts)
}

func (c hostileColl) Delete(id storage.RecordID) (storage.Written, error) {
	if err := errors.Join(c.write(), c.tx.fail("Delete")); err != nil {
		return storage.Written{}, err
	}
	return c.Collection.Delete(id)
}

// DeleteRange counts each record that is asked about as a write.
func (c hostileColl) DeleteRange(d *storage.RangeDelete) (out storage.RangeDeleted, err error) {
	if err := c.write(); err != nil {
		return out, err
	}
	hostile, busy := *d, 0
	err = c.scan("DeleteRange", func(step func() bool) error {
		hostile.Pick = func(key []byte, r storage.Record) (storage.Verdict, error) {
			if !step() {
				return storage.Verdict{Do: storage.Stop}, errBroken
			}
			switch err := c.conflict(); {
			case err == nil:
				return d.Pick(key, r)
			case d.Busy:
				busy++
				return storage.Verdict{Do: storage.Keep}, nil
			default:
				return storage.Verdict{Do: storage.Keep}, err
			}
		}
		out, err = c.Collection.DeleteRange(&hostile)
		return err
	})
	out.Busy += busy
	return out, err
}

// errBroken ends a ranged delete that is to fail; the read error comes with it.
var errBroken = errors.New("a ranged delete that was to fail")

func (c hostileColl) Truncate() error {
	if err := c.write(); err != nil {
		return err
	}
	return c.Collection.Truncate()
}

func (c hostileColl) Get(id storage.RecordID) (storage.Record, bool, error) {
	if err := c.tx.fail("Get"); err != nil {
		return storage.Record{}, false, err
	}
	return c.Collection.Get(id)
}

func (c hostileColl) Find(index string, key []byte) (storage.Record, bool, error) {
	if err := c.tx.fail("Find"); err != nil {
		return storage.Record{}, false, err
	}
	return c.Collection.Find(index, key)
}

func (c hostileColl) Count() (int64, error) {
	if err := c.tx.fail("Count"); err != nil {
		return 0, err
	}
	return c.Collection.Count()
}

func (c hostileColl) Size() (int64, error) {
	if err := c.tx.fail("Size"); err != nil {
		return 0, err
	}
	return c.Collection.Size()
}

func (c hostileColl) LastID() (storage.RecordID, error) {
	if err := c.tx.fail("LastID"); err != nil {
		return 0, err
	}
	return c.Collection.LastID()
}

func (c hostileColl) IndexStats(name string) (storage.IndexStats, error) {
	if err := c.tx.fail("IndexStats"); err != nil {
		return storage.IndexStats{}, err
	}
	return c.Collection.IndexStats(name)
}

// scan runs a scan that may fail before each of its steps.
func (c hostileColl) scan(r Read, run func(step func() bool) error) error {
	if err := c.tx.fail(r); err != nil {
		return err
	}
	if running := c.tx.use.scanning; running == nil {
		c.tx.use.scanning = map[[16]byte]int{}
	}
	id := c.Info().UUID
	c.tx.use.scanning[id]++
	defer func() { c.tx.use.scanning[id]-- }()
	var failed error
	err := run(func() bool {
		failed = c.tx.fail(r)
		return failed == nil
	})
	return errors.Join(failed, err)
}

func (c hostileColl) GetMany(ids []storage.RecordID, fn func(storage.Record) bool) error {
	return c.scan("GetMany", func(step func() bool) error {
		return c.Collection.GetMany(ids, func(r storage.Record) bool { return step() && fn(r) })
	})
}

func (c hostileColl) Scan(r storage.Range, fn func(storage.Record) bool) error {
	return c.scan("Scan", func(step func() bool) error {
		return c.Collection.Scan(r, func(r storage.Record) bool { return step() && fn(r) })
	})
}

func (c hostileColl) ScanIndex(name string, r storage.KeyRange, fn func([]byte, storage.RecordID) bool) error {
	return c.scan("ScanIndex", func(step func() bool) error {
		return c.Collection.ScanIndex(name, r, func(key []byte, id storage.RecordID) bool { return step() && fn(key, id) })
	})
}

func (c hostileColl) ScanRecords(name string, r storage.KeyRange, fn func([]byte, storage.Record) bool) error {
	return c.scan("ScanRecords", func(step func() bool) error {
		return c.Collection.ScanRecords(name, r, func(key []byte, rec storage.Record) bool { return step() && fn(key, rec) })
	})
}
