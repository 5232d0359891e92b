package auth

import "strings"

// builtinRole is one line of the table of built-in roles.
type builtinRole struct {
	name      string
	adminOnly bool
	roles     []string // "role", or "role@db"
	grants    []grant
}

// grant is a privilege with its actions by name. A database of "" stands for
// the role's own if the kind needs one.
type grant struct {
	kind     patternKind
	db, coll string
	actions  string
}

// Groups of actions that several roles share.
const (
	readActions      = "changeStream collStats dbHash dbStats find killCursors listCollections listIndexes listSearchIndexes planCacheRead"
	readWriteActions = readActions + ` cleanupStructuredEncryptionData compactStructuredEncryptionData convertToCapped
		createCollection createIndex createSearchIndexes dropCollection dropIndex dropSearchIndex insert remove
		renameCollectionSameDB update updateSearchIndex`
	userAdminActions = `changeCustomData changePassword createUser createRole dropUser dropRole grantRole revokeRole
		setAuthenticationRestriction viewUser viewRole`
	dbAdminActions = `analyze bypassDocumentValidation collMod collStats compact convertToCapped createCollection dbStats
		dropCollection dropDatabase dropIndex dropSearchIndex createIndex createSearchIndexes enableProfiler
		listCollections listIndexes listSearchIndexes updateSearchIndex planCacheIndexFilter planCacheRead
		planCacheWrite reIndex renameCollectionSameDB storageDetails validate configureQueryAnalyzer`
	profileActions        = readActions + " convertToCapped createCollection dropCollection"
	indexingActions       = readActions + " createIndex createSearchIndexes dropIndex dropSearchIndex"
	monitorDBActions      = "collStats dbStats getDatabaseVersion getShardVersion indexStats"
	monitorClusterActions = `connPoolStats getCmdLineOpts getDefaultRWConcern getLog getParameter getShardMap hostInfo
		listDatabases listSampledQueries listSessions listShards netstat operationMetrics replSetGetConfig
		replSetGetStatus serverStatus top useUUID inprog shardingState allCollectionStats shardedDataDistribution`
	hostActions = `applicationMessage auditConfigure connPoolSync dropConnections logRotate oidReset setParameter shutdown
		touch unlock flushRouterConfig fsync invalidateUserCache killAnyCursor killAnySession killop
		replSetResizeOplog resync trafficRecord rotateCertificates oidcListKeys oidcRefreshKeys`
	managerClusterActions = `appendOplogNote applicationMessage replSetConfigure replSetGetConfig replSetGetStatus
		replSetStateChange resync addShard removeShard listSessions listShards flushRouterConfig cleanupOrphaned
		getDefaultRWConcern runTenantMigration setDefaultRWConcern setFeatureCompatibilityVersion
		setClusterParameter getClusterParameter setChangeStreamState getChangeStreamState querySettings
		queryStatsRead queryStatsReadTransformed checkMetadataConsistency transitionFromDedicatedConfigServer
		transitionToDedicatedConfigServer`
	managerDBActions = `analyzeShardKey configureQueryAnalyzer clearJumboFlag splitChunk moveChunk moveCollection
		enableSharding splitVector refineCollectionShardKey reshardCollection`
	writeActions   = "insert update remove"
	restoreActions = `bypassDocumentValidation collMod convertToCapped createCollection createIndex createSearchIndexes
		dropCollection insert updateSearchIndex`
)

