package agg

import "strings"

// validCollection reports whether a collection may have a name.
func validCollection(coll string) bool {
	return coll != "" && coll[0] != '.' && strings.IndexByte(coll, 0) < 0
}

// validTarget reports whether a namespace is one that may be written to.
func validTarget(db, coll string) bool {
	return coll != "" && !strings.ContainsAny(coll, "$\x00") && !strings.HasPrefix(coll, ".") &&
		db != "" && !strings.ContainsAny(db, "/\\. \"$\x00")
}

func isInternalDB(db string) bool { return db == "admin" || db == "config" || db == "local" }
