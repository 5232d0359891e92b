package kv

import (
	"bytes"
	"slices"

	"github.com/duskdb/duskdb/storage"
)

// building is an index that is being built. How far it is, its statistics say.
type building struct {
	spec  storage.IndexSpec
	owner string           // the server that builds it
	limit storage.RecordID // the last record when it began
}

// nameOf is the name of an index, also of one that is being built.
func (c *coll) nameOf(i int) string {
	if n := len(c.info.Indexes); i >= n {
		return c.building[i-n].spec.Name
	}
	return c.info.Indexes[i].Name
}

// keeps reports whether an index has the entries of a record.
func (c *coll) keeps(i int, id storage.RecordID) bool {
	n := len(c.info.Indexes)
	return i < n || id <= c.indexes[i].filled || id > c.building[i-n].limit
}

// unfinished returns the place of an index that is being built, or -1.
func (c *coll) unfinished(match func(b building, x *index) bool) int {
	n := len(c.info.Indexes)
	for k, b := range c.building {
		if match(b, c.indexes[n+k]) {
			return n + k
		}
	}
	return -1
}

// takeBuilding takes an index that is being built out of a collection.
func (c *coll) takeBuilding(i int) *index {
	x := c.indexes[i]
	k := i - len(c.info.Indexes)
	c.indexes = slices.Delete(slices.Clone(c.indexes), i, i+1)
	c.building = slices.Delete(slices.Clone(c.building), k, k+1)
	return x
}

// dropBuilding removes indexes that are being built.
func (t *tx) dropBuilding(c *coll, match func(b building, x *index) bool) {
	for i := c.unfinished(match); i >= 0; i = c.unfinished(match) {
		t.dropEntries(c, c.takeBuilding(i))
		c.change.catalog = true
	}
}

// built returns an index that was built beside writers, to be made visible, or nil.
func (t *tx) built(c *coll, spec storage.IndexSpec) *index {
	if t.snap != nil {
		return nil
	}
	i := c.unfinished(func(b building, x *index) bool {
		return b.spec.Name == spec.Name && bytes.Equal(b.spec.Spec, spec.Spec) && x.filled >= b.limit
	})
	if i < 0 {
		return nil
	}
	return c.takeBuilding(i)
}
