package docs_test

// standing says how far DuskDB serves a name of MongoDB's.
type standing string

const (
	works    standing = "works"
	noEffect standing = "no effect"
	refused  standing = "refused"
	differs  standing = "differs"
	own      standing = "DuskDB"
)

// remark is what a table of the compatibility page says of a name, if it is more than that
// it works.
type remark struct {
	standing standing
	note     string
}

const (
	quickJS   = "JavaScript runs in QuickJS, so some messages differ; `--noscripting` refuses it"
	oneShard  = "the storage engine is the only shard and places the data"
	oneMember = "a set has one member"
	wholeFile = "the whole data are compacted, not one collection"
	outgoing  = "the server opens no connections"
)

// commandRemarks are those of commands, besides those whose help says "refused".
var commandRemarks = map[string]remark{
	"autoCompact":              {differs, wholeFile},
	"balancerCollectionStatus": {works, "always balanced: " + oneShard},
	"balancerStart":            {noEffect, oneShard},
	"balancerStop":             {noEffect, oneShard},
	"checkMetadataConsistency": {works, "always consistent: " + oneShard},
	"collStats":                {differs, "without the statistics of WiredTiger"},
	"compact":                  {differs, wholeFile},
	"connPoolStats":            {differs, "always zero: " + outgoing},
	"createIndexes":            {works, "`commitQuorum` is checked and has no effect"},
	"customAction":             {own, "[Cosmos DB](moving-from-cosmosdb.md#extension-commands)'s; throughput and shard keys are stored without effect"},
	"dropConnections":          {noEffect, outgoing},
	"duskBackup":               {own, "[reference](reference.md#duskbackup)"},
	"expirationStats":          {own, "[reference](reference.md#expirationstats)"},
	"explain":                  {differs, "mongod's form and names of stages; DuskDB's own planner chooses the plan"},
	"explainExpiry":            {own, "[reference](reference.md#explainexpiry)"},
	"flushRouterConfig":        {noEffect, "nothing about the placement of data is cached"},
	"getDiagnosticData":        {differs, "gathered when asked for, not once a second; nothing is kept in files"},
	"lockInfo":                 {differs, "always empty: MongoDB's locks do not exist"},
	"mapReduce":                {differs, quickJS},
	"moveChunk":                {noEffect, oneShard},
	"moveCollection":           {noEffect, oneShard},
	"movePrimary":              {noEffect, oneShard},
	"moveRange":                {noEffect, oneShard},
	"mqAbandon":                {own, "[queues](service-bus.md)"},
	"mqCancelScheduled":        {own, "[queues](service-bus.md)"},
	"mqComplete":               {own, "[queues](service-bus.md)"},
	"mqDeadLetter":             {own, "[queues](service-bus.md)"},
	"mqDefer":                  {own, "[queues](service-bus.md)"},
	"mqPeek":                   {own, "[queues](service-bus.md)"},
	"mqPurge":                  {own, "[queues](service-bus.md)"},
	"mqReceive":                {own, "[queues](service-bus.md)"},
	"mqRenewLock":              {own, "[queues](service-bus.md)"},
	"mqResubmit":               {own, "[queues](service-bus.md)"},
	"mqRestore":                {own, "[queues](service-bus.md)"},
	"mqAcceptSession":          {own, "[queues](service-bus.md)"},
	"mqGetSessionState":        {own, "[queues](service-bus.md)"},
	"mqReleaseSession":         {own, "[queues](service-bus.md)"},
	"mqRenewSession":           {own, "[queues](service-bus.md)"},
	"mqSessions":               {own, "[queues](service-bus.md)"},
	"mqSetSessionState":        {own, "[queues](service-bus.md)"},
	"mqSend":                   {own, "[queues](service-bus.md)"},
	"mqStats":                  {own, "[queues](service-bus.md)"},
	"refineCollectionShardKey": {differs, "the shard key is recorded and shown; " + oneShard},
	"replSetInitiate":          {differs, oneMember},
	"replSetMaintenance":       {refused, "as by a primary: " + oneMember},
	"replSetReconfig":          {differs, oneMember},
	"replSetSyncFrom":          {refused, "as by a primary: " + oneMember},
	"reshardCollection":        {differs, "the shard key is recorded and shown; " + oneShard},
	"runExpirationPass":        {own, "[reference](reference.md#runexpirationpass)"},
	"serverStatus":             {differs, "without the sections of WiredTiger; with `metrics.expiration`"},
	"setIndexCommitQuorum":     {noEffect, oneMember},
	"shardCollection":          {differs, "the shard key is recorded and shown; " + oneShard},
	"testClock":                {own, "[reference](reference.md#testclock)"},
	"unshardCollection":        {differs, "the shard key is recorded and shown; " + oneShard},
}

var queryRemarks = map[string]remark{
	"$where": {differs, quickJS},
}

var stageRemarks = map[string]remark{
	"$collStats":          {differs, "`storageStats` without the statistics of WiredTiger"},
	"$listSampledQueries": {differs, "always empty: queries are not sampled"},
}

var expressionRemarks = map[string]remark{
	"$function": {differs, quickJS},
	"$meta":     {works, "also `expiresAt`: when a document expires"},
}

var accumulatorRemarks = map[string]remark{
	"$accumulator": {differs, quickJS},
}

// parameterRemarks are those of parameters; DuskDB's own are described on the page of
// the reference.
var parameterRemarks = map[string]remark{
	"authSchemaVersion":           {works, "read only"},
	"featureCompatibilityVersion": {works, "read only; set it with the command"},
	"sslMode":                     {differs, "read only: `--tlsMode` sets it"},
	"tlsMode":                     {differs, "read only: `--tlsMode` sets it"},

	"documentTtlPurgeYieldThreshold": {own, "the purge of expired documents waits while at least so many client operations run; 0: never purge. The documents are invisible all the same"},
	"documentTtlStrictTsOnly":        {own, "refuse TTL indexes on fields other than `_ts`, as Cosmos DB does"},
	"documentTtlTsIndex":             {own, "`false`: `_ts` is an ordinary field name"},
	"enableTestClock":                {own, "the same as `--test-clock`"},
	"metricsMaxCollections":          {own, "collections and queues with [metrics](metrics.md) of their own; the others are summed up"},
	"testClockStart":                 {own, "start the clock at this instant (ISO 8601), frozen; needs the test clock"},
}
