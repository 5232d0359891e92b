package plan

import "strings"

// Multikey is where the records of an index have arrays: bit Field.First+n
// stands for the n-th component of the field's path. 0 is nowhere.
type Multikey uint64

const (
	// ManyKeys says that a record may have several entries though there is
	// no array: a text has many terms, a region many cells.
	ManyKeys Multikey = 1 << 62
	// Elsewhere stands for all places that have no bit of their own.
	Elsewhere Multikey = 1 << 63

	places = 62
	// NoPlace is the First of a field whose places have no bits.
	NoPlace = 255
)

// Place is the bit of the n-th component of the field's path.
func (f *Field) Place(n int) Multikey {
	if at := int(f.First) + n; at < places {
		return 1 << at
	}
	return Elsewhere
}

// SetPlaces gives the components of all paths their bits.
func SetPlaces(fields []Field) {
	next := 0
	for i := range fields {
		f := &fields[i]
		if f.Kind == Wildcard || next > places {
			f.First = NoPlace
			continue
		}
		f.First = uint8(next)
		next += components(f.Path)
	}
}

func components(path string) int { return strings.Count(path, ".") + 1 }

// deepest tells how far down the first n components of the i-th field's path
// the last array lies: its component counted from 1, 0 for no array.
func (x *Index) deepest(i, n int) int {
	if x.Multikey == 0 {
		return 0
	}
	f := &x.Fields[i]
	for ; n > 0; n-- {
		if x.Multikey&f.Place(n-1) != 0 {
			return n
		}
	}
	return 0
}

// arrays reports whether there are arrays on the path of the i-th field.
func (x *Index) arrays(i int) bool {
	return x.Multikey != 0 && x.deepest(i, components(x.Fields[i].Path)) > 0
}

// arrayPaths lists where on the i-th field's path arrays lie.
func (x *Index) arrayPaths(i int) (paths []string) {
	f := &x.Fields[i]
	end := 0
	for n := range components(f.Path) {
		if next := strings.IndexByte(f.Path[end:], '.'); next < 0 {
			end = len(f.Path)
		} else {
			end += next
		}
		if x.Multikey&f.Place(n) != 0 {
			paths = append(paths, f.Path[:end])
		}
		end++
	}
	return paths
}

// shared counts the components that two paths begin with alike.
func shared(a, b string) (n int) {
	for {
		x, restA, moreA := strings.Cut(a, ".")
		y, restB, moreB := strings.Cut(b, ".")
		if x != y {
			return n
		}
		n++
		if !moreA || !moreB {
			return n
		}
		a, b = restA, restB
	}
}
