package growth

import "strings"

// steady are commands that run once, on a server with n documents, collections, databases,
// cursors, sessions, users and roles. After "name" may stand a database.
const steady = `
	_isSelf admin: {_isSelf: 1} | abortReshardCollection! admin: {abortReshardCollection: "test.docs"} | abortTransaction! admin: {abortTransaction: 1} | addShard! admin: {addShard: "x"} | addShardToZone! admin: {addShardToZone: "x", zone: "z"}
	aggregate test: {aggregate: "docs", pipeline: [], cursor: {batchSize: 1000000}} | analyzeShardKey! admin: {analyzeShardKey: "test.docs", key: {v: 1}} | appendOplogNote! admin: {appendOplogNote: 1, data: {y: 1}} | authenticate! admin: {authenticate: 1, mechanism: "MONGODB-X509"}
	autoCompact admin: {autoCompact: false} | availableQueryOptions test: {availableQueryOptions: 1} | balancerCollectionStatus! admin: {balancerCollectionStatus: "test.docs"} | balancerStart! admin: {balancerStart: 1} | balancerStatus! admin: {balancerStatus: 1} | balancerStop! admin: {balancerStop: 1} | buildInfo admin: {buildInfo: 1}
	checkMetadataConsistency! test: {checkMetadataConsistency: 1} | cleanupOrphaned! admin: {cleanupOrphaned: "test.docs"} | cleanupReshardCollection! admin: {cleanupReshardCollection: "test.docs"} | cleanupStructuredEncryptionData! test: {cleanupStructuredEncryptionData: "docs"} | clearJumboFlag! admin: {clearJumboFlag: "test.docs"}
	collMod test: {collMod: "docs", index: {name: "v", hidden: false}} | collStats test: {collStats: "docs"} | commitReshardCollection! admin: {commitReshardCollection: "test.docs"} | commitTransaction! admin: {commitTransaction: 1} | compactStructuredEncryptionData! test: {compactStructuredEncryptionData: "docs"}
	configureCollectionBalancing! admin: {configureCollectionBalancing: "test.docs"} | configureFailPoint admin: {configureFailPoint: "failCommand", mode: "off", data: {}} | configureQueryAnalyzer! admin: {configureQueryAnalyzer: "test.docs", mode: "off"} | connPoolStats admin: {connPoolStats: 1} | connectionStatus admin: {connectionStatus: 1, showPrivileges: true}
	coordinateCommitTransaction! admin: {coordinateCommitTransaction: 1} | count test: {count: "docs", query: {x: {$gt: 3}}} | count test: {count: "docs"} | createSearchIndexes! test: {createSearchIndexes: "docs", indexes: []} | currentOp admin: {currentOp: 1, $all: true} | customAction test: {customAction: "GetCollection", collection: "docs"} | dataSize test: {dataSize: "test.docs"} | dbHash test: {dbHash: 1} | dbStats test: {dbStats: 1}
	distinct test: {distinct: "docs", key: "x"} | distinct test: {distinct: "docs", key: "v"} | distinct test: {distinct: "one", key: "r"} | dropConnections admin: {dropConnections: 1, hostAndPort: ["x:1"]} | dropSearchIndex! test: {dropSearchIndex: "docs", name: "x"} | enableSharding! admin: {enableSharding: "test"} | expirationStats admin: {expirationStats: 1} | expirationStats test: {expirationStats: "docs"}
	explain test: {explain: {find: "docs", filter: {x: {$gt: 3}}}, verbosity: "executionStats"} | explain test: {explain: {find: "docs", filter: {$or: [<<{v: #i}>>]}}, verbosity: "queryPlanner"} | explain test: {explain: {find: "docs", filter: {$and: [<<{y#i: 1}>>]}}, verbosity: "queryPlanner"} | explainExpiry test: {explainExpiry: "docs", _id: 1} | explainExpiry test: {explainExpiry: "docs", policy: {key: {v: 1}, expireAfterSeconds: 1}} | features admin: {features: 1} | find test: {find: "docs", batchSize: 1000000} | find test: {find: "docs", projection: {<<y#i: 0>>}, limit: 1} | find test: {find: "docs", projection: {<<y#i: 1>>}, limit: 1} | find test: {find: "one", projection: {<<"o.f#i": 1>>}}
	find test: {find: "docs", sort: {x: -1}, batchSize: 1000000} | find test: {find: "docs", filter: {v: {$gt: -1}}, sort: {v: -1}, skip: #h, batchSize: 1000000} | find test: {find: "docs", min: {v: 0}, hint: {v: 1}, returnKey: true, batchSize: 1000000} | flushRouterConfig admin: {flushRouterConfig: 1} | fsync admin: {fsync: 1} | getAuditConfig! admin: {getAuditConfig: 1} | getClusterParameter admin: {getClusterParameter: "*"} | getCmdLineOpts admin: {getCmdLineOpts: 1} | getDefaultRWConcern! admin: {getDefaultRWConcern: 1} | getDiagnosticData admin: {getDiagnosticData: 1}
	getLog admin: {getLog: "global"} | getParameter admin: {getParameter: "*"} | getShardMap! admin: {getShardMap: 1} | getShardVersion! admin: {getShardVersion: "test.docs"} | hello admin: {hello: 1} | hostInfo admin: {hostInfo: 1} | invalidateUserCache admin: {invalidateUserCache: 1} | isMaster admin: {isMaster: 1} | isdbgrid! admin: {isdbgrid: 1} | killOp admin: {killOp: 1, op: 1} | listCollections test: {listCollections: 1, cursor: {batchSize: 1000000}} | listCollections test: {listCollections: 1, nameOnly: true, filter: {name: "c1"}} | listCommands admin: {listCommands: 1}
	listDatabases admin: {listDatabases: 1} | listDatabases admin: {listDatabases: 1, nameOnly: true} | listIndexes test: {listIndexes: "docs"} | listSearchIndexes! test: {listSearchIndexes: "docs"} | listShards! admin: {listShards: 1} | lockInfo admin: {lockInfo: 1} | logApplicationMessage admin: {logApplicationMessage: "m"} | logRotate admin: {logRotate: 1} | logout admin: {logout: 1} | mergeAllChunksOnShard! admin: {mergeAllChunksOnShard: "test.docs", shard: "x"} | mergeChunks! admin: {mergeChunks: "test.docs", bounds: []} | moveChunk! admin: {moveChunk: "test.docs"} | moveCollection! admin: {moveCollection: "test.docs", toShard: "x"} | movePrimary! admin: {movePrimary: "test"} | moveRange! admin: {moveRange: "test.docs"}
	ping admin: {ping: 1} | planCacheClear test: {planCacheClear: "docs"} | planCacheClearFilters test: {planCacheClearFilters: "docs"} | planCacheListFilters test: {planCacheListFilters: "docs"} | prepareTransaction! admin: {prepareTransaction: 1} | profile test: {profile: -1} | reapLogicalSessionCacheNow admin: {reapLogicalSessionCacheNow: 1} | refineCollectionShardKey! admin: {refineCollectionShardKey: "test.docs", key: {v: 1}} | refreshLogicalSessionCacheNow admin: {refreshLogicalSessionCacheNow: 1} | removeQuerySettings! admin: {removeQuerySettings: {}} | removeShard! admin: {removeShard: "x"} | removeShardFromZone! admin: {removeShardFromZone: "x", zone: "z"}
	replSetFreeze! admin: {replSetFreeze: 0} | replSetGetConfig! admin: {replSetGetConfig: 1} | replSetGetStatus! admin: {replSetGetStatus: 1} | replSetInitiate! admin: {replSetInitiate: {}} | replSetMaintenance! admin: {replSetMaintenance: 0} | replSetReconfig! admin: {replSetReconfig: {}} | replSetResizeOplog admin: {replSetResizeOplog: 1, minRetentionHours: {$numberDouble: "1.0"}} | replSetStepDown! admin: {replSetStepDown: 1} | replSetSyncFrom! admin: {replSetSyncFrom: "x"} | reshardCollection! admin: {reshardCollection: "test.docs", key: {v: 1}} | rolesInfo admin: {rolesInfo: 1, showPrivileges: true} | rolesInfo admin: {rolesInfo: [<<"r#i">>]} | rolesInfo admin: {rolesInfo: "root", showPrivileges: true}
	rotateCertificates! admin: {rotateCertificates: 1} | runExpirationPass admin: {runExpirationPass: 1} | saslContinue! admin: {saslContinue: 1, conversationId: 1, payload: ""} | saslStart! admin: {saslStart: 1, mechanism: "SCRAM-SHA-256", payload: "n,,n=u,r=abc"} | serverStatus admin: {serverStatus: 1} | setAuditConfig! admin: {setAuditConfig: 1} | setClusterParameter admin: {setClusterParameter: {changeStreamOptions: {preAndPostImages: {expireAfterSeconds: "off"}}}} | setDefaultRWConcern! admin: {setDefaultRWConcern: 1, defaultReadConcern: {level: "local"}} | setFeatureCompatibilityVersion admin: {setFeatureCompatibilityVersion: "8.2", confirm: true} | setIndexCommitQuorum! test: {setIndexCommitQuorum: "docs", indexNames: ["v"], commitQuorum: 1}
	setParameter admin: {setParameter: 1, quiet: false} | setQuerySettings! admin: {setQuerySettings: {}} | setUserWriteBlockMode admin: {setUserWriteBlockMode: 1, global: false} | shardCollection! admin: {shardCollection: "test.docs", key: {v: 1}} | shardingState admin: {shardingState: 1} | split! admin: {split: "test.docs"} | startSession admin: {startSession: 1} | testClock admin: {testClock: 1} | testDeprecation admin: {testDeprecation: 1} | testDeprecationInVersion2 admin: {testDeprecationInVersion2: 1} | testRemoval admin: {testRemoval: 1} | testVersion2 admin: {testVersion2: 1} | testVersions1And2 admin: {testVersions1And2: 1} | top admin: {top: 1} | transitionFromDedicatedConfigServer! admin: {transitionFromDedicatedConfigServer: 1}
	transitionToDedicatedConfigServer! admin: {transitionToDedicatedConfigServer: 1} | unshardCollection! admin: {unshardCollection: "test.docs"} | updateSearchIndex! test: {updateSearchIndex: "docs", name: "x", definition: {}} | updateZoneKeyRange! admin: {updateZoneKeyRange: "test.docs", min: {}, max: {}, zone: null} | usersInfo admin: {usersInfo: {forAllDBs: true}} | usersInfo admin: {usersInfo: [<<{user: "u#i", db: "$external"}>>], showPrivileges: true} | validate test: {validate: "docs", full: true} | validateDBMetadata admin: {validateDBMetadata: 1, apiParameters: {version: "1", strict: true}} | waitForFailPoint admin: {waitForFailPoint: "failCommand", timesEntered: 0, maxTimeMS: 1} | whatsmysni admin: {whatsmysni: 1} | whatsmyuri admin: {whatsmyuri: 1}`

