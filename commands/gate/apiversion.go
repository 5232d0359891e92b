package gate

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The Stable API. A client that declares apiVersion "1" with apiStrict may use only what
// is part of that version. Everything else is refused, so that the client does not depend
// on features that a future server may drop.

// apiVersion1 names the commands of API version 1.
var apiVersion1 = map[string]bool{
	"abortTransaction":  true,
	"aggregate":         true,
	"bulkWrite":         true,
	"collMod":           true,
	"commitTransaction": true,
	"count":             true,
	"create":            true,
	"createIndexes":     true,
	"delete":            true,
	"drop":              true,
	"dropDatabase":      true,
	"dropIndexes":       true,
	"endSessions":       true,
	"explain":           true,
	"find":              true,
	"findAndModify":     true,
	"getMore":           true,
	"hello":             true,
	"insert":            true,
	"killCursors":       true,
	"listCollections":   true,
	"listDatabases":     true,
	"listIndexes":       true,
	"ping":              true,
	"refreshSessions":   true,
	"saslContinue":      true,
	"saslStart":         true,
	"update":            true,
	// please keep sorted
}

// notInAPIVersion1 names the stages that version 1 does not promise.
var notInAPIVersion1 = map[string]bool{
	"$currentOp":               true,
	"$indexStats":              true,
	"$listCatalog":             true,
	"$listClusterCatalog":      true,
	"$listLocalSessions":       true,
	"$listSampledQueries":      true,
	"$listSearchIndexes":       true,
	"$listSessions":            true,
	"$planCacheStats":          true,
	"$querySettings":           true,
	"$queryStats":              true,
	"$search":                  true,
	"$searchMeta":              true,
	"$shardedDataDistribution": true,
	"$vectorSearch":            true,
	// please keep sorted
}

// UnstableFields names the fields of commands that version 1 does not promise.
var UnstableFields = map[string]map[string]bool{
	"aggregate": {
		"$_requestReshardingResumeToken": true, "collectionUUID": true, "exchange": true, "explain": true, "fromMongos": true,
		"isMapReduceCommand": true, "needsMerge": true, "runtimeConstants": true,
	},
	"collMod":       {"collectionUUID": true, "dryRun": true},
	"create":        {"autoIndexId": true, "indexOptionDefaults": true, "storageEngine": true},
	"createIndexes": {"collectionUUID": true},
	"delete":        {"collectionUUID": true},
	"drop":          {"collectionUUID": true},
	"dropIndexes":   {"collectionUUID": true},
	"find": {
		"$_requestResumeToken": true, "$_resumeAfter": true, "allowSpeculativeMajorityRead": true, "awaitData": true, "collectionUUID": true,
		"max": true, "min": true, "noCursorTimeout": true, "ntoreturn": true, "oplogReplay": true, "options": true,
		"readOnce": true, "returnKey": true, "runtimeConstants": true, "showRecordId": true, "tailable": true, "term": true,
	},
	"insert":          {"collectionUUID": true},
	"listCollections": {"includePendingDrops": true},
	"update":          {"collectionUUID": true},
}

// ScriptedName is the first $function or $accumulator within v, neither of
// which version 1 promises.
func ScriptedName(v value.Value) string {
	if k := v.Kind(); k != value.KindDocument && k != value.KindArray {
		return ""
	}
	for name, e := range v.Doc().All() {
		if (name == "$function" || name == "$accumulator") && e.Kind() == value.KindDocument {
			return name
		}
		if inner := ScriptedName(e); inner != "" {
			return inner
		}
	}
	return ""
}

// testAPIVersions are the versions of mongod's test commands for API versions. Version 2
// exists only for tests (acceptApiVersion2).
var testAPIVersions = map[string]struct{ in, deprecated string }{
	"testDeprecation":           {in: "1", deprecated: "1"},
	"testDeprecationInVersion2": {in: "12", deprecated: "2"},
	"testRemoval":               {in: "1"},
	"testVersion2":              {in: "2"},
	"testVersions1And2":         {in: "12"},
}

// ApiVersions returns the versions that have a command, and the versions in which it is
// deprecated, as digits.
func ApiVersions(command string) (in, deprecated string) {
	if apiVersion1[command] {
		return "1", ""
	}
	v := testAPIVersions[command]
	return v.in, v.deprecated
}

// unstableOption returns an option of a stage that version 1 does not promise,
// "" if it has none: of $collStats it has the count alone.
func unstableOption(stage string, spec value.Value) string {
	for name := range spec.Doc().All() {
		if stage == "$collStats" && name != "count" || stage == "$changeStream" && name == "showExpandedEvents" {
			return name
		}
	}
	return ""
}

// StrictStages refuses the stages outside of API version 1, also in the sub-pipelines of
// $lookup and $unionWith. It accepts malformed stages: the compiler of pipelines reports
// them with better messages.
func StrictStages(pipeline value.Value) error {
	if pipeline.Kind() != value.KindArray {
		return nil
	}
	for stage := range pipeline.Doc().Values() {
		if stage.Kind() != value.KindDocument {
			continue
		}
		name, spec := stage.Doc().First()
		if notInAPIVersion1[name] {
			return mongoerr.Newf(mongoerr.APIStrictError, "stage %s is not allowed with 'apiStrict: true' in API Version 1", name)
		}
		if field := unstableOption(name, spec); field != "" {
			return mongoerr.Newf(mongoerr.APIStrictError, "BSON field '%s.%s' is not allowed with apiStrict:true in API Version 1", name, field)
		}
		if (name == "$lookup" || name == "$unionWith") && spec.Kind() == value.KindDocument {
			if err := StrictStages(spec.Doc().Lookup("pipeline")); err != nil {
				return err
			}
		}
	}
	return nil
}
