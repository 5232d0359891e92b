package value

// smallestLevel is the length of the type, the empty name and the frame of a document within a
// document.
const smallestLevel = 7

// DeeperThan reports whether a document has more than a number of levels, itself included. For
// a document that is too short for as many it need not look.
func (d Doc) DeeperThan(levels int) bool {
	if levels <= 0 {
		return true
	}
	if len(d) < smallestLevel*levels {
		return false
	}
	for it := d.Iter(); it.Next(); {
		if k := it.Kind(); (k == KindDocument || k == KindArray) && it.Value().Doc().DeeperThan(levels-1) {
			return true
		}
	}
	return false
}
