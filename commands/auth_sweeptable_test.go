package commands_test

import (
	"slices"
	"strings"
)

// touches lists the privileges of a command: a client needs each of them, and no
// others. A privilege is "action on", where on is cluster, any (normal collections of
// all databases), a database, "db.collection" or "*.collection"; "" for commands that
// every authenticated user may run.
type touches struct {
	db, command, rights string
}

// sweep has at least one line for each command and each stage of the server: a new
// one needs a line with everything that it touches. It follows the manual's privilege
// actions and mongod's requirements of each command.
var sweep = slices.Concat(sweepReads, sweepWrites, sweepCatalog, sweepCluster, sweepUsers, sweepOpen, sweepStages)

var sweepReads = []touches{
	{"test", `{find: "x"}`, "find test.x"},
	{"test", `{find: "system.profile"}`, "find test.system.profile"},
	{"admin", `{find: "system.users"}`, "find admin.system.users"},
	{"local", `{find: "oplog.rs"}`, "find local.oplog.rs"},
	{"test", `{find: "system.buckets.t"}`, "find test.system.buckets.t"},
	{"test", `{count: "x"}`, "find test.x"},
	{"test", `{distinct: "x", key: "a"}`, "find test.x"},
	{"test", `{aggregate: "x", pipeline: []}`, "find test.x"},
	{"test", `{explain: {find: "x"}}`, "find test.x"},
	{"test", `{explain: {count: "x"}}`, "find test.x"},
	{"test", `{explain: {distinct: "x", key: "a"}}`, "find test.x"},
	{"test", `{explain: {aggregate: "x", pipeline: [{$lookup: {from: "y", as: "j", pipeline: []}}, {$out: {db: "other", coll: "z"}}]}}`, "find test.x, find test.y, insert other.z, remove other.z"},
	{"test", `{explain: {update: "x", updates: [{q: {}, u: {}, upsert: true}]}}`, "update test.x, insert test.x"},
	{"test", `{explain: {delete: "x", deletes: [{q: {}, limit: 0}]}}`, "remove test.x"},
	{"test", `{explain: {findAndModify: "x", remove: true}}`, "find test.x, remove test.x"},
	{"test", `{mapReduce: "x", map: "m", reduce: "r", out: {inline: 1}}`, "find test.x"},
	{"test", `{mapReduce: "x", map: "m", reduce: "r", out: "y"}`, "find test.x, insert test.y, remove test.y"},
	{"test", `{mapReduce: "x", map: "m", reduce: "r", out: {replace: "y", db: "other"}, bypassDocumentValidation: true}`, "find test.x, insert other.y, remove other.y, bypassDocumentValidation other.y"},
	{"test", `{mapReduce: "x", map: "m", reduce: "r", out: {normal: "y"}}`, "find test.x, insert test.y, remove test.y"},
	{"test", `{mapReduce: "x", map: "m", reduce: "r", out: {reduce: "y"}}`, "find test.x, insert test.y, update test.y, find test.y"},
	{"test", `{mapReduce: "x", map: "m", reduce: "r", out: {merge: "y", db: "other"}}`, "find test.x, insert other.y, update other.y"},
	{"test", `{filemd5: 1, root: "fs"}`, "find test.fs.chunks"},
	{"test", `{dataSize: "other.x"}`, "find other.x"},
	{"test", `{dbHash: 1}`, "dbHash test"},
	{"test", `{collStats: "x"}`, "collStats test.x"},
	{"test", `{dbStats: 1}`, "dbStats test"},
	{"test", `{explainExpiry: "x", _id: 1}`, "find test.x"},
	{"test", `{expirationStats: "x"}`, "collStats test.x"},
	{"test", `{expirationStats: 1}`, "collStats test"},
	{"test", `{validate: "x"}`, "validate test.x"},
	{"admin", `{validateDBMetadata: 1, apiParameters: {version: "1"}, db: "test"}`, "validate test"},
	{"test", `{validateDBMetadata: 1, apiParameters: {version: "1"}}`, "validate any"},
	{"test", `{listCollections: 1}`, "listCollections test"},
	{"test", `{listIndexes: "x"}`, "listIndexes test.x"},
	{"test", `{listSearchIndexes: "x"}`, "listSearchIndexes test.x"},
	{"test", `{planCacheListFilters: "x"}`, "planCacheIndexFilter test.x"},
	{"test", `{mqPeek: "q"}`, "find test.q"},
	{"test", `{mqPurge: "q", dryRun: true}`, "find test.q"},
	{"test", `{mqStats: "q"}`, "collStats test.q"},
	{"test", `{mqGetSessionState: "q"}`, "find test.q"},
	{"test", `{mqSessions: "q"}`, "find test.q"},
}

