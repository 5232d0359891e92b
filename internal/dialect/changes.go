package dialect

// The changes.
const (
	Always Change = iota // no change: in effect in every version

	// Expressions and accumulators.
	ConvertNumbers
	Vectors
	Sigmoid
	ConcatArraysAccumulator
	SetUnionAccumulator

	// Stages.
	ListClusterCatalog
	RankFusion
	ScoreFusion
	StageArguments
	GeoNearWithoutDistance
	MergeOnNullish
	NULInNames
	ClusterTimeOfSets
	QueryStats

	// Commands.
	DropDatabaseSilent
	ErrorAndLog
	SubstringPreview
	RawData
	BuildInfoLogin
	NamespaceOfAggregation

	changeCount = iota
)

// Changes describes them.
var Changes = [changeCount]Row{
	ConvertNumbers: {"8.1", true, "`$convert` between numbers and binary data (`$toInt`, `$toLong` and `$toDouble` too), with `byteOrder`"},
	Vectors:        {"8.1", false, "subtype 9 (vectors) of binary data in `$convert`"},
	Sigmoid:        {"8.1", false, "`$sigmoid`"},

	ListClusterCatalog:     {"8.1", false, "`$listClusterCatalog`"},
	RankFusion:             {"8.1", true, "`$rankFusion` over pipelines that need no search process; the metadata `score` and `scoreDetails`"},
	ScoreFusion:            {"8.2", true, "`$scoreFusion` and `$score`; `$minMaxScaler` in `$setWindowFields`"},
	GeoNearWithoutDistance: {"8.1", false, "`$geoNear` without `distanceField`"},
	MergeOnNullish:         {"8.1", true, "`$merge` on fields that are missing or null, unless the index is sparse"},
	ClusterTimeOfSets:      {"8.2", false, "a query with `$$CLUSTER_TIME` is refused on a server that is no member of a replica set, whether or not it is evaluated"},
	QueryStats:             {"8.2", false, "`$queryStats`, which 8.0 has with a feature flag alone"},
	NULInNames:             {"8.1", false, "another code for a name with a NUL byte in `$unset`, before all others"},
	StageArguments:         {"8.2", false, "`$currentOp` and `$lookup` check their arguments as commands do: other codes, null as if it were not there"},

	DropDatabaseSilent:     {"8.2", false, "`dropDatabase` answers without `dropped`"},
	ErrorAndLog:            {"8.1", true, "`validationAction: \"errorAndLog\"`: a document that does not pass is refused, and the log says so"},
	RawData:                {"8.2", false, "`rawData`: reads and writes of a time series are of its buckets"},
	BuildInfoLogin:         {"8.1", false, "`buildInfo` needs a login where access control is on, unless the parameter `buildInfoAuthMode` says otherwise"},
	NamespaceOfAggregation: {"8.2", false, "errors of a running aggregation name its namespace"},
	SubstringPreview:       {"8.2", true, "the cluster parameter `fleDisableSubstringPreviewParameterLimits`"},

	ConcatArraysAccumulator: {"8.1", true, "`$concatArrays` as an accumulator of `$group`, `$bucket`, `$bucketAuto` and `$setWindowFields`"},
	SetUnionAccumulator:     {"8.1", true, "`$setUnion` as an accumulator of `$group`, `$bucket`, `$bucketAuto` and `$setWindowFields`"},
}
