package value

import "hash/maphash"

// NameIndex finds names in a long list, in a few bytes for each: it contains only places in
// the list. The zero value is empty.
type NameIndex struct {
	slots []uint32 // 0, or a place and one; at most three quarters are in use
	n     int
}

var nameSeed = maphash.MakeSeed()

// Find returns the place of a name, -1 if it has none. names returns the name at a place.
func (x *NameIndex) Find(name string, names func(place int) string) int {
	if x.n == 0 {
		return -1
	}
	at := x.slot(name, names)
	return int(x.slots[at]) - 1
}

// Add adds a name that is at a place in the list, unless the index has that name; then it
// only changes its place.
func (x *NameIndex) Add(name string, place int, names func(place int) string) {
	if 4*(x.n+1) > 3*len(x.slots) {
		x.grow(names)
	}
	at := x.slot(name, names)
	if x.slots[at] == 0 {
		x.n++
	}
	x.slots[at] = uint32(place + 1)
}

// slot returns where a name is, or where it belongs.
func (x *NameIndex) slot(name string, names func(place int) string) uint64 {
	mask := uint64(len(x.slots) - 1)
	at := maphash.String(nameSeed, name) & mask
	for x.slots[at] != 0 && names(int(x.slots[at]-1)) != name {
		at = (at + 1) & mask
	}
	return at
}

// grow makes room for twice as many names.
func (x *NameIndex) grow(names func(place int) string) {
	old := x.slots
	x.slots = make([]uint32, max(16, 2*len(old)))
	for _, s := range old {
		if s != 0 {
			x.slots[x.slot(names(int(s-1)), names)] = s
		}
	}
}

// Empty reports whether the index has no names.
func (x *NameIndex) Empty() bool { return x.n == 0 }

// Reset empties the index.
func (x *NameIndex) Reset() { *x = NameIndex{} }