var sweepWrites = []touches{
	{"test", `{insert: "x", documents: [{}]}`, "insert test.x"},
	{"test", `{insert: "x", documents: [{}], bypassDocumentValidation: true}`, "insert test.x, bypassDocumentValidation test.x"},
	{"admin", `{insert: "system.users", documents: [{}]}`, "insert admin.system.users"},
	{"test", `{update: "x", updates: [{q: {}, u: {}}]}`, "update test.x"},
	{"test", `{update: "x", updates: [{q: {}, u: {}}, {q: {}, u: {}, upsert: true}], bypassDocumentValidation: true}`, "update test.x, insert test.x, bypassDocumentValidation test.x"},
	{"test", `{delete: "x", deletes: [{q: {}, limit: 0}]}`, "remove test.x"},
	{"test", `{findAndModify: "x", update: {}}`, "find test.x, update test.x"},
	{"test", `{findAndModify: "x", update: {}, upsert: true, bypassDocumentValidation: true}`, "find test.x, update test.x, insert test.x, bypassDocumentValidation test.x"},
	{"test", `{findAndModify: "x", remove: true}`, "find test.x, remove test.x"},
	{"admin", `{bulkWrite: 1, ops: [{insert: 0, document: {}}, {delete: 1, filter: {}}, {update: 1, filter: {}, updateMods: {}, upsert: true}], nsInfo: [{ns: "test.x"}, {ns: "other.y"}]}`, "insert test.x, remove other.y, update other.y, insert other.y"},
	{"admin", `{bulkWrite: 1, ops: [{update: 0, filter: {}, updateMods: {}}], nsInfo: [{ns: "test.x"}], bypassDocumentValidation: true}`, "update test.x, bypassDocumentValidation test.x"},
	{"admin", `{applyOps: [{op: "i", ns: "test.x", o: {}}, {op: "d", ns: "test.y", o: {}}, {op: "u", b: true, ns: "other.z", o2: {}, o: {}}]}`, "applyOps cluster, insert test.x, remove test.y, update other.z, insert other.z"},
	{"admin", `{applyOps: [{op: "c", ns: "test.$cmd", o: {drop: "x"}}, {op: "n", ns: "", o: {}}]}`, "applyOps cluster, dropCollection test.x, appendOplogNote cluster"},
	{"test", `{mqSend: "q"}`, "insert test.q"},
	{"test", `{mqReceive: "q"}`, "find test.q, remove test.q"},
	{"test", `{mqReceive: "q", subQueue: "deadLetter"}`, "find test.q, remove test.q"},
	{"test", `{mqAcceptSession: "q"}`, "find test.q, remove test.q"},
	{"test", `{mqRenewSession: "q"}`, "update test.q"},
	{"test", `{mqReleaseSession: "q"}`, "update test.q"},
	{"test", `{mqSetSessionState: "q"}`, "update test.q"},
	{"test", `{mqPurge: "q"}`, "remove test.q"},
	{"test", `{mqRestore: "q", messages: [{a: 1}]}`, "bypassDocumentValidation test.q, insert test.q"},
	{"test", `{mqResubmit: "q", all: true}`, "insert test.q, remove test.q"},
	{"test", `{mqComplete: "q"}`, "remove test.q"},
	{"test", `{mqAbandon: "q"}`, "update test.q"},
	{"test", `{mqDefer: "q"}`, "update test.q"},
	{"test", `{mqDeadLetter: "q"}`, "remove test.q"},
	{"test", `{mqRenewLock: "q"}`, "update test.q"},
	{"test", `{mqCancelScheduled: "q"}`, "remove test.q"},
}

