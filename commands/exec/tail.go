package exec

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// tail follows a capped collection: at its end it waits for more instead of
// ending.
type tail struct {
	f    *Finder
	info *storage.Info
	src  RecordSource
	last storage.RecordID
}

// tail opens a tailable scan. On an empty collection the cursor ends at once, as there is
// no position to continue from.
func (f *Finder) tail(c *kernel.Call, info *storage.Info) (it agg.Iterator, follows bool, err error) {
	err = c.View(func(tx storage.Tx) error {
		coll, err := tx.Collection(info.Namespace)
		if err == nil {
			var n int64
			n, err = coll.Count()
			follows = n > 0
		}
		return err
	})
	return &tail{f: f, info: info}, follows, err
}

// Next returns nil when there is nothing new at the moment; it may be asked
// again.
func (t *tail) Next() (value.Doc, error) {
	if t.src == nil {
		if err := t.checkPosition(); err != nil {
			return nil, err
		}
		scans := []Scan{{records: storage.Range{After: t.last}}}
		t.f.Exec.Sources = t.f.Exec.Sources[:0]
		t.src = &Matching{Src: NewScanIterator(t.f.Exec, t.info, scans), Q: &t.f.Query, Env: t.f.Exec.Env}
	}
	r, ok, err := t.src.Next()
	if err != nil {
		return nil, err
	}
	if !ok {
		t.src = nil
		return nil, nil
	}
	t.last = r.ID
	t.f.Exec.Env.Meta.Set(expr.MetaRecordID, value.Int64(int64(r.ID)))
	return r.Doc, nil
}

// checkPosition fails if the record at the cursor's position has been overwritten.
func (t *tail) checkPosition() error {
	if t.last == 0 {
		return nil
	}
	return t.f.Exec.Running().View(func(tx storage.Tx) error {
		coll, err := StillThere(tx, t.info.Namespace, t.info.UUID)
		if err != nil {
			return err
		}
		_, ok, err := coll.Get(t.last)
		if err != nil {
			return err
		}
		if !ok {
			return mongoerr.Newf(mongoerr.CappedPositionLost, "CollectionScan died due to position in capped collection being deleted. Last seen record id: RecordId(%d)", t.last)
		}
		return nil
	})
}

func (t *tail) Close() { t.src = nil }
