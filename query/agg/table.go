package agg

// definitions is the table of stages: please keep sorted.
var definitions = []definition{
	{name: "$addFields", parse: parseAddFields, flags: inChangeStream, update: true},
	{name: "$bucket", parse: parseBucket},
	{name: "$bucketAuto", parse: parseBucketAuto},
	{name: "$changeStream", parse: parseChangeStream, flags: initial | notInLookup | notInUnion | notInTransaction | inChangeStream | anyNamespace},
	{name: "$changeStreamSplitLargeEvent", parse: parseSplitLargeEvent, flags: mustBeLast | notInFacet | notInLookup | notInUnion | notInTransaction | inChangeStream | needsChangeStream | onlyOnce},
	{name: "$collStats", parse: parseCollStats, flags: initial | notInTransaction},
	{name: "$count", parse: parseCount},
	{name: "$currentOp", parse: parseCurrentOp, flags: initial | notInTransaction | collectionless},
	{name: "$densify", parse: parseDensify},
	{name: "$documents", parse: parseDocuments, flags: initial | collectionless},
	{name: "$facet", parse: parseFacet, flags: notInFacet},
	{name: "$fill", parse: parseFill, update: true},
	{name: "$geoNear", parse: parseGeoNear, flags: initial},
	{name: "$graphLookup", parse: parseGraphLookup},
	{name: "$group", parse: parseGroup},
	{name: "$indexStats", parse: parseIndexStats, flags: initial | notInTransaction},
	{name: "$limit", parse: parseLimit},
	{name: "$listCatalog", parse: parseListCatalog, flags: initial | notInTransaction | anyNamespace},
	{name: "$listLocalSessions", parse: parseListLocalSessions, flags: initial | notInTransaction | collectionless},
	{name: "$listSampledQueries", parse: parseListSampledQueries, flags: initial | notInTransaction | collectionless},
	{name: "$listSearchIndexes", parse: refuseListSearchIndexes, flags: initial | refused},
	{name: "$listSessions", parse: parseListSessions, flags: initial | notInTransaction},
	{name: "$lookup", parse: parseLookup},
	{name: "$match", parse: parseMatch, flags: inChangeStream},
	{name: "$merge", parse: parseMerge, flags: writes},
	{name: "$out", parse: parseOut, flags: writes},
	{name: "$planCacheStats", parse: parsePlanCacheStats, flags: initial | notInTransaction},
	{name: "$project", parse: parseProject, flags: inChangeStream, update: true},
	{name: "$querySettings", parse: parseQuerySettings, flags: initial | notInTransaction | collectionless},
	{name: "$queryStats", parse: refuseQueryStats, flags: initial | collectionless | refused},
	{name: "$redact", parse: parseRedact, flags: inChangeStream},
	{name: "$replaceRoot", parse: parseReplaceRoot, flags: inChangeStream, update: true},
	{name: "$replaceWith", parse: parseReplaceWith, flags: inChangeStream, update: true},
	{name: "$sample", parse: parseSample},
	{name: "$search", parse: refuseSearch, flags: initial | refused},
	{name: "$searchMeta", parse: refuseSearch, flags: initial | refused},
	{name: "$set", parse: parseSet, flags: inChangeStream, update: true},
	{name: "$setWindowFields", parse: parseSetWindowFields},
	{name: "$shardedDataDistribution", parse: refuseShardedDataDistribution, flags: initial | collectionless | refused},
	{name: "$skip", parse: parseSkip},
	{name: "$sort", parse: parseSort},
	{name: "$sortByCount", parse: parseSortByCount},
	{name: "$unionWith", parse: parseUnionWith, flags: notInTransaction},
	{name: "$unset", parse: parseUnset, flags: inChangeStream, update: true},
	{name: "$unwind", parse: parseUnwind},
	{name: "$vectorSearch", parse: refuseSearch, flags: initial | refused},
}

// rules of the optimiser, in the order in which they are tried.
var rules = []rewrite{
	joinMatches,
	joinLimits,
	joinSkips,
	joinSortLimit,
	dropRepeatedSort,
	absorbUnwind,
	matchIntoLookup,
	matchIntoUnion,
	limitForward,
	matchForward,
}

// mql is the language of aggregation pipelines.
var mql = newLanguage(definitions, rules)

// StageNames lists the supported stages, sorted.
func StageNames() []string { return mql.names() }
