package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// refusedCommands are known to a mongod but refused by one that stands
// alone, or that was built or started without what they need.
func refusedCommands() []command {
	return []command{
		{name: "createSearchIndexes", run: runSearchIndex, action: "createSearchIndexes", on: onCollection, help: "refused: needs a search server"},
		{name: "updateSearchIndex", run: runSearchIndex, action: "updateSearchIndex", on: onCollection, help: "refused: needs a search server"},
		{name: "dropSearchIndex", run: runSearchIndex, action: "dropSearchIndex", on: onCollection, help: "refused: needs a search server"},
		{name: "listSearchIndexes", run: runSearchIndex, action: "listSearchIndexes", on: onCollection, help: "refused: needs a search server"},
		{name: "compactStructuredEncryptionData", run: runEncryptionData, action: "compactStructuredEncryptionData", on: onCollection, help: "refused: there are no encrypted collections"},
		{name: "cleanupStructuredEncryptionData", run: runEncryptionData, action: "cleanupStructuredEncryptionData", on: onCollection, help: "refused: there are no encrypted collections"},
		{name: "getAuditConfig", run: runAuditConfig, flags: adminOnly, action: "auditConfigure", on: onCluster, help: "refused: there is no auditing"},
		{name: "setAuditConfig", run: runAuditConfig, flags: adminOnly, action: "auditConfigure", on: onCluster, help: "refused: there is no auditing"},
		{name: "analyzeShardKey", run: notStandalone("analyzeShardKey"), flags: adminOnly, action: "analyzeShardKey", on: onCluster, help: "refused: not a sharded cluster"},
		{name: "configureQueryAnalyzer", run: notStandalone("configureQueryAnalyzer"), flags: adminOnly, action: "configureQueryAnalyzer", on: onCluster, help: "refused: not a sharded cluster"},
		{name: "cleanupOrphaned", run: runNotSharded, flags: adminOnly, action: "cleanupOrphaned", on: onCluster, help: "refused: not a sharded cluster"},
		{name: "getShardMap", run: runNotSharded, flags: adminOnly, action: "getShardMap", on: onCluster, help: "refused: not a sharded cluster"},
		{name: "getShardVersion", run: runNotSharded, flags: adminOnly, action: "getShardVersion", on: onCluster, help: "refused: not a sharded cluster"},
		{name: "prepareTransaction", run: runNotSharded, flags: adminOnly | inTxn | writes, action: "internal", on: onCluster, help: "refused: not a sharded cluster"},
		{name: "coordinateCommitTransaction", run: runNotSharded, flags: adminOnly | inTxn | writes, action: "internal", on: onCluster, help: "refused: not a sharded cluster"},
		{name: "shardingState", run: runShardingState, flags: adminOnly, action: "shardingState", on: onCluster, help: "whether this is part of a sharded cluster"},
		{name: "flushRouterConfig", run: func(*Call) error { return nil }, flags: adminOnly, action: "flushRouterConfig", on: onCluster, help: "forget where shards are"},
	}
}

func runSearchIndex(*Call) error {
	return mongoerr.New(mongoerr.SearchNotEnabled, "Using Atlas Search Database Commands and the $listSearchIndexes aggregation stage requires additional configuration. Please connect to Atlas or an AtlasCLI local deployment to enable. For more information on how to connect, see https://dochub.mongodb.org/core/atlas-cli-deploy-local-reqs")
}

func runEncryptionData(c *Call) error {
	ns, err := c.namespace()
	if err != nil {
		return err
	}
	return c.view(func(tx storage.Tx) error {
		if _, err := tx.Collection(ns); err != nil {
			return mongoerr.Newf(mongoerr.NamespaceNotFound, "Collection '%s' does not exist", ns)
		}
		return mongoerr.New(6346807, "Target namespace is not an encrypted collection")
	})
}

func runAuditConfig(*Call) error {
	return mongoerr.New(mongoerr.AuditingNotEnabled, "Auditing is not enabled")
}

func notStandalone(name string) func(*Call) error {
	return func(c *Call) error {
		if c.svc.inReplicaSet() {
			return mongoerr.Newf(mongoerr.CommandNotSupported, "%s is not supported: this server has no shards", name)
		}
		return mongoerr.Newf(mongoerr.IllegalOperation, "'%s' is not supported on a standalone mongod", name)
	}
}

func runNotSharded(*Call) error {
	return mongoerr.New(mongoerr.ShardingStateNotInitialized, "Cannot accept sharding commands if sharding state has not been initialized with a shardIdentity document")
}

func runShardingState(c *Call) error {
	c.reply.Bool("enabled", false)
	return nil
}
