package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The Stable API. A client that declares apiVersion "1" with apiStrict uses
// only what that version promises; the rest answers with an error, so that
// the client learns of it before a server of the future drops it.

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

// checkAPI applies what the client declared about the API it uses.
func (c *Call) checkAPI() error {
	switch v := c.generic.apiVersion; {
	case v == "" && c.generic.apiStrict:
		return mongoerr.New(4886600, "Provided apiStrict and/or apiDeprecationErrors without passing apiVersion")
	case v != "" && v != "1":
		return mongoerr.New(mongoerr.APIVersionError, "API version must be \"1\"")
	case !c.generic.apiStrict:
		return nil
	}
	if !apiVersion1[c.cmd.name] {
		return mongoerr.Newf(mongoerr.APIStrictError, "Provided apiStrict:true, but the command %s is not in API Version 1. Information on supported commands and migrations in API Version 1 can be found at https://dochub.mongodb.org/core/manual-versioned-api", c.cmd.name)
	}
	if c.cmd.name == "aggregate" {
		return strictStages(c.Body.Lookup("pipeline"))
	}
	return nil
}

// strictStages refuses the stages outside of API version 1, here and in the
// pipelines within $lookup and $unionWith. What is malformed passes: the
// compiler of pipelines says it better.
func strictStages(pipeline value.Value) error {
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
		if (name == "$lookup" || name == "$unionWith") && spec.Kind() == value.KindDocument {
			if err := strictStages(spec.Doc().Lookup("pipeline")); err != nil {
				return err
			}
		}
	}
	return nil
}