var sweepCatalog = []touches{
	{"test", `{create: "x"}`, "createCollection test.x, -insert"},
	{"test", `{create: "x"}`, "insert test.x, -createCollection"},
	{"test", `{create: "x", capped: true, size: 4096}`, "createCollection test.x, convertToCapped test.x, -insert"},
	{"test", `{create: "x", onExpire: {deadLetterTo: "y"}}`, "createCollection test.x, insert test.y, -insert"},
	{"test", `{create: "x", onExpire: {deadLetterTo: "y"}}`, "createCollection test.x, insert test.y, =find test.y, find test.x, -insert"}, // else one could come to read x
	{"test", `{create: "s", messageSubscription: {topic: "t"}}`, "createCollection test.s, -insert"},
	{"test", `{create: "s", messageSubscription: {topic: "t"}}`, "createCollection test.s, =find test.s, find test.t, -insert"}, // else one could come to read t
	{"test", `{create: "s", messageSubscription: {topic: "t"}}`, "createCollection test.s, =find test.s.deadletterqueue, find test.t, -insert"},
	{"test", `{collMod: "far", messageSubscription: {lockDuration: 5}}`, "collMod test.far, =find test.far"},
	{"test", `{collMod: "far", messageSubscription: {rules: []}}`, "collMod test.far"},
	{"test", `{collMod: "far", messageSubscription: {rules: []}}`, "collMod test.far, =find test.far, find test.news"},
	{"test", `{collMod: "far", messageSubscription: {deadLetteringOnFilterEvaluationExceptions: true}}`, "collMod test.far, =find test.far.deadletterqueue, find test.news"},
	{"test", `{create: "q", messageQueue: {forwardTo: "y"}}`, "createCollection test.q, insert test.y, -insert"},
	{"test", `{collMod: "q", messageQueue: {forwardTo: "news"}}`, "collMod test.q, insert test.news, =find test.far, find test.q"}, // who reads a subscription of the topic
	{"test", `{create: "x", onExpire: {deadLetterTo: "news"}}`, "createCollection test.x, insert test.news, =find test.far, find test.x, -insert"},
	{"admin", `{renameCollection: "test.far", to: "test.y"}`, "renameCollectionSameDB test, =find test.y.deadletterqueue, find test.far, -insert"},
	{"test", `{collMod: "q", messageQueue: {forwardDeadLetteredMessagesTo: "y"}}`, "collMod test.q, insert test.y"},
	{"test", `{collMod: "q", messageQueue: {forwardTo: "y"}}`, "collMod test.q, insert test.y, =find test.y, find test.q"},
	{"test", `{create: "v", viewOn: "x", pipeline: []}`, "createCollection test.v"}, // who may not read v
	{"test", `{create: "v", viewOn: "x", pipeline: [{$lookup: {from: "y", as: "j", pipeline: [{$unionWith: "z"}]}}]}`, "createCollection test.v, =find test.v, find test.x, find test.y, find test.z"},
	{"test", `{collMod: "x"}`, "collMod test.x"},
	{"test", `{collMod: "x", onExpire: {deadLetterTo: "y"}}`, "collMod test.x, insert test.y"},
	{"test", `{collMod: "x", onExpire: {deadLetterTo: "y"}}`, "collMod test.x, insert test.y, =find test.y, find test.x"},
	{"admin", `{renameCollection: "test.moves", to: "other.y"}`, "find test.moves, dropCollection test.moves, insert other.y, createIndex other.y, insert other.dead"},
	{"test", `{collMod: "v", viewOn: "x", pipeline: [{$graphLookup: {from: "y", as: "j"}}]}`, "collMod test.v, =find test.v, find test.x, find test.y"},
	{"test", `{drop: "x"}`, "dropCollection test.x"},
	{"test", `{dropDatabase: 1}`, "dropDatabase test"},
	{"admin", `{renameCollection: "test.x", to: "test.y"}`, "find test.x, dropCollection test.x, insert test.y, createIndex test.y, -renameCollectionSameDB"},
	{"admin", `{renameCollection: "test.x", to: "test.y", dropTarget: true}`, "renameCollectionSameDB test, dropCollection test.y, -find"},
	{"admin", `{renameCollection: "test.x", to: "test.y"}`, "renameCollectionSameDB test, =find test.y, find test.x, -insert"}, // else one could come to read x
	{"admin", `{renameCollection: "test.x", to: "other.y", dropTarget: true}`, "find test.x, dropCollection test.x, dropCollection other.y, insert other.y, createIndex other.y"},
	{"test", `{convertToCapped: "x", size: 4096}`, "convertToCapped test.x"},
	{"test", `{cloneCollectionAsCapped: "x", toCollection: "y", size: 4096}`, "find test.x, insert test.y, createIndex test.y, convertToCapped test.y"},
	{"test", `{createIndexes: "x", indexes: []}`, "createIndex test.x"},
	{"test", `{setIndexCommitQuorum: "x"}`, "createIndex test.x"},
	{"test", `{dropIndexes: "x", index: "*"}`, "dropIndex test.x"},
	{"test", `{reIndex: "x"}`, "reIndex test.x"},
	{"test", `{compact: "x"}`, "compact test.x"},
	{"admin", `{autoCompact: true}`, "compact cluster"},
	{"test", `{createSearchIndexes: "x"}`, "createSearchIndexes test.x"},
	{"test", `{updateSearchIndex: "x"}`, "updateSearchIndex test.x"},
	{"test", `{dropSearchIndex: "x"}`, "dropSearchIndex test.x"},
	{"test", `{compactStructuredEncryptionData: "x"}`, "compactStructuredEncryptionData test.x"},
	{"test", `{cleanupStructuredEncryptionData: "x"}`, "cleanupStructuredEncryptionData test.x"},
	{"test", `{planCacheClear: "x"}`, "planCacheWrite test.x"},
	{"test", `{planCacheClearFilters: "x"}`, "planCacheIndexFilter test.x"},
	{"test", `{planCacheSetFilter: "x"}`, "planCacheIndexFilter test.x"},
	{"test", `{profile: 1}`, "enableProfiler test"},
	{"test", `{profile: -1}`, "find test.system.profile, -enableProfiler"},
	{"test", `{customAction: "CreateCollection", collection: "x"}`, "createCollection test.x, createIndex test.x"},
	{"test", `{customAction: "UpdateCollection", collection: "x"}`, "collMod test.x, createIndex test.x, dropIndex test.x"},
	{"test", `{customAction: "GetCollection", collection: "x"}`, "collStats test.x"},
	{"test", `{customAction: "GetCollection", collection: "x", showIndexes: true}`, "collStats test.x, listIndexes test.x"},
	{"test", `{customAction: "CreateDatabase"}`, "createCollection test"},
	{"test", `{customAction: "UpdateDatabase"}`, "collMod test"},
	{"test", `{customAction: "GetDatabase"}`, "dbStats test"},
}

