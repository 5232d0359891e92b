package agg

import (
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/fusion"
	"github.com/duskdb/duskdb/query/agg/group"
	"github.com/duskdb/duskdb/query/agg/lookup"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/source"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/agg/window"
	"github.com/duskdb/duskdb/query/agg/write"
)

// definitions is the table of stages: please keep sorted.
var definitions = []stage.Definition{
	{Name: "$addFields", Parse: flow.ParseAddFields, Flags: stage.InChangeStream, Update: true},
	{Name: "$bucket", Parse: group.ParseBucket},
	{Name: "$bucketAuto", Parse: group.ParseBucketAuto},
	{Name: "$changeStream", Parse: source.ParseChangeStream, Flags: stage.Initial | stage.NotInLookup | stage.NotInUnion | stage.NotInTransaction | stage.InChangeStream | stage.AnyNamespace},
	{Name: "$changeStreamSplitLargeEvent", Parse: source.ParseSplitLargeEvent, Flags: stage.MustBeLast | stage.NotInFacet | stage.NotInLookup | stage.NotInUnion | stage.NotInTransaction | stage.InChangeStream | stage.NeedsChangeStream | stage.OnlyOnce},
	{Name: "$collStats", Parse: source.ParseCollStats, Flags: stage.Initial | stage.NotInTransaction},
	{Name: "$count", Parse: group.ParseCount},
	{Name: "$currentOp", Parse: source.ParseCurrentOp, Flags: stage.Initial | stage.NotInTransaction | stage.Collectionless},
	{Name: "$densify", Parse: window.ParseDensify},
	{Name: "$documents", Parse: source.ParseDocuments, Flags: stage.Initial | stage.Collectionless},
	{Name: "$facet", Parse: lookup.ParseFacet, Flags: stage.NotInFacet},
	{Name: "$fill", Parse: window.ParseFill, Update: true},
	{Name: "$geoNear", Parse: source.ParseGeoNear, Flags: stage.FirstOfOptimized | stage.NotInFacet},
	{Name: "$graphLookup", Parse: lookup.ParseGraphLookup},
	{Name: "$group", Parse: group.Parse},
	{Name: "$indexStats", Parse: source.ParseIndexStats, Flags: stage.Initial | stage.NotInTransaction},
	{Name: "$limit", Parse: flow.ParseLimit},
	{Name: "$listCatalog", Parse: source.ParseListCatalog, Flags: stage.Initial | stage.NotInTransaction | stage.AnyNamespace},
	{Name: "$listClusterCatalog", Parse: source.ParseListClusterCatalog, Flags: stage.Initial | stage.NotInTransaction | stage.Collectionless, Since: dialect.ListClusterCatalog},
	{Name: "$listLocalSessions", Parse: source.ParseListLocalSessions, Flags: stage.Initial | stage.NotInTransaction | stage.Collectionless},
	{Name: "$listSampledQueries", Parse: source.ParseListSampledQueries, Flags: stage.Initial | stage.NotInTransaction | stage.Collectionless},
	{Name: "$listSearchIndexes", Parse: source.RefuseListSearchIndexes, Flags: stage.Initial | stage.Refused},
	{Name: "$listSessions", Parse: source.ParseListSessions, Flags: stage.Initial | stage.NotInTransaction},
	{Name: "$lookup", Parse: lookup.Parse},
	{Name: "$match", Parse: flow.ParseMatch, Flags: stage.InChangeStream},
	{Name: "$merge", Parse: write.ParseMerge, Flags: stage.Writes},
	{Name: "$out", Parse: write.ParseOut, Flags: stage.Writes},
	{Name: "$planCacheStats", Parse: source.ParsePlanCacheStats, Flags: stage.Initial | stage.NotInTransaction},
	{Name: "$project", Parse: flow.ParseProject, Flags: stage.InChangeStream, Update: true},
	{Name: "$querySettings", Parse: source.ParseQuerySettings, Flags: stage.Initial | stage.NotInTransaction | stage.Collectionless},
	{Name: "$queryStats", Parse: source.ParseQueryStats, Flags: stage.Initial | stage.NotInTransaction | stage.Collectionless},
	{Name: "$rankFusion", Parse: fusion.ParseRankFusion, Since: dialect.RankFusion},
	{Name: "$redact", Parse: flow.ParseRedact, Flags: stage.InChangeStream},
	{Name: "$replaceRoot", Parse: flow.ParseReplaceRoot, Flags: stage.InChangeStream, Update: true},
	{Name: "$replaceWith", Parse: flow.ParseReplaceWith, Flags: stage.InChangeStream, Update: true},
	{Name: "$sample", Parse: flow.ParseSample},
	{Name: "$score", Parse: fusion.ParseScore, Since: dialect.ScoreFusion},
	{Name: "$scoreFusion", Parse: fusion.ParseScoreFusion, Since: dialect.ScoreFusion},
	{Name: "$search", Parse: source.RefuseSearch, Flags: stage.Initial | stage.Refused},
	{Name: "$searchMeta", Parse: source.RefuseSearch, Flags: stage.Initial | stage.Refused},
	{Name: "$set", Parse: flow.ParseSet, Flags: stage.InChangeStream, Update: true},
	{Name: "$setWindowFields", Parse: window.ParseSetWindowFields},
	{Name: "$shardedDataDistribution", Parse: source.RefuseShardedDataDistribution, Flags: stage.Initial | stage.Collectionless | stage.Refused},
	{Name: "$skip", Parse: flow.ParseSkip},
	{Name: "$sort", Parse: order.Parse},
	{Name: "$sortByCount", Parse: group.ParseSortByCount},
	{Name: "$unionWith", Parse: lookup.ParseUnionWith, Flags: stage.NotInTransaction},
	{Name: "$unset", Parse: flow.ParseUnset, Flags: stage.InChangeStream, Update: true},
	{Name: "$unwind", Parse: flow.ParseUnwind},
	{Name: "$vectorSearch", Parse: source.RefuseSearch, Flags: stage.Initial | stage.Refused},
}

// rules of the optimiser, in the order in which they are tried.
var rules = []stage.Rule{
	pipeline.JoinMatches,
	pipeline.JoinLimits,
	pipeline.JoinSkips,
	pipeline.JoinSortLimit,
	pipeline.DropRepeatedSort,
	lookup.AbsorbUnwind,
	lookup.MatchIntoLookup,
	lookup.MatchIntoUnion,
	pipeline.LimitForward,
	pipeline.MatchForward,
}

// mql is the language of aggregation pipelines.
var mql = stage.NewLanguage(definitions, rules)

// StageNames lists the supported stages, sorted.
func StageNames() []string { return mql.Names() }

// RefusedStageNames lists the stages that are known but refused, sorted.
func RefusedStageNames() []string { return mql.RefusedNames() }
