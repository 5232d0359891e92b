package ttl

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// refused lists the pairs of options that a collection cannot have together.
// The rules of timeseries refuse further ones.
var refused = [...][2]string{
	{"documentTtl", "capped"},
	{"documentTtl", "viewOn"},
	{"documentTtl", "timeseries"},
	{"documentTtl", "messageQueue"},
	{"messageQueue", "capped"},
	{"messageQueue", "viewOn"},
	{"messageQueue", "validator"},
	{"messageQueue", "clusteredIndex"},
	{"messageQueue", "expireAfterSeconds"},
	{"messageQueue", "timeseries"},
	{"onExpire", "viewOn"},
	{"onExpire", "messageQueue"},
}

// CheckCombination refuses options of create that exclude each other, and
// policies on the server's own namespaces.
func CheckCombination(ns storage.Namespace, options value.Doc) error {
	for _, pair := range refused {
		if given(options, pair[0]) && given(options, pair[1]) {
			return mongoerr.Newf(mongoerr.InvalidOptions, "'%s' is not allowed with '%s'", pair[0], pair[1])
		}
	}
	if options.Has("expireAfterSeconds") && !given(options, "timeseries") && !given(options, "clusteredIndex") {
		return mongoerr.New(mongoerr.InvalidOptions, "'expireAfterSeconds' is only supported on time-series collections or when the 'clusteredIndex' option is specified")
	}
	for _, name := range []string{"documentTtl", "expireAfterSeconds", "messageQueue", "onExpire"} {
		if given(options, name) {
			return CheckNamespace(ns, name)
		}
	}
	return nil
}

// given reports whether an option is present and not false.
func given(options value.Doc, name string) bool {
	v, ok := options.Get(name)
	return ok && (v.Kind() != value.KindBool || v.Bool()) && v.Kind() != value.KindNull
}

// CheckNamespace refuses policies on the server's own collections.
func CheckNamespace(ns storage.Namespace, option string) error {
	own := ns.DB == "config" || ns.DB == "admin" && strings.HasPrefix(ns.Coll, "system.") ||
		ns.DB == "local"
	if own {
		return mongoerr.Newf(mongoerr.InvalidOptions, "'%s' is not allowed on the internal collection %s", option, ns)
	}
	return nil
}

// CheckTTLIndex refuses a TTL index where the collection's options do not
// allow one.
func CheckTTLIndex(ns storage.Namespace, options, spec value.Doc) error {
	if !spec.Has("expireAfterSeconds") {
		return nil
	}
	switch {
	case given(options, "messageQueue"):
		return cannotCreate("TTL indexes are not supported on message queues")
	case given(options, "capped") && given(options, "clusteredIndex"):
		return mongoerr.New(6049202, "Cannot create TTL index on a capped clustered collection")
	case given(options, "capped") && IsTSKey(spec.Lookup("key").Doc()):
		return mongoerr.New(mongoerr.InvalidOptions, "'documentTtl' is not allowed with 'capped'")
	}
	if ns.DB == "config" && !IsTSKey(spec.Lookup("key").Doc()) && !strings.HasPrefix(ns.Coll, "system.") {
		return nil // as in mongod, whose own collections have TTL indexes there
	}
	return CheckNamespace(ns, "expireAfterSeconds")
}