// exempt are the commands without a case, with the reason.
var exempt = map[string]string{
	"shutdown":    "ends the server",
	"fsyncUnlock": "releases the lock that fsync takes with lock: true; every other command would wait",
}

func commandCases() []growth {
	var list []growth
	for _, spec := range specs(steady) {
		name, run, _ := strings.Cut(spec, " ")
		run = strings.TrimPrefix(run, "test: ")
		short, fails := strings.CutSuffix(name, "!")
		list = append(list, growth{name: short + " state " + run, run: run, fails: fails})
	}
	return append(list, changingCommands...)
}

const (
	session = `lsid: {id: {$uuid: "10000000-0000-4000-8000-#u"}}`
	retry   = `lsid: {id: {$uuid: "20000000-0000-4000-8000-000000000000"}}, txnNumber: NUMBER`
	open    = `lsid: {id: {$uuid: "30000000-0000-4000-8000-000000000000"}}, autocommit: false, txnNumber: NUMBER`
	same    = `lsid: {id: {$uuid: "30000000-0000-4000-8000-000000000000"}}, autocommit: false, txnNumber: SAME`
)

var (
	queue     = []string{`{drop: "queue"}`, `{create: "queue", messageQueue: {}}`, `{mqSend: "queue", messages: [<<{body: #i}>>]}`}
	scheduled = append(queue[:2:2], `{mqSend: "queue", messages: [<<{_mq: {scheduledEnqueueTimeUtc: {$date: "2030-01-01T00:00:00Z"}}, body: #i}>>]}`)
	held      = append(queue[:3:3], `{mqReceive: "queue", mode: "peekLock", maxMessages: #n}`)
)