// builtinRoles lists MongoDB's built-in roles, in the order of its manual.
var builtinRoles = []builtinRole{
	{name: "read", grants: []grant{{onDatabase, "", "", readActions}, {onNamespace, "", "system.js", readActions}}},
	{name: "readWrite", grants: []grant{{onDatabase, "", "", readWriteActions}, {onNamespace, "", "system.js", readWriteActions}}},
	{name: "dbAdmin", grants: []grant{{onDatabase, "", "", dbAdminActions}, {onNamespace, "", "system.profile", profileActions}}},
	{name: "dbOwner", roles: []string{"readWrite", "dbAdmin", "userAdmin"}},
	{name: "userAdmin", grants: []grant{{onDatabase, "", "", userAdminActions}}},
	{name: "enableSharding", grants: []grant{{onAnyNormal, "", "", "analyzeShardKey enableSharding moveCollection refineCollectionShardKey reshardCollection"}}},
	{name: "clusterAdmin", adminOnly: true, roles: []string{"clusterMonitor", "hostManager", "clusterManager"}, grants: []grant{
		{onAnyNormal, "", "", "dropDatabase"}, {onAnything, "", "", "importCollection exportCollection"},
	}},
	{name: "clusterManager", adminOnly: true, roles: []string{"read@config"}, grants: []grant{
		{onCluster, "", "", managerClusterActions},
		{onAnyNormal, "", "", managerDBActions},
		{onAnyBuckets, "", "", managerDBActions},
		{onDatabase, "config", "", managerDBActions + " " + writeActions},
		{onDatabase, "local", "", managerDBActions + " " + writeActions},
		{onNamespace, "local", "system.replset", readActions},
		{onAnything, "", "", "dbCheck"},
		{onNamespace, "local", "system.healthlog", readActions},
		{onNamespace, "local", "replset.election", writeActions},
		{onNamespace, "local", "replset.minvalid", writeActions},
	}},
	{name: "clusterMonitor", adminOnly: true, roles: []string{"read@config", "read@local"}, grants: []grant{
		{onCluster, "", "", monitorClusterActions},
		{onAnyNormal, "", "", monitorDBActions},
		{onDatabase, "config", "", monitorDBActions},
		{onNamespace, "config", "system.sessions", monitorDBActions},
		{onDatabase, "local", "", monitorDBActions},
		{onNamespace, "local", "system.replset", "find"},
		{onNamespace, "local", "replset.election", "find"},
		{onNamespace, "local", "replset.minvalid", "find"},
		{onCollection, "", "system.profile", "find"},
	}},
	{name: "hostManager", adminOnly: true, grants: []grant{{onCluster, "", "", hostActions}, {onAnyNormal, "", "", "killCursors"}}},
	{name: "backup", adminOnly: true, roles: []string{"__queryableBackup"}, grants: []grant{
		{onCluster, "", "", "appendOplogNote serverStatus setUserWriteBlockMode"},
		{onNamespace, "config", "settings", "insert update"},
	}},
	{name: "restore", adminOnly: true, grants: []grant{
		{onCluster, "", "", "getParameter forceUUID useUUID bypassWriteBlockingMode setUserWriteBlockMode applyOps"},
		{onDatabase, "local", "", restoreActions},
		{onDatabase, "config", "", restoreActions},
		{onAnyBuckets, "", "", restoreActions},
		{onNamespace, "local", "system.replset", restoreActions},
		{onNamespace, "local", "replset.election", restoreActions},
		{onNamespace, "local", "replset.minvalid", restoreActions},
		{onAnything, "", "", "listCollections"},
		{onAnyNormal, "", "", restoreActions + " " + userAdminActions},
		{onCollection, "", "system.js", restoreActions},
		{onNamespace, "admin", "tempusers", "find"},
		{onNamespace, "admin", "temproles", "find"},
		{onNamespace, "admin", "system.backup_users", restoreActions},
		{onNamespace, "admin", "system.version", restoreActions + " find"},
		{onCollection, "", "system.users", restoreActions + " find update remove"},
		{onNamespace, "admin", "system.roles", "createIndex"},
	}},
	{name: "readAnyDatabase", adminOnly: true, grants: []grant{
		{onAnyNormal, "", "", readActions}, {onCluster, "", "", "listDatabases"},
		{onCollection, "", "system.js", readActions}, {onAnyBuckets, "", "", readActions},
	}},
	{name: "readWriteAnyDatabase", adminOnly: true, roles: []string{"readAnyDatabase"}, grants: []grant{
		{onAnyNormal, "", "", readWriteActions}, {onCollection, "", "system.js", readWriteActions}, {onAnyBuckets, "", "", readWriteActions},
	}},
	{name: "userAdminAnyDatabase", adminOnly: true, grants: []grant{
		{onAnyNormal, "", "", userAdminActions + " listCachedAndActiveUsers"},
		{onDatabase, "local", "", userAdminActions},
		{onDatabase, "config", "", userAdminActions},
		{onCluster, "", "", "listDatabases authSchemaUpgrade invalidateUserCache viewUser"},
		{onNamespace, "admin", "system.users", indexingActions},
		{onNamespace, "admin", "system.roles", indexingActions},
		{onCollection, "", "system.users", readActions},
		{onNamespace, "admin", "system.version", readActions},
		{onNamespace, "admin", "system.backup_users", readActions},
	}},
	{name: "dbAdminAnyDatabase", adminOnly: true, grants: []grant{
		{onCluster, "", "", "listDatabases applyOps"}, {onAnyNormal, "", "", dbAdminActions},
		{onCollection, "", "system.profile", profileActions}, {onAnyBuckets, "", "", dbAdminActions},
	}},
	{name: "root", adminOnly: true, roles: []string{
		"clusterAdmin", "userAdminAnyDatabase", "dbAdminAnyDatabase", "readWriteAnyDatabase", "backup", "restore", "directShardOperations",
	}, grants: []grant{
		{onAnything, "", "", "validate"},
		{onCluster, "", "", "useTenant"},
		{onNamespace, "config", "system.preimages", "find remove"},
		{onNamespace, "config", "system.change_collection", "find insert remove update"},
	}},
	{name: "directShardOperations", adminOnly: true, grants: []grant{{onCluster, "", "", "issueDirectShardOperations"}}},
	{name: "__queryableBackup", adminOnly: true, grants: []grant{
		{onAnything, "", "", "collStats listCollections listIndexes listSearchIndexes"},
		{onAnyNormal, "", "", "find"},
		{onAnyBuckets, "", "", "find"},
		{onCluster, "", "", "getParameter listDatabases useUUID"},
		{onDatabase, "config", "", "find"},
		{onDatabase, "local", "", "find"},
		{onNamespace, "local", "replset.election", "find"},
		{onNamespace, "local", "replset.minvalid", "find"},
		{onCollection, "", "system.js", "find"},
		{onCollection, "", "system.users", "find"},
		{onCollection, "", "system.profile", "find"},
		{onNamespace, "admin", "system.backup_users", "find"},
		{onNamespace, "admin", "system.roles", "find"},
		{onNamespace, "admin", "system.version", "find"},
		{onNamespace, "config", "settings", "find"},
	}},
	{name: "__system", adminOnly: true, grants: []grant{{onAnything, "", "", "anyAction"}}},
}

