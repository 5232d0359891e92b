package source

import (
	"slices"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// changeStreamOptions are the options of $changeStream with their types.
var changeStreamOptions = map[string]value.Kind{
	"allChangesForCluster":               value.KindBool,
	"allowToRunOnConfigDB":               value.KindBool,
	"allowToRunOnSystemNS":               value.KindBool,
	"fullDocument":                       value.KindString,
	"fullDocumentBeforeChange":           value.KindString,
	"matchCollectionUUIDForUpdateLookup": value.KindBool,
	"resumeAfter":                        value.KindDocument,
	"showExpandedEvents":                 value.KindBool,
	"showMigrationEvents":                value.KindBool,
	"showRawUpdateDescription":           value.KindBool,
	"showSystemEvents":                   value.KindBool,
	"startAfter":                         value.KindDocument,
	"startAtOperationTime":               value.KindTimestamp,
}

// ParseChangeStream checks the options of $changeStream. The host opens the stream.
func ParseChangeStream(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(6188500, "$changeStream must take a nested object but found: $changeStream: %s", v)
	}
	for k, f := range v.Doc().All() {
		kind, ok := changeStreamOptions[k]
		if !ok {
			return nil, stage.UnknownField("$changeStream", k)
		}
		if f.Kind() == value.KindNull && kind != value.KindBool { // as if it were not there
			continue
		}
		if f.Kind() != kind {
			return nil, stage.WrongType("$changeStream", k, f, kind.String())
		}
	}
	spec := stage.WithoutNulls(v.Doc())
	if err := checkChangeStream(p, spec); err != nil {
		return nil, err
	}
	if p.NoStreams {
		return nil, mongoerr.New(40573, "The $changeStream stage is only supported on replica sets")
	}
	return fromHost(p, "$changeStream", spec), nil
}

// changeStreamModes are the values that the two full document options take.
var changeStreamModes = map[string][]string{
	"fullDocument":             {"default", "updateLookup", "whenAvailable", "required"},
	"fullDocumentBeforeChange": {"off", "whenAvailable", "required"},
}

func checkChangeStream(p *stage.Parser, d value.Doc) error {
	for name, v := range d.All() {
		if modes := changeStreamModes[name]; modes != nil && !slices.Contains(modes, v.Str()) {
			return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field '$changeStream.%s' is not a valid value.", v.Str(), name)
		}
	}
	given := 0
	for _, name := range []string{"resumeAfter", "startAfter", "startAtOperationTime"} {
		if d.Has(name) {
			given++
		}
	}
	if d.Has("resumeAfter") && d.Has("startAfter") {
		return mongoerr.New(50865, "Do not specify both 'resumeAfter' and 'startAfter' in a $changeStream stage")
	}
	if given > 1 {
		return mongoerr.New(40674, "Only one type of resume option is allowed, but multiple were found.")
	}
	cluster := d.Lookup("allChangesForCluster").Bool()
	switch {
	case cluster && (p.DB != "admin" || p.Coll != ""):
		return mongoerr.New(mongoerr.InvalidOptions, "A $changeStream with 'allChangesForCluster:true' may only be opened on the 'admin' database, and with no collection name; found "+namespace(p.DB, p.Coll))
	case !cluster && p.DB == "admin" && p.Coll == "":
		return mongoerr.New(mongoerr.InvalidNamespace, "$changeStream may not be opened on the internal admin database")
	}
	return nil
}

func namespace(db, coll string) string {
	if coll == "" {
		coll = "$cmd.aggregate"
	}
	return db + "." + coll
}