var sweepCluster = []touches{
	{"admin", `{analyzeShardKey: "test.x"}`, "analyzeShardKey cluster"},
	{"admin", `{appendOplogNote: 1}`, "appendOplogNote cluster"},
	{"admin", `{cleanupOrphaned: "test.x"}`, "cleanupOrphaned cluster"},
	{"admin", `{configureQueryAnalyzer: "test.x"}`, "configureQueryAnalyzer cluster"},
	{"admin", `{connPoolStats: 1}`, "connPoolStats cluster"},
	{"admin", `{coordinateCommitTransaction: 1}`, "internal cluster"},
	{"admin", `{prepareTransaction: 1}`, "internal cluster"},
	{"admin", `{currentOp: 1}`, "inprog cluster"},
	{"admin", `{killOp: 1, op: 7}`, "killop cluster"},
	{"admin", `{dropConnections: 1}`, "dropConnections cluster"},
	{"admin", `{duskBackup: 1, path: "/x"}`, "fsync cluster"},
	{"admin", `{duskBackup: 1, stream: true}`, "fsync cluster, find any, find buckets, find local, find config, find admin.system.users"},
	{"admin", `{flushRouterConfig: 1}`, "flushRouterConfig cluster"},
	{"admin", `{fsync: 1}`, "fsync cluster"},
	{"admin", `{fsyncUnlock: 1}`, "unlock cluster"},
	{"admin", `{getAuditConfig: 1}`, "auditConfigure cluster"},
	{"admin", `{setAuditConfig: 1}`, "auditConfigure cluster"},
	{"admin", `{getClusterParameter: "*"}`, "getClusterParameter cluster"},
	{"admin", `{setClusterParameter: {}}`, "setClusterParameter cluster"},
	{"admin", `{getCmdLineOpts: 1}`, "getCmdLineOpts cluster"},
	{"admin", `{getDefaultRWConcern: 1}`, "getDefaultRWConcern cluster"},
	{"admin", `{setDefaultRWConcern: 1}`, "setDefaultRWConcern cluster"},
	{"admin", `{getLog: "global"}`, "getLog cluster"},
	{"admin", `{getParameter: "*"}`, "getParameter cluster"},
	{"admin", `{setParameter: 1}`, "setParameter cluster"},
	{"admin", `{getShardMap: 1}`, "getShardMap cluster"},
	{"admin", `{getShardVersion: 1}`, "getShardVersion cluster"},
	{"test", `{hostInfo: 1}`, "hostInfo cluster"},
	{"admin", `{killAllSessions: []}`, "killAnySession cluster"},
	{"admin", `{killAllSessionsByPattern: []}`, "killAnySession cluster"},
	{"admin", `{getDiagnosticData: 1}`, "serverStatus cluster, replSetGetStatus cluster, collStats local.oplog.rs"},
	{"admin", `{lockInfo: 1}`, "serverStatus cluster"},
	{"admin", `{logApplicationMessage: "m"}`, "applicationMessage cluster"},
	{"admin", `{logRotate: 1}`, "logRotate cluster"},
	{"admin", `{setQuerySettings: {}}`, "querySettings cluster"},
	{"admin", `{removeQuerySettings: {}}`, "querySettings cluster"},
	{"admin", `{replSetFreeze: 1}`, "replSetStateChange cluster"},
	{"admin", `{replSetGetConfig: 1}`, "replSetGetConfig cluster"},
	{"admin", `{replSetGetStatus: 1}`, "replSetGetStatus cluster"},
	{"admin", `{replSetInitiate: {}}`, "replSetConfigure cluster"},
	{"admin", `{replSetMaintenance: 1}`, "replSetStateChange cluster"},
	{"admin", `{replSetReconfig: {}}`, "replSetConfigure cluster"},
	{"admin", `{replSetResizeOplog: 1}`, "replSetResizeOplog cluster"},
	{"admin", `{replSetStepDown: 1}`, "replSetStateChange cluster"},
	{"admin", `{replSetSyncFrom: "x"}`, "replSetStateChange cluster"},
	{"admin", `{rotateCertificates: 1}`, "rotateCertificates cluster"},
	{"admin", `{runExpirationPass: 1}`, "setParameter cluster"},
	{"admin", `{testClock: 1}`, "setParameter cluster"},
	{"test", `{serverStatus: 1}`, "serverStatus cluster"},
	{"admin", `{setFeatureCompatibilityVersion: "8.0"}`, "setFeatureCompatibilityVersion cluster"},
	{"admin", `{setUserWriteBlockMode: 1}`, "setUserWriteBlockMode cluster"},
	{"admin", `{shardingState: 1}`, "shardingState cluster"},
	{"admin", `{shutdown: 1}`, "shutdown cluster"},
	{"admin", `{top: 1}`, "top cluster"},
	{"admin", `{listDatabases: 1, authorizedDatabases: false}`, "listDatabases cluster"},
	{"admin", `{invalidateUserCache: 1}`, "invalidateUserCache cluster"},
}

