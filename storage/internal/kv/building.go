package kv

import (
	"bytes"
	"slices"

	"github.com/duskdb/duskdb/storage"
)

// BuildingIndex is an index that is being built. How far it is, its statistics say.
type BuildingIndex struct {
	Spec  storage.IndexSpec
	Owner string           // the server that builds it
	Limit storage.RecordID // the last record when it began
}

// IndexName is the name of an index, also of one that is being built.
func (c *Coll) IndexName(i int) string {
	if n := len(c.Info.Indexes); i >= n {
		return c.Building[i-n].Spec.Name
	}
	return c.Info.Indexes[i].Name
}

// keeps reports whether an index has the entries of a record.
func (c *Coll) keeps(i int, id storage.RecordID) bool {
	n := len(c.Info.Indexes)
	return i < n || id <= c.Indexes[i].FilledTo || id > c.Building[i-n].Limit
}

// FindBuilding returns the place of an index that is being built, or -1.
func (c *Coll) FindBuilding(match func(b BuildingIndex, x *Index) bool) int {
	n := len(c.Info.Indexes)
	for k, b := range c.Building {
		if match(b, c.Indexes[n+k]) {
			return n + k
		}
	}
	return -1
}

// takeBuilding takes an index that is being built out of a collection.
func (c *Coll) takeBuilding(i int) *Index {
	x := c.Indexes[i]
	k := i - len(c.Info.Indexes)
	c.Indexes = slices.Delete(slices.Clone(c.Indexes), i, i+1)
	c.Building = slices.Delete(slices.Clone(c.Building), k, k+1)
	return x
}

// DropBuilding removes indexes that are being built.
func (t *Tx) DropBuilding(c *Coll, match func(b BuildingIndex, x *Index) bool) {
	for i := c.FindBuilding(match); i >= 0; i = c.FindBuilding(match) {
		t.dropEntries(c, c.takeBuilding(i))
		c.Change.Description = true
	}
}

// built returns an index that was built beside writers, to be made visible, or nil.
func (t *Tx) built(c *Coll, spec storage.IndexSpec) *Index {
	if t.Txn != nil {
		return nil
	}
	i := c.FindBuilding(func(b BuildingIndex, x *Index) bool {
		return b.Spec.Name == spec.Name && bytes.Equal(b.Spec.Spec, spec.Spec) && x.FilledTo >= b.Limit
	})
	if i < 0 {
		return nil
	}
	return c.takeBuilding(i)
}
