package postgres

import (
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/internal/kvshared"
)

// keyArrays are the collections and the keys of rows, as parameters.
func keyArrays(list [][]byte) [][]byte {
	size := 0
	for _, key := range list {
		size += len(key)
	}
	nums, keys := newArray(typeInt4, len(list), 4*len(list)), newArray(typeBytes, len(list), size)
	for _, key := range list {
		num, rest := dataKey(key)
		nums.addInt4(num)
		keys.add(rest)
	}
	return [][]byte{nums.value(), keys.value()}
}

// pointArrays are the collections, the keys and the versions of points, as parameters.
func pointArrays(list []kvshared.Point) [][]byte {
	size := 0
	for i := range list {
		size += len(list[i].Key)
	}
	nums, keys, vers := newArray(typeInt4, len(list), 4*len(list)), newArray(typeBytes, len(list), size), newArray(typeInt8, len(list), 8*len(list))
	for i := range list {
		num, rest := dataKey(list[i].Key)
		nums.addInt4(num)
		keys.add(rest)
		vers.addInt8(list[i].Seen)
	}
	return [][]byte{nums.value(), keys.value(), vers.value()}
}

// spanArrays are the collections, the beginnings and the ends of ranges, as parameters.
func spanArrays(list []kv.Span) [][]byte {
	size := 0
	for i := range list {
		size += len(list[i].Lo) + len(list[i].Hi)
	}
	nums, los, his := newArray(typeInt4, len(list), 4*len(list)), newArray(typeBytes, len(list), size), newArray(typeBytes, len(list), size)
	for i := range list {
		num, lo := dataKey(list[i].Lo)
		nums.addInt4(num)
		los.add(lo)
		his.add(endOf(list[i]))
	}
	return [][]byte{nums.value(), los.value(), his.value()}
}
