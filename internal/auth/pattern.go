package auth

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/value"
)

// Pattern is the resource of a privilege, or the target of a check.
type Pattern struct {
	kind     patternKind
	db, coll string
}

type patternKind uint8

// The kinds of patterns. Normal collections are those whose name does not
// begin with "system.".
const (
	onCluster         patternKind = iota // {cluster: true}
	onAnything                           // {anyResource: true}
	onAnyNormal                          // {db: "", collection: ""}: normal collections of all databases but local and config
	onDatabase                           // {db: "d", collection: ""}: a database and its normal collections
	onCollection                         // {db: "", collection: "c"}: collections of that name
	onNamespace                          // {db: "d", collection: "c"}
	onAnyBuckets                         // {system_buckets: ""}: buckets of time series
	onDatabaseBuckets                    // {db: "d", system_buckets: ""}
	onNamedBuckets                       // {system_buckets: "c"}
	onBuckets                            // {db: "d", system_buckets: "c"}
)

// Cluster is the server as a whole.
func Cluster() Pattern { return Pattern{kind: onCluster} }

// AnyNormal is every normal collection of every database.
func AnyNormal() Pattern { return Pattern{kind: onAnyNormal} }

// Database is a database with its normal collections.
func Database(db string) Pattern { return Pattern{kind: onDatabase, db: db} }

// Namespace is one collection.
func Namespace(db, coll string) Pattern { return Pattern{kind: onNamespace, db: db, coll: coll} }

// Collection stands for the collections of a name in every database.
func Collection(coll string) Pattern { return Pattern{kind: onCollection, coll: coll} }

// AnyBuckets is the collections behind every time series.
func AnyBuckets() Pattern { return Pattern{kind: onAnyBuckets} }

// matching lists the patterns whose privileges apply to the target, including
// its own.
func (p Pattern) matching(dst []Pattern) []Pattern {
	dst = append(dst, Pattern{kind: onAnything}, p)
	ordinary := p.db != "local" && p.db != "config"
	switch p.kind {
	case onDatabase:
		if ordinary {
			dst = append(dst, AnyNormal())
		}
	case onNamespace:
		dst = append(dst, Pattern{kind: onCollection, coll: p.coll})
		if bucket, ok := reserved.Series(p.coll); ok {
			return append(dst, Pattern{kind: onAnyBuckets}, Pattern{kind: onDatabaseBuckets, db: p.db},
				Pattern{kind: onNamedBuckets, coll: bucket}, Pattern{kind: onBuckets, db: p.db, coll: bucket})
		}
		if !isSystem(p.db, p.coll) {
			dst = append(dst, Database(p.db))
			if ordinary {
				dst = append(dst, AnyNormal())
			}
		}
	}
	return dst
}

// isSystem reports whether privileges on a database exclude a collection.
func isSystem(db, coll string) bool {
	return strings.HasPrefix(coll, "system.") || db == "local" && strings.HasPrefix(coll, "replset.")
}

// touches reports whether a privilege on the pattern applies to anything in
// the database.
func (p Pattern) touches(db string) bool {
	switch p.kind {
	case onAnything, onCollection, onAnyBuckets, onNamedBuckets:
		return true
	case onAnyNormal:
		return db != "local" && db != "config"
	case onCluster:
		return false
	}
	return p.db == db
}

// within reports whether the pattern lies in the database.
func (p Pattern) within(db string) bool {
	return (p.kind == onDatabase || p.kind == onNamespace || p.kind == onDatabaseBuckets || p.kind == onBuckets) && p.db == db
}

// ParsePattern reads the resource of a privilege.
func ParsePattern(d value.Doc) (Pattern, error) {
	var given [5]bool
	var p Pattern
	for name, v := range d.All() {
		i := strings.Index(resourceFields, " "+name+" ")
		if i < 0 {
			return p, mongoerr.UnknownField("resource." + name)
		}
		i = strings.Count(resourceFields[:i+1], " ") - 1
		given[i] = true
		want := value.KindString
		if i < 2 {
			want = value.KindBool
			given[i] = v.Bool()
		}
		if v.Kind() != want {
			return p, mongoerr.Newf(mongoerr.TypeMismatch, "BSON field 'resource.%s' is the wrong type '%s', expected type '%s'", name, v.Kind(), want)
		}
	}
	p.db = strings.Clone(d.Lookup("db").Str())
	p.coll = strings.Clone(d.Lookup("collection").Str() + d.Lookup("system_buckets").Str())
	anything, cluster, db, coll, buckets := given[0], given[1], given[2], given[3], given[4]
	switch {
	case anything && (cluster || db || coll || buckets), cluster && (db || coll || buckets):
		return p, mongoerr.New(mongoerr.BadValue, "Resource may only specify one of: 'anyResource', 'cluster', 'db' and 'collection'")
	case anything:
		p.kind = onAnything
	case cluster:
		p.kind = onCluster
	case buckets && coll:
		return p, mongoerr.New(mongoerr.BadValue, "Resource may not specify both 'collection' and 'system_buckets'")
	case buckets:
		p.kind = pick(p, onAnyBuckets, onDatabaseBuckets, onNamedBuckets, onBuckets)
	case db && coll:
		p.kind = pick(p, onAnyNormal, onDatabase, onCollection, onNamespace)
	default:
		return p, mongoerr.New(mongoerr.BadValue, "resource must have 'db' and 'collection' fields, or be {cluster: true} or {anyResource: true}")
	}
	return p, nil
}

const resourceFields = " anyResource cluster db collection system_buckets "

// pick chooses by which of db and coll are given.
func pick(p Pattern, neither, db, coll, both patternKind) patternKind {
	switch {
	case p.db == "" && p.coll == "":
		return neither
	case p.coll == "":
		return db
	case p.db == "":
		return coll
	}
	return both
}

// doc writes the pattern as a resource.
func (p Pattern) doc() value.Doc {
	switch p.kind {
	case onCluster:
		return value.NewDoc("cluster", value.Bool(true))
	case onAnything:
		return value.NewDoc("anyResource", value.Bool(true))
	case onAnyBuckets, onDatabaseBuckets, onNamedBuckets, onBuckets:
		return value.NewDoc("db", value.String(p.db), "system_buckets", value.String(p.coll))
	}
	return value.NewDoc("db", value.String(p.db), "collection", value.String(p.coll))
}

// SingleDatabase returns the database of a pattern that applies to only one.
func (p Pattern) SingleDatabase() (db string, ok bool) {
	return p.db, p.kind == onDatabase || p.kind == onNamespace
}
