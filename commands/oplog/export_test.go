package oplog

import "github.com/duskdb/duskdb/value"

// Diff returns the difference of two versions of a document, as an update that names
// the touched paths is logged; nil stands for one that may have touched anything.
func Diff(old, new value.Doc, touched []string) value.Doc {
	b := value.NewBuilder()
	x := differ{touched: touched}
	x.diff(b, old, new)
	return b.Doc()
}

// TouchedAt reports whether one of the paths leads below a place, and whether one
// ends at it.
func TouchedAt(paths []string, place string) (below, itself bool) {
	return newPathTree(paths).at(place)
}

// Full returns the channel that wakes the trimmer.
func (l *Log) Full() <-chan struct{} { return l.full }
