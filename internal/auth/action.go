package auth

import (
	"math/bits"
	"sort"
	"strings"
)

// Action is an action that a privilege can allow, such as find.
type Action uint8

// Actions is a set of actions.
type Actions [3]uint64

// actionNames lists MongoDB's actions; an Action is an index into it. Actions
// of features that this server does not have are included because roles may
// name them. Please keep sorted.
var actionNames = strings.Fields(`
	addShard advanceClusterTime allCollectionStats analyze analyzeShardKey anyAction appendOplogNote applicationMessage
	applyOps auditConfigure auditLogRotate authCheck authSchemaUpgrade authenticate
	bypassDocumentValidation bypassWriteBlockingMode
	changeCustomData changeOwnCustomData changeOwnPassword changePassword changeStream checkFreeMonitoringStatus
	checkMetadataConsistency cleanupOrphaned cleanupStructuredEncryptionData clearJumboFlag closeAllDatabases
	collMod collStats compact compactStructuredEncryptionData configureQueryAnalyzer connPoolStats connPoolSync
	convertToCapped cpuProfiler createCollection createDatabase createIndex createRole createSearchIndexes createUser
	dbCheck dbHash dbStats dropAllRolesFromDatabase dropAllUsersFromDatabase dropCollection dropConnections
	dropDatabase dropIndex dropRole dropSearchIndex dropUser
	emptycapped enableProfiler enableSharding exportCollection find flushRouterConfig forceUUID fsync fsyncUnlock
	getChangeStreamState getClusterParameter getCmdLineOpts getDatabaseVersion getDefaultRWConcern getLog getParameter
	getShardMap getShardVersion grantPrivilegesToRole grantRole grantRolesToRole grantRolesToUser
	hostInfo impersonate importCollection indexStats inprog insert internal invalidateUserCache
	issueDirectShardOperations killAnyCursor killAnySession killCursors killop
	listCachedAndActiveUsers listCollections listCursors listDatabases listIndexes listSampledQueries
	listSearchIndexes listSessions listShards logRotate moveChunk moveCollection netstat
	oidReset oidcListKeys oidcRefreshKeys operationMetrics
	planCacheIndexFilter planCacheRead planCacheWrite querySettings queryStatsRead queryStatsReadTransformed
	reIndex refineCollectionShardKey remove removeShard renameCollection renameCollectionSameDB repairDatabase
	replSetConfigure replSetGetConfig replSetGetStatus replSetHeartbeat replSetReconfig replSetResizeOplog
	replSetStateChange reshardCollection resync revokePrivilegesFromRole revokeRole revokeRolesFromRole
	revokeRolesFromUser rotateCertificates runAsLessPrivilegedUser runTenantMigration
	serverStatus setAuthenticationRestriction setChangeStreamState setClusterParameter setDefaultRWConcern
	setFeatureCompatibilityVersion setFreeMonitoring setParameter setUserWriteBlockMode shardCollection
	shardedDataDistribution shardingState shutdown splitChunk splitVector storageDetails
	top touch trafficRecord transitionFromDedicatedConfigServer transitionToDedicatedConfigServer
	unlock update updateRole updateSearchIndex updateUser useTenant useUUID validate viewRole viewUser`)

var actionIndex = indexActions()

func indexActions() map[string]Action {
	index := make(map[string]Action, len(actionNames))
	for i, name := range actionNames {
		index[name] = Action(i)
	}
	return index
}

// ActionOf finds an action by name.
func ActionOf(name string) (Action, bool) {
	a, ok := actionIndex[name]
	return a, ok
}

// MustAction finds an action that is known to exist.
func MustAction(name string) Action {
	a, ok := actionIndex[name]
	if !ok {
		panic("auth: no action " + name)
	}
	return a
}

// String returns the action's name.
func (a Action) String() string { return actionNames[a] }

// actionsOf makes a set of names, separated by spaces.
func actionsOf(names ...string) (s Actions) {
	for _, list := range names {
		for _, name := range strings.Fields(list) {
			s.add(MustAction(name))
		}
	}
	return s
}

// allActions holds every action.
func allActions() (s Actions) {
	for i := range actionNames {
		s.add(Action(i))
	}
	return s
}

// Has reports whether the action is in the set.
func (s *Actions) Has(a Action) bool { return s[a>>6]&(1<<(a&63)) != 0 }

func (s *Actions) add(a Action) { s[a>>6] |= 1 << (a & 63) }

// addAll adds the actions of t.
func (s *Actions) addAll(t Actions) {
	for i := range s {
		s[i] |= t[i]
	}
}

// removeAll removes the actions of t.
func (s *Actions) removeAll(t Actions) {
	for i := range s {
		s[i] &^= t[i]
	}
}

func (s *Actions) isEmpty() bool { return *s == Actions{} }

// names lists the actions of the set in alphabetical order; a set of all is
// "anyAction" alone.
func (s *Actions) names() []string {
	if s.Has(MustAction("anyAction")) {
		return []string{"anyAction"}
	}
	var out []string
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			out = append(out, actionNames[i*64+bits.TrailingZeros64(word)])
		}
	}
	sort.Strings(out)
	return out
}
