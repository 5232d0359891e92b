package kv

import (
	"cmp"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/ranged"
)

// DeleteRange removes the records of a range that the caller picks. Up to the
// last key it only reads; what follows cannot fail. Each record is read once.
func (h *collection) DeleteRange(d *storage.RangeDelete) (out storage.RangeDeleted, err error) {
	c, err := h.tx.Own(h.ns)
	if err != nil {
		return out, err
	}
	p, err := h.pick(c, d)
	if err != nil {
		return out, err
	}
	keys := make([]ranged.Keys, len(c.Indexes))
	for i, x := range c.Indexes {
		if keys[i], err = p.Keys(x.Maker); err != nil {
			return out, err
		}
	}
	for i, x := range c.Indexes {
		keys[i].Each(func(key []byte, n int) {
			if c.keeps(i, p.Records[n].ID) {
				h.tx.removeEntry(c, x, key, p.Records[n].ID)
			}
		})
	}
	for i := range p.Records {
		r := &p.Records[i]
		h.tx.put(c, r.ID, len(r.Doc), nil, 0, false)
		h.tx.recordDelete(h.ns, c.Num, r.ID)
	}
	out = p.Result()
	if x := c.Index(d.Index); x != nil && h.tx.gapKeys > 0 {
		x.noteGap(c, d.Keys, out)
	}
	return out, nil
}

// pick collects the records to remove.
func (h *collection) pick(c *Coll, d *storage.RangeDelete) (*ranged.Picks, error) {
	claim := func(id storage.RecordID) error { return h.tx.claimRecord(h.ns, c, id, nil) }
	if d.Index == "" {
		p := ranged.New(d, false, claim)
		rg := d.Records
		rg.Wanted = cmp.Or(rg.Wanted, d.Limit)
		err := h.tx.ScanRecords(h.tx.Ctx, c, rg, func(r storage.Record) bool { return p.Visit(nil, r) })
		return p, p.End(err)
	}
	x := c.Index(d.Index)
	if x == nil {
		return nil, storage.ErrNoIndex
	}
	p := ranged.New(d, x.Multikey != 0, claim)
	return p, p.End(h.tx.scanJoinedMax(h.tx.Ctx, c, x, d.Keys, d.Limit, p.Visit))
}
