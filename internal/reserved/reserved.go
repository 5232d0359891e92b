// Package reserved has the names that MongoDB gives to what it makes itself, and
// that several parts of DuskDB must agree on.
//
// The package is for the rest of DuskDB: it may change with any version.
package reserved

import "strings"

// IDIndex is the index on _id that every collection has.
const IDIndex = "_id_"

// bucketsPrefix stands before the name of a time series in that of the
// collection which holds its buckets.
const bucketsPrefix = "system.buckets."

// Buckets names the collection that holds the buckets of a time series.
func Buckets(series string) string { return bucketsPrefix + series }

// Series names the time series whose buckets a collection holds; ok reports
// whether it is such a collection.
func Series(coll string) (series string, ok bool) {
	series, ok = strings.CutPrefix(coll, bucketsPrefix)
	return series, ok && series != ""
}

// IsBuckets reports whether a collection holds buckets by its name.
func IsBuckets(coll string) bool {
	_, ok := Series(coll)
	return ok
}
