package commands

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// refusedCommands returns the commands that a mongod knows but refuses as a standalone, or
// without the build or start options that they need.
func refusedCommands() []kernel.Command {
	return []kernel.Command{
		{Name: "createSearchIndexes", Run: runSearchIndex, Action: "createSearchIndexes", On: kernel.OnCollection, Help: "refused: needs a search server"},
		{Name: "updateSearchIndex", Run: runSearchIndex, Action: "updateSearchIndex", On: kernel.OnCollection, Help: "refused: needs a search server"},
		{Name: "dropSearchIndex", Run: runSearchIndex, Action: "dropSearchIndex", On: kernel.OnCollection, Help: "refused: needs a search server"},
		{Name: "listSearchIndexes", Run: runSearchIndex, Action: "listSearchIndexes", On: kernel.OnCollection, Help: "refused: needs a search server"},
		{Name: "compactStructuredEncryptionData", Run: runEncryptionData, Action: "compactStructuredEncryptionData", On: kernel.OnCollection, Help: "refused: there are no encrypted collections"},
		{Name: "cleanupStructuredEncryptionData", Run: runEncryptionData, Action: "cleanupStructuredEncryptionData", On: kernel.OnCollection, Help: "refused: there are no encrypted collections"},
		{Name: "getAuditConfig", Run: runAuditConfig, Flags: kernel.AdminOnly, Action: "auditConfigure", On: kernel.OnCluster, Help: "refused: there is no auditing"},
		{Name: "setAuditConfig", Run: runAuditConfig, Flags: kernel.AdminOnly, Action: "auditConfigure", On: kernel.OnCluster, Help: "refused: there is no auditing"},
		{Name: "analyzeShardKey", Run: notStandalone("analyzeShardKey"), Flags: kernel.AdminOnly, Action: "analyzeShardKey", On: kernel.OnCluster, Help: "refused: not a sharded cluster"},
		{Name: "configureQueryAnalyzer", Run: notStandalone("configureQueryAnalyzer"), Flags: kernel.AdminOnly, Action: "configureQueryAnalyzer", On: kernel.OnCluster, Help: "refused: not a sharded cluster"},
		{Name: "cleanupOrphaned", Run: runNotSharded, Flags: kernel.AdminOnly, Action: "cleanupOrphaned", On: kernel.OnCluster, Enabled: noMongos, Help: "refused: not a sharded cluster"},
		{Name: "getShardMap", Run: runNotSharded, Flags: kernel.AdminOnly, Action: "getShardMap", On: kernel.OnCluster, Enabled: noMongos, Help: "refused: not a sharded cluster"},
		{Name: "getShardVersion", Run: runNotSharded, Flags: kernel.AdminOnly, Action: "getShardVersion", On: kernel.OnCluster, Enabled: noMongos, Help: "refused: not a sharded cluster"},
		{Name: "prepareTransaction", Run: runNotSharded, Flags: kernel.AdminOnly | kernel.InTxn | kernel.Writes, Action: "internal", On: kernel.OnCluster, Enabled: noMongos, Help: "refused: not a sharded cluster"},
		{Name: "coordinateCommitTransaction", Run: runNotSharded, Flags: kernel.AdminOnly | kernel.InTxn | kernel.Writes, Action: "internal", On: kernel.OnCluster, Enabled: noMongos, Help: "refused: not a sharded cluster"},
		{Name: "shardingState", Run: runShardingState, Flags: kernel.AdminOnly, Action: "shardingState", On: kernel.OnCluster, Enabled: noMongos, Help: "whether this is part of a sharded cluster"},
		{Name: "flushRouterConfig", Run: runFlushRouterConfig, Flags: kernel.AdminOnly, Action: "flushRouterConfig", On: kernel.OnCluster, Help: "forget where shards are"},
	}
}

// noMongos reports whether the server is not a mongos, which does not know the command or has
// another one of that name.
func noMongos(s *kernel.Service) bool { return !s.InCluster() }

// runFlushRouterConfig does nothing: nothing is remembered of where data are.
func runFlushRouterConfig(c *kernel.Call) error {
	if c.Svc.InCluster() {
		c.Reply.Bool("flushed", true)
	}
	return nil
}

func runSearchIndex(*kernel.Call) error {
	return mongoerr.New(mongoerr.SearchNotEnabled, "Using Atlas Search Database Commands and the $listSearchIndexes aggregation stage requires additional configuration. Please connect to Atlas or an AtlasCLI local deployment to enable. For more information on how to connect, see https://dochub.mongodb.org/core/atlas-cli-deploy-local-reqs")
}

func runEncryptionData(c *kernel.Call) error {
	ns, err := c.Namespace()
	if err != nil {
		return err
	}
	return c.View(func(tx storage.Tx) error {
		if _, err := tx.Collection(ns); err != nil {
			return mongoerr.Newf(mongoerr.NamespaceNotFound, "Collection '%s' does not exist", ns)
		}
		return mongoerr.New(6346807, "Target namespace is not an encrypted collection")
	})
}

func runAuditConfig(*kernel.Call) error {
	return mongoerr.New(mongoerr.AuditingNotEnabled, "Auditing is not enabled")
}

func notStandalone(name string) func(*kernel.Call) error {
	return func(c *kernel.Call) error {
		if c.Svc.Replicated() {
			return mongoerr.Newf(mongoerr.CommandNotSupported, "%s is not supported: this server has no shards", name)
		}
		return mongoerr.Newf(mongoerr.IllegalOperation, "'%s' is not supported on a standalone mongod", name)
	}
}

func runNotSharded(*kernel.Call) error {
	return mongoerr.New(mongoerr.ShardingStateNotInitialized, "Cannot accept sharding commands if sharding state has not been initialized with a shardIdentity document")
}

func runShardingState(c *kernel.Call) error {
	c.Reply.Bool("enabled", false)
	return nil
}
