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

// Named reports whether the code has an official name.
func (c Code) Named() bool { return lookup(c) != nil }

// Categories returns the set of categories the code belongs to.
func (c Code) Categories() Category {
	if i := lookup(c); i != nil {
		return i.categories
	}
	return 0
}

// In reports whether the code belongs to any of the given categories.
func (c Code) In(cat Category) bool { return c.Categories()&cat != 0 }

// CodeByName returns the code with the given official name.
func CodeByName(name string) (Code, bool) {
	for i := range table {
		if table[i].name == name {
			return table[i].code, true
		}
	}
	return 0, false
}

func lookup(c Code) *info {
	i, ok := slices.BinarySearchFunc(table, c, func(e info, c Code) int { return int(e.code) - int(c) })
	if !ok {
		return nil
	}
	return &table[i]
}