var sweepUsers = []touches{
	{"test", `{createUser: "u", pwd: "p", roles: ["read", {role: "read", db: "other"}], authenticationRestrictions: []}`, "createUser test, grantRole test, grantRole other, setAuthenticationRestriction test"},
	{"test", `{updateUser: "u", pwd: "p", customData: {}}`, "changePassword test, changeCustomData test"},
	{"test", `{updateUser: "u", roles: ["read"]}`, "revokeRole any, grantRole test"},
	{"test", `{dropUser: "u"}`, "dropUser test"},
	{"test", `{dropAllUsersFromDatabase: 1}`, "dropUser test"},
	{"test", `{grantRolesToUser: "u", roles: [{role: "read", db: "other"}]}`, "grantRole other"},
	{"test", `{revokeRolesFromUser: "u", roles: [{role: "read", db: "other"}]}`, "revokeRole other"},
	{"test", `{usersInfo: 1}`, "viewUser test"},
	{"test", `{usersInfo: {user: "u", db: "other"}}`, "viewUser other"},
	{"test", `{usersInfo: {forAllDBs: true}}`, "viewUser cluster"},
	{"test", `{createRole: "r", roles: [{role: "read", db: "other"}], privileges: [{resource: {db: "third", collection: "x"}, actions: ["find"]}]}`, "createRole test, grantRole other, grantRole third"},
	{"test", `{createRole: "r", roles: [], privileges: [{resource: {cluster: true}, actions: ["shutdown"]}]}`, "createRole test, grantRole admin"},
	{"test", `{updateRole: "r", roles: [{role: "read", db: "other"}]}`, "revokeRole any, grantRole other"},
	{"test", `{updateRole: "r", privileges: [{resource: {db: "third", collection: ""}, actions: ["find"]}]}`, "revokeRole any, grantRole third"},
	{"test", `{dropRole: "r"}`, "dropRole test"},
	{"test", `{dropAllRolesFromDatabase: 1}`, "dropRole test"},
	{"test", `{grantRolesToRole: "r", roles: [{role: "read", db: "other"}]}`, "grantRole other"},
	{"test", `{revokeRolesFromRole: "r", roles: [{role: "read", db: "other"}]}`, "revokeRole other"},
	{"test", `{grantPrivilegesToRole: "r", privileges: [{resource: {db: "other", collection: ""}, actions: ["find"]}]}`, "grantRole other"},
	{"test", `{grantPrivilegesToRole: "r", privileges: [{resource: {anyResource: true}, actions: ["find"]}]}`, "grantRole admin"},
	{"test", `{revokePrivilegesFromRole: "r", privileges: [{resource: {db: "other", collection: ""}, actions: ["find"]}]}`, "revokeRole other"},
	{"test", `{rolesInfo: 1}`, "viewRole test"},
	{"test", `{rolesInfo: {role: "r", db: "other"}}`, "viewRole other"},
	{"admin", `{_mergeAuthzCollections: 1, tempUsersCollection: "admin.tmp", db: "", drop: false}`, "createUser any, createRole any, grantRole any, revokeRole any, find admin.tmp"},
	{"admin", `{_mergeAuthzCollections: 1, tempRolesCollection: "other.tmp", db: "", drop: true}`, "createUser any, createRole any, grantRole any, revokeRole any, dropUser any, dropRole any, find other.tmp"},
}

