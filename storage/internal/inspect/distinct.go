package inspect

import (
	"bytes"
	"slices"
)

// distinct sorts the keys of a record and drops those that are there twice: an
// index has one entry for each.
func distinct(keys [][]byte) [][]byte {
	if len(keys) < 2 {
		return keys
	}
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal)
}
