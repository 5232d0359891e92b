package stage

import (
	"strings"
)

// ValidCollection reports whether coll is a valid name for a collection.
func ValidCollection(coll string) bool {
	return coll != "" && coll[0] != '.' && strings.IndexByte(coll, 0) < 0
}

// ValidTarget reports whether a pipeline may write to a namespace.
func ValidTarget(db, coll string) bool {
	return coll != "" && !strings.ContainsAny(coll, "$\x00") && !strings.HasPrefix(coll, ".") &&
		db != "" && !strings.ContainsAny(db, "/\\. \"$\x00")
}

// IsInternalDB reports whether a database belongs to the server.
func IsInternalDB(db string) bool { return db == "admin" || db == "config" || db == "local" }
