package plan

import "strings"

// Multikey is the set of path components at which the records of an index have
// arrays: bit Field.First+n stands for the n-th component of the field's path.
// 0 means none.
type Multikey uint64

const (
	// ManyKeys says that a record may have several entries though there is
	// no array: a text has many terms, a region many cells.
	ManyKeys Multikey = 1 << 62
	// Elsewhere stands for all components without a bit.
	Elsewhere Multikey = 1 << 63

	places = 62
	// NoPlace is the First of a field whose components have no bits.
	NoPlace = 255
)

// Place is the bit of the n-th component of the field's path.
func (f *Field) Place(n int) Multikey {
	if at := int(f.First) + n; at < places {
		return 1 << at
	}
	return Elsewhere
}

// SetPlaces assigns bits to the components of all paths.
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

// deepest returns the deepest component with arrays among the first n of the
// i-th field's path, counted from 1; 0 for no array.
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

// arrayPaths lists the prefixes of the i-th field's path that lead to arrays.
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

// shared counts the leading components that two paths have in common.
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