// builtin returns the built-in role of that name; nil if the database has no
// such role.
func builtin(n Name) *Role {
	for i := range builtinRoles {
		line := &builtinRoles[i]
		if line.name == n.Name && (n.DB == "admin" || !line.adminOnly) && n.DB != "" && n.DB != External {
			return line.role(n.DB)
		}
	}
	return nil
}

// builtinsOf returns all built-in roles of a database.
func builtinsOf(db string) (roles []*Role) {
	for i := range builtinRoles {
		if line := &builtinRoles[i]; db == "admin" || !line.adminOnly {
			roles = append(roles, line.role(db))
		}
	}
	return roles
}

// role makes the role as it is in a database.
func (l *builtinRole) role(db string) *Role {
	r := &Role{Name: Name{Name: l.name, DB: db}, Builtin: true}
	for _, name := range l.roles {
		name, of, elsewhere := strings.Cut(name, "@")
		if !elsewhere {
			of = db
		}
		r.Roles = append(r.Roles, Name{Name: name, DB: of})
	}
	var granted []Privilege
	for _, g := range l.grants {
		p := Pattern{kind: g.kind, db: g.db, coll: g.coll}
		if p.db == "" && (p.kind == onDatabase || p.kind == onNamespace) {
			p.db = db
		}
		actions := actionsOf(g.actions)
		if g.actions == "anyAction" {
			actions = allActions()
		}
		granted = append(granted, Privilege{On: p, Actions: actions})
	}
	r.Privileges = addPrivileges(nil, granted...)
	return r
}
