package bunt

import (
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/ranged"
)

// DeleteRange removes the records of a range that the caller picks. Up to the
// last key it only reads; what follows cannot fail.
func (h *collection) DeleteRange(d *storage.RangeDelete) (out storage.RangeDeleted, err error) {
	c, err := h.own()
	if err != nil {
		return out, err
	}
	p, err := h.pick(c, d)
	if err != nil {
		return out, err
	}
	keys := make([]ranged.Keys, len(c.indexes))
	for i, x := range c.indexes {
		if keys[i], err = p.Keys(x.maker); err != nil {
			return out, err
		}
	}
	for i, x := range c.indexes {
		if len(p.Records) > 0 {
			x.own()
		}
		keys[i].Each(func(key []byte, n int) { x.remove(entry{stringView(key), p.Records[n].ID}) })
	}
	for i := range p.Records {
		id := p.Records[i].ID
		h.tx.recordDelete(h.ns, c.num, id)
		c.drop(id)
	}
	return p.Result(), nil
}

// pick collects the records to remove.
func (h *collection) pick(c *coll, d *storage.RangeDelete) (*ranged.Picks, error) {
	claim := func(id storage.RecordID) error { return h.tx.claimRecord(h.ns, c, id) }
	records := c.frozenRecords()
	if d.Index == "" {
		p := ranged.New(d, false, claim)
		scanRecords(records, d.Records, func(r storage.Record) bool { return p.Visit(nil, r) })
		return p, p.End(nil)
	}
	x := c.index(d.Index)
	if x == nil {
		return nil, storage.ErrNoIndex
	}
	p := ranged.New(d, x.multikey != 0, claim)
	scanEntries(x.frozen(), d.Keys, func(key []byte, id storage.RecordID) bool {
		stored, ok := records.Get(id)
		return !ok || p.Visit(key, record(id, stored))
	})
	return p, p.End(nil)
}
