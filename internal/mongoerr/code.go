package mongoerr

import (
	"slices"
	"strconv"
)

// Code is MongoDB's number for an error.
type Code int32

// Name returns the codeName of a reply: the official name, or "Location"
// and the number for a code that has none.
func (c Code) Name() string {
	if i := lookup(c); i != nil {
		return i.name
	}
	return "Location" + strconv.Itoa(int(c))
}

// String returns the name, so that codes print readably in logs and tests.
func (c Code) String() string { return c.Name() }

// Categories returns the set of categories the code belongs to.
func (c Code) Categories() Category {
	if i := lookup(c); i != nil {
		return i.categories
	}
	return 0
}

// In reports whether the code belongs to any of the given categories.
func (c Code) In(cat Category) bool { return c.Categories()&cat != 0 }

func lookup(c Code) *info {
	i, ok := slices.BinarySearchFunc(table, c, func(e info, c Code) int { return int(e.code) - int(c) })
	if !ok {
		return nil
	}
	return &table[i]
}