// sweepOpen are commands that access only the client's own objects, or that check
// their arguments themselves: other tests use them on the objects of other users.
var sweepOpen = []touches{
	{"admin", `{abortTransaction: 1}`, ""},
	{"admin", `{commitTransaction: 1}`, ""},
	{"test", `{availableQueryOptions: 1}`, ""},
	{"test", `{features: 1}`, ""},
	{"test", `{whatsmysni: 1}`, ""},
	{"test", `{buildInfo: 1}`, ""},
	{"test", `{startSession: 1}`, ""},
	{"test", `{endSessions: []}`, ""},
	{"test", `{refreshSessions: []}`, ""},                             // TestSessionsOfUsers
	{"test", `{killSessions: []}`, ""},                                // TestSessionsOfUsers
	{"test", `{getMore: {$numberLong: "1"}, collection: "x"}`, ""},    // TestGetMoreAsksAgain
	{"test", `{killCursors: "x", cursors: [{$numberLong: "1"}]}`, ""}, // TestKillCursorsOfOthers
	{"admin", `{currentOp: 1, $ownOps: true}`, ""},                    // TestIdleOps
	{"admin", `{listDatabases: 1}`, ""},                               // TestListingsShowWhatMayBeUsed
	{"admin", `{expirationStats: 1}`, ""},                             // TestForecastShowsWhatMayBeUsed
	{"test", `{explain: {}}`, ""},                                     // the command refuses it
	{"admin", `{bulkWrite: 1, ops: [{insert: 0}], nsInfo: []}`, ""},   // the command refuses it
}

