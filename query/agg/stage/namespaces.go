package stage

import (
	"strings"
)

// ValidCollection reports whether a collection may have a name.
func ValidCollection(coll string) bool {
	return coll != "" && coll[0] != '.' && strings.IndexByte(coll, 0) < 0
}

// ValidTarget reports whether a namespace is one that may be written to.
func ValidTarget(db, coll string) bool {
	return coll != "" && !strings.ContainsAny(coll, "$\x00") && !strings.HasPrefix(coll, ".") &&
		db != "" && !strings.ContainsAny(db, "/\\. \"$\x00")
}

// IsInternalDB reports whether a database belongs to the server.
func IsInternalDB(db string) bool { return db == "admin" || db == "config" || db == "local" }