var (
	sessions  = []string{`{drop: "queue"}`, `{create: "queue", messageQueue: {requiresSession: true}}`, `{mqSend: "queue", messages: [<<{_mq: {sessionId: "s#i"}, body: #i}>>]}`}
	inSession = append(sessions[:2:2], `{mqSend: "queue", messages: [<<{_mq: {sessionId: "s"}, body: #i}>>]}`, `{mqAcceptSession: "queue"}`, `{mqReceive: "queue", maxMessages: #n, sessionToken: SESSION}`)
	topic     = []string{`fresh: {dropDatabase: 1}`, `fresh: {create: "t", messageTopic: {}}`, `fresh: {create: "s", messageSubscription: {topic: "t", rules: [<<{name: "r#i", filter: {v: #i}}>>]}}`}
)

// series makes a time series; measurements at noon share a bucket.
var series = []string{`{drop: "series"}`, `{create: "series", timeseries: {timeField: "t", metaField: "m"}}`}

const noon = `{$date: "2026-01-01T12:00:00Z"}`

// changingCommands change the data, or have n arguments.
var changingCommands = []growth{
	{name: "applyOps operations", before: manyFresh, run: `admin: {applyOps: [<<{op: "i", ns: "test.many", o: {_id: "a#i"}, o2: {_id: "a#i"}}>>]}`},
	{name: "applyOps updates", before: manyFresh, run: `admin: {applyOps: [<<{op: "u", ns: "test.many", o2: {_id: #i}, o: {$v: 2, diff: {u: {v: 7}}}}>>]}`},
	{name: "bulkWrite operations", before: manyFresh, run: `admin: {bulkWrite: 1, ops: [<<{insert: 0, document: {_id: "b#i"}}, {update: 0, filter: {_id: #i}, updateMods: {$set: {v: -1}}}, {delete: 0, filter: {_id: #i}}>>], nsInfo: [{ns: "test.many"}]}`},
	{name: "bulkWrite namespaces", run: `admin: {bulkWrite: 1, ops: [<<{update: #i, filter: {_id: 1}, updateMods: {$set: {v: -1}}}>>], nsInfo: [<<{ns: "test.c#i"}>>]}`},
	{name: "bulkWrite errors", before: manyFresh, run: `admin: {bulkWrite: 1, ordered: false, ops: [<<{insert: 0, document: {_id: #i}}>>], nsInfo: [{ns: "test.many"}]}`},
	{name: "bulkWrite retryable", before: manyFresh, run: `admin: {bulkWrite: 1, ops: [<<{update: 0, filter: {_id: "r#i"}, updateMods: {$set: {v: -1}}, upsert: true}>>], nsInfo: [{ns: "test.many"}], ` + retry + `}`},
	{name: "cloneCollectionAsCapped documents", before: []string{`{drop: "target"}`}, run: `{cloneCollectionAsCapped: "docs", toCollection: "target", size: 10000000}`},
	{name: "convertToCapped documents", before: manyFresh, run: `{convertToCapped: "many", size: 10000000}`},
	{name: "compact documents", run: `{compact: "docs"}`},
	{name: "create collections", before: []string{`fresh: {dropDatabase: 1}`}, each: true, run: `fresh: {create: "c#i"}`},
	{name: "createIndexes documents", before: manyFresh, run: `{createIndexes: "many", indexes: [{key: {v: 1}, name: "v"}, {key: {y: 1}, name: "y"}]}`},
	{name: "createIndexes indexes", limit: 60, before: []string{`{drop: "many"}`, `{insert: "many", documents: [{_id: 1}]}`}, run: `{createIndexes: "many", indexes: [<<{key: {y#i: 1}, name: "y#i"}>>]}`},
	{name: "createIndexes elements", before: []string{`{drop: "many"}`, `{insert: "many", documents: [{_id: 1, r: [<<#i>>]}]}`}, run: `{createIndexes: "many", indexes: [{key: {r: 1}, name: "r"}]}`},
	{name: "createRole privileges", before: []string{`admin: {dropAllRolesFromDatabase: 1}`}, run: `admin: {createRole: "new", privileges: [<<{resource: {db: "test", collection: "c#i"}, actions: ["find", "insert"]}>>], roles: []}`},
	{name: "createRole roles", before: roles, run: `new: {createRole: "new", privileges: [], roles: [<<"r#i">>]}`},
	{name: "createRole chain", before: []string{`new: {dropAllRolesFromDatabase: 1}`}, limit: 80, each: true, run: `new: {createRole: "r#j", privileges: [], roles: []}`},
	{name: "createUser roles", before: append(roles[:len(roles):len(roles)], `new: {dropAllUsersFromDatabase: 1}`), run: `new: {createUser: "new", pwd: "x", roles: [<<"r#i">>]}`},
	{name: "delete documents", before: manyFresh, run: `{delete: "many", deletes: [{q: {}, limit: 0}]}`},
	{name: "delete statements", before: manyFresh, run: `{delete: "many", deletes: [<<{q: {_id: #i}, limit: 1}>>]}`},
	{name: "delete retryable", before: manyFresh, run: `{delete: "many", deletes: [<<{q: {_id: #i}, limit: 1}>>], ` + retry + `}`},
	{name: "delete errors", before: manyFresh, fails: true, run: `{delete: "many", ordered: false, deletes: [<<{q: {$y: #i}, limit: 1}>>]}`},
	{name: "drop documents", before: manyFresh, run: `{drop: "many"}`},
	{name: "dropAllRolesFromDatabase roles", before: roles, run: `new: {dropAllRolesFromDatabase: 1}`},
	{name: "dropAllUsersFromDatabase users", run: `new: {dropAllUsersFromDatabase: 1}`},
	{name: "dropDatabase collections", before: []string{`fresh: {dropDatabase: 1}`, `EACH fresh: {create: "c#i"}`}, run: `fresh: {dropDatabase: 1}`},
	{name: "dropIndexes documents", before: append(manyFresh[:2:2], `{createIndexes: "many", indexes: [{key: {v: 1}, name: "v"}]}`), run: `{dropIndexes: "many", index: "*"}`},
	{name: "dropRole roles", before: roles, run: `new: {dropRole: "r0"}`},
	{name: "dropUser", run: `new: {dropUser: "nobody"}`, fails: true},
	{name: "duskBackup documents", run: `admin: {duskBackup: 1, path: "/nowhere/at/all"}`, fails: true},
	{name: "endSessions sessions", before: []string{`EACH {ping: 1, ` + session + `}`}, run: `admin: {endSessions: [<<{id: {$uuid: "10000000-0000-4000-8000-#u"}}>>]}`},
	{name: "filemd5 chunks", before: []string{`{drop: "fs.chunks"}`, `{createIndexes: "fs.chunks", indexes: [{key: {files_id: 1, n: 1}, name: "x"}]}`, `{insert: "fs.chunks", documents: [<<{files_id: 1, n: #i, data: {$binary: {base64: "AAAA", subType: "00"}}}>>]}`}, run: `{filemd5: 1, root: "fs"}`},
	{name: "find sort fields", limit: 30, run: `{find: "small", sort: {<<y#i: 1>>}, limit: 1}`},
	{name: "find measurement", before: append(series[:2:2], `{insert: "series", documents: [{t: `+noon+`, <<y#i: 1>>, o: {<<y#i: 1>>}}, {t: `+noon+`, <<y#i: 2>>, o: {<<y#i: 2>>}}]}`), run: `{find: "series", filter: {o: {$ne: 1}}}`},
	{name: "findAndModify calls", before: manyFresh, each: true, run: `{findAndModify: "many", query: {_id: #i}, update: {$set: {v: -1}}}`},
	{name: "findAndModify sort", before: manyFresh, run: `{findAndModify: "many", query: {}, sort: {v: -1}, update: {$set: {v: -1}}}`},
	{name: "findAndModify fields", before: fresh, run: `{findAndModify: "upd", query: {_id: 1}, update: {$set: {<<y#i: 1>>}}, fields: {<<z#i: 0>>}}`},
	{name: "getMore batches", before: []string{`{find: "docs", batchSize: 0}`}, each: true, run: `{getMore: CURSOR, collection: "docs", batchSize: 1}`},
	{name: "getMore of a sort", before: []string{`{find: "docs", sort: {x: -1}, batchSize: 0}`}, each: true, run: `{getMore: CURSOR, collection: "docs", batchSize: 1}`},
	{name: "grantPrivilegesToRole privileges", before: role, run: `new: {grantPrivilegesToRole: "one", privileges: [<<{resource: {db: "new", collection: "c#i"}, actions: ["find"]}>>]}`},
	{name: "grantRolesToRole roles", before: append(roles[:len(roles):len(roles)], role[1]), run: `new: {grantRolesToRole: "one", roles: [<<"r#i">>]}`},
	{name: "grantRolesToUser roles", run: `$external: {grantRolesToUser: "u0", roles: [<<{role: "r#i", db: "admin"}>>]}`, fails: true},
	{name: "insert documents", before: []string{`{drop: "many"}`}, run: `{insert: "many", documents: [<<{_id: #i}>>]}`},
	{name: "insert fields", before: []string{`{drop: "many"}`}, run: `{insert: "many", documents: [{<<y#i: 1>>}]}`},
	{name: "insert measurement", before: series, run: `{insert: "series", documents: [{t: ` + noon + `, <<y#i: 1>>}, {t: ` + noon + `, <<y#i: 2>>}]}`},
	{name: "insert measurement in parts", before: series, run: `{insert: "series", documents: [{t: ` + noon + `, o: {<<y#i: 1>>}}, {t: ` + noon + `, o: {<<y#i: 2>>}}]}`},
	{name: "insert elements", before: []string{`{drop: "many"}`, `{createIndexes: "many", indexes: [{key: {r: 1}, name: "r"}]}`}, run: `{insert: "many", documents: [{_id: 1, r: [<<#i>>]}]}`},
	{name: "insert words", before: []string{`{drop: "many"}`, `{createIndexes: "many", indexes: [{key: {r: "text"}, name: "r"}]}`}, run: `{insert: "many", documents: [{_id: 1, r: "<<word#i>>"}]}`},
	{name: "insert wildcard", before: []string{`{drop: "many"}`, `{createIndexes: "many", indexes: [{key: {"$**": 1}, name: "r"}]}`}, run: `{insert: "many", documents: [{_id: 1, <<y#i: 1>>}]}`},
	{name: "insert retryable", before: []string{`{drop: "many"}`}, run: `{insert: "many", documents: [<<{_id: #i}>>], ` + retry + `}`},
	{name: "insert errors", before: manyFresh, run: `{insert: "many", ordered: false, documents: [<<{_id: #i}>>]}`, fails: true},
	{name: "insert calls", before: []string{`{drop: "many"}`}, each: true, run: `{insert: "many", documents: [{_id: #i}]}`},
	{name: "insert transaction", before: []string{`{drop: "many"}`, `{create: "many"}`}, each: true, run: `{insert: "many", documents: [{_id: #i}], #start` + open + `}`, then: `admin: {commitTransaction: 1, ` + same + `}`},
	{name: "killAllSessions sessions", before: []string{`EACH {ping: 1, ` + session + `}`}, run: `admin: {killAllSessions: [{user: "nobody", db: "admin"}]}`},
	{name: "killAllSessionsByPattern patterns", run: `admin: {killAllSessionsByPattern: [<<{lsid: {id: {$uuid: "00000000-0000-4000-8001-#u"}, uid: {$binary: {base64: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", subType: "00"}}}}>>]}`},
	{name: "killCursors cursors", run: `{killCursors: "docs", cursors: [<<{$numberLong: "#j"}>>]}`},
	{name: "killSessions sessions", before: []string{`EACH {ping: 1, ` + session + `}`}, run: `admin: {killSessions: [<<{id: {$uuid: "10000000-0000-4000-8000-#u"}}>>]}`},
	{name: "mapReduce documents", scale: 50, run: `{mapReduce: "docs", map: "function() { emit(this.v, 1) }", reduce: "function(k, v) { return 1 }", out: {inline: 1}}`},
	{name: "mapReduce values", scale: 50, run: `{mapReduce: "docs", map: "function() { emit(1, 1) }", reduce: "function(k, v) { return Array.sum(v) }", out: {inline: 1}}`},
	{name: "_mergeAuthzCollections users", run: `admin: {_mergeAuthzCollections: 1, tempUsersCollection: "admin.nothing", tempRolesCollection: "admin.nothing", db: "", drop: false}`},
	{name: "mqAbandon messages", limit: 1000, before: held, each: true, run: `{mqAbandon: "queue", lockToken: TOKEN}`},
	{name: "mqCancelScheduled messages", before: scheduled, each: true, run: `{mqCancelScheduled: "queue", sequenceNumber: {$numberLong: "#j"}}`},
	{name: "mqComplete messages", limit: 1000, before: held, each: true, run: `{mqComplete: "queue", lockToken: TOKEN}`},
	{name: "mqDeadLetter messages", limit: 1000, before: held, each: true, run: `{mqDeadLetter: "queue", lockToken: TOKEN}`},
	{name: "mqDefer messages", limit: 1000, before: held, each: true, run: `{mqDefer: "queue", lockToken: TOKEN}`},
	{name: "mqAcceptSession sessions", before: sessions, each: true, run: `{mqAcceptSession: "queue"}`},
	{name: "mqRenewSession messages", limit: 1000, before: inSession, run: `{mqRenewSession: "queue", sessionToken: SESSION}`},
	{name: "mqReleaseSession messages", limit: 1000, before: inSession, run: `{mqReleaseSession: "queue", sessionToken: SESSION}`},
	{name: "mqSetSessionState bytes", limit: 1000, before: inSession, run: `{mqSetSessionState: "queue", sessionToken: SESSION, state: [<<#i>>]}`},
	{name: "mqGetSessionState bytes", limit: 1000, before: append(inSession[:4:4], `{mqSetSessionState: "queue", sessionToken: SESSION, state: [<<#i>>]}`), run: `{mqGetSessionState: "queue", sessionToken: SESSION}`},
	{name: "mqSessions sessions", limit: 1000, before: sessions, run: `{mqSessions: "queue", maxSessions: #n}`},
	{name: "mqSend rules", limit: 1000, before: topic, run: `fresh: {mqSend: "t", messages: [{v: -1}]}`},
	{name: "mqPeek messages", limit: 1000, before: queue, run: `{mqPeek: "queue", maxMessages: #n}`},
	{name: "mqPurge messages", before: queue, run: `{mqPurge: "queue"}`},
	{name: "mqReceive messages", before: queue, each: true, run: `{mqReceive: "queue"}`},
	{name: "mqRenewLock messages", limit: 1000, before: held, each: true, run: `{mqRenewLock: "queue", lockToken: TOKEN}`},
	{name: "mqResubmit messages", before: queue, run: `{mqResubmit: "queue", all: true}`},
	{name: "mqRestore messages", before: queue, run: `{mqRestore: "queue", messages: [<<{_mq: {sequenceNumber: {$numberLong: "1#u"}, enqueuedTimeUtc: {$date: "2026-01-01T00:00:00Z"}, timeToLive: {$numberLong: "100000"}, state: "active", deliveryCount: 0}}>>]}`},
	{name: "mqSend messages", before: queue, run: `{mqSend: "queue", messages: [<<{body: #i}>>]}`},
	{name: "mqSend calls", before: queue, each: true, run: `{mqSend: "queue", messages: [{body: #i}]}`},
	{name: "mqStats messages", before: queue, run: `{mqStats: "queue"}`},
	{name: "planCacheSetFilter filters", scale: 20, each: true, run: `{planCacheSetFilter: "docs", query: {y#i: 1}, indexes: ["v"]}`},
	{name: "reIndex documents", before: manyFresh, run: `{reIndex: "many"}`},
	{name: "refreshSessions sessions", run: `admin: {refreshSessions: [<<{id: {$uuid: "10000000-0000-4000-8000-#u"}}>>]}`},
	{name: "renameCollection documents", before: append(manyFresh[:2:2], `{drop: "target"}`), run: `admin: {renameCollection: "test.many", to: "test.target"}`},
	{name: "renameCollection to another database", before: append(manyFresh[:2:2], `other: {drop: "target"}`), run: `admin: {renameCollection: "test.many", to: "other.target"}`},
	{name: "revokePrivilegesFromRole privileges", before: append(role[:2:2], `new: {grantPrivilegesToRole: "one", privileges: [<<{resource: {db: "new", collection: "c#i"}, actions: ["find"]}>>]}`), run: `new: {revokePrivilegesFromRole: "one", privileges: [<<{resource: {db: "new", collection: "c#i"}, actions: ["find"]}>>]}`},
	{name: "revokeRolesFromRole roles", before: append(append(roles[:len(roles):len(roles)], role[1]), `new: {grantRolesToRole: "one", roles: [<<"r#i">>]}`), run: `new: {revokeRolesFromRole: "one", roles: [<<"r#i">>]}`},
	{name: "revokeRolesFromUser roles", run: `$external: {revokeRolesFromUser: "u0", roles: [<<{role: "r#i", db: "admin"}>>]}`, fails: true},
	{name: "update statements", before: manyFresh, run: `{update: "many", updates: [<<{q: {_id: #i}, u: {$set: {v: -1}}}>>]}`},
	{name: "update documents", before: manyFresh, run: `{update: "many", updates: [{q: {}, u: {$set: {v: -1}}, multi: true}]}`},
	{name: "update upserts", before: manyFresh, run: `{update: "many", updates: [<<{q: {_id: "u#i"}, u: {$set: {v: -1}}, upsert: true}>>]}`},
	{name: "update retryable", before: manyFresh, run: `{update: "many", updates: [<<{q: {_id: #i}, u: {$set: {v: -1}}}>>], ` + retry + `}`},
	{name: "update retryable upserts", before: manyFresh, run: `{update: "many", updates: [<<{q: {_id: "u#i"}, u: {$set: {v: -1}}, upsert: true}>>], ` + retry + `}`},
	{name: "update errors", before: manyFresh, fails: true, run: `{update: "many", ordered: false, updates: [<<{q: {_id: #i}, u: {$set: {_id: "other"}}}>>]}`},
	{name: "update transaction", before: manyFresh, each: true, run: `{update: "many", updates: [{q: {_id: #i}, u: {$set: {v: -1}}}], #start` + open + `}`, then: `admin: {commitTransaction: 1, ` + same + `}`},
	{name: "updateRole privileges", before: role, run: `new: {updateRole: "one", privileges: [<<{resource: {db: "new", collection: "c#i"}, actions: ["find"]}>>]}`},
	{name: "updateUser roles", run: `$external: {updateUser: "u0", roles: [<<{role: "r#i", db: "admin"}>>]}`, fails: true},
}

var (
	roles = []string{`new: {dropAllRolesFromDatabase: 1}`, `EACH new: {createRole: "r#i", privileges: [], roles: []}`}
	role  = []string{`new: {dropAllRolesFromDatabase: 1}`, `new: {createRole: "one", privileges: [], roles: []}`}
)