var sweepStages = append([]touches{
	{"test", `{aggregate: "x", pipeline: [{$changeStream: {}}]}`, "find test.x, changeStream test.x"},
	{"test", `{aggregate: "x", pipeline: [{$changeStream: {}}, {$changeStreamSplitLargeEvent: {}}]}`, "find test.x, changeStream test.x"},
	{"test", `{aggregate: 1, pipeline: [{$changeStream: {}}]}`, "find test, changeStream test"},
	{"admin", `{aggregate: 1, pipeline: [{$changeStream: {allChangesForCluster: true}}]}`, "find any, changeStream any"},
	{"test", `{aggregate: "x", pipeline: [{$collStats: {}}]}`, "collStats test.x"},
	{"admin", `{aggregate: 1, pipeline: [{$currentOp: {}}]}`, ""},
	{"admin", `{aggregate: 1, pipeline: [{$currentOp: {idleCursors: true, allUsers: true}}]}`, "inprog cluster"},
	{"test", `{aggregate: 1, pipeline: [{$documents: []}]}`, ""},
	{"test", `{aggregate: 1, pipeline: [{$documents: []}, {$lookup: {from: "x", as: "j", pipeline: []}}]}`, "find test.x"},
	{"test", `{aggregate: "x", pipeline: [{$facet: {a: [{$lookup: {from: "y", as: "j", localField: "a", foreignField: "a"}}], b: [{$unionWith: "z"}]}}]}`, "find test.x, find test.y, find test.z"},
	{"test", `{aggregate: "x", pipeline: [{$graphLookup: {from: "y", as: "j"}}]}`, "find test.x, find test.y"},
	{"test", `{aggregate: "x", pipeline: [{$indexStats: {}}]}`, "indexStats test.x"},
	{"test", `{aggregate: 1, pipeline: [{$listClusterCatalog: {}}]}`, "listCollections test"},
	{"test", `{aggregate: "x", pipeline: [{$listCatalog: {}}]}`, "listCollections test.x, listIndexes test.x"},
	{"admin", `{aggregate: 1, pipeline: [{$listCatalog: {}}]}`, "listDatabases cluster, listCollections any, listIndexes any, listCollections *.system.js, listIndexes *.system.js, listCollections buckets, listIndexes buckets"},
	{"test", `{aggregate: 1, pipeline: [{$listLocalSessions: {}}]}`, ""},
	{"test", `{aggregate: 1, pipeline: [{$listLocalSessions: {allUsers: true}}]}`, "listSessions cluster"},
	{"test", `{aggregate: 1, pipeline: [{$listLocalSessions: {users: [{user: "eve", db: "admin"}]}}]}`, "listSessions cluster"},
	{"config", `{aggregate: "system.sessions", pipeline: [{$listSessions: {}}]}`, ""},
	{"config", `{aggregate: "system.sessions", pipeline: [{$listSessions: {allUsers: true}}]}`, "listSessions cluster"},
	{"admin", `{aggregate: 1, pipeline: [{$listSampledQueries: {}}]}`, "listSampledQueries cluster"},
	{"test", `{aggregate: "x", pipeline: [{$lookup: {from: "y", as: "j", pipeline: [{$lookup: {from: "z", as: "k", pipeline: []}}]}}]}`, "find test.x, find test.y, find test.z"},
	{"test", `{aggregate: "x", pipeline: [{$lookup: {from: {db: "other", coll: "y"}, as: "j", localField: "a", foreignField: "a"}}]}`, "find test.x, find other.y"},
	{"test", `{aggregate: "x", pipeline: [{$lookup: {from: "y", as: "j", pipeline: [{$collStats: {}}]}}]}`, "find test.x, collStats test.y"},
	{"test", `{aggregate: "x", pipeline: [{$lookup: {as: "j", pipeline: [{$documents: []}, {$unionWith: "y"}]}}]}`, "find test.x, find test.y"},
	{"test", `{aggregate: "x", pipeline: [{$merge: "y"}]}`, "find test.x, insert test.y, update test.y"},
	{"test", `{aggregate: "x", pipeline: [{$merge: {into: {db: "other", coll: "y"}, whenMatched: "fail"}}]}`, "find test.x, insert other.y"},
	{"test", `{aggregate: "x", pipeline: [{$merge: {into: "y", whenMatched: [], whenNotMatched: "discard"}}], bypassDocumentValidation: true}`, "find test.x, update test.y, bypassDocumentValidation test.y"},
	{"test", `{aggregate: "x", pipeline: [{$merge: {into: "y", whenNotMatched: null}}]}`, "find test.x, insert test.y, update test.y"},
	{"test", `{aggregate: "x", pipeline: [{$out: "y"}], bypassDocumentValidation: true}`, "find test.x, insert test.y, remove test.y, bypassDocumentValidation test.y"},
	{"test", `{aggregate: "x", pipeline: [{$out: {db: "other", coll: "y"}}]}`, "find test.x, insert other.y, remove other.y"},
	{"test", `{aggregate: "x", pipeline: [{$planCacheStats: {}}]}`, "planCacheRead test.x"},
	{"admin", `{aggregate: 1, pipeline: [{$querySettings: {}}]}`, "querySettings cluster"},
	{"test", `{aggregate: "x", pipeline: [{$rankFusion: {input: {pipelines: {p: [{$sort: {a: 1}}], q: [{$sort: {b: 1}}]}}}}]}`, "find test.x"},
	{"test", `{aggregate: "x", pipeline: [{$score: {score: "$a"}}]}`, "find test.x"},
	{"test", `{aggregate: "x", pipeline: [{$scoreFusion: {input: {pipelines: {p: [{$score: {score: "$a"}}], q: [{$score: {score: "$b"}}]}, normalization: "none"}}}]}`, "find test.x"},
	{"admin", `{aggregate: 1, pipeline: [{$queryStats: {}}]}`, "queryStatsRead cluster"},
	{"admin", `{aggregate: 1, pipeline: [{$queryStats: {transformIdentifiers: {algorithm: "hmac-sha-256", hmacKey: {$binary: {base64: "QUE=", subType: "08"}}}}}]}`, "queryStatsReadTransformed cluster"},
	{"test", `{aggregate: "x", pipeline: [{$unionWith: "y"}]}`, "find test.x, find test.y"},
	{"test", `{aggregate: "x", pipeline: [{$unionWith: {coll: "y", pipeline: [{$lookup: {from: "z", as: "j", pipeline: []}}]}}]}`, "find test.x, find test.y, find test.z"},
}, plainStages()...)

// plainStages are the stages that use only their input.
func plainStages() (list []touches) {
	for _, name := range strings.Fields(`$addFields $bucket $bucketAuto $count $densify $fill $geoNear $group $limit $match $project $redact
		$replaceRoot $replaceWith $sample $set $setWindowFields $skip $sort $sortByCount $unset $unwind`) {
		list = append(list, touches{"test", `{aggregate: "x", pipeline: [{` + name + `: {}}]}`, "find test.x"})
	}
	return list
}
