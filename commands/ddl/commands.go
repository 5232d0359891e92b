package ddl

import (
	"strings"

	"github.com/duskdb/duskdb/commands/create"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// Commands returns the commands that make, change and list databases, collections and indexes.
func Commands() []kernel.Command {
	return []kernel.Command{
		// Databases, collections and indexes.
		{Name: "create", Run: create.Run, Flags: kernel.Writes | kernel.InTxn | kernel.UserWrite | kernel.LatestCatalog, Action: "createCollection", On: kernel.OnCollection, Help: "create a collection or view"},
		{Name: "drop", Run: runDrop, Flags: kernel.Writes | kernel.UserWrite, Action: "dropCollection", On: kernel.OnCollection, Help: "drop a collection"},
		{Name: "dropDatabase", Run: runDropDatabase, Flags: kernel.Writes | kernel.UserWrite, Action: "dropDatabase", On: kernel.OnDatabase, Help: "drop a database"},
		{Name: "renameCollection", Run: runRename, Flags: kernel.AdminOnly | kernel.Writes | kernel.UserWrite | kernel.Profiled, Action: "renameCollection", On: kernel.OnCluster, WritesUsers: renamesUserCollection, Help: "rename a collection"},
		{Name: "collMod", Run: runCollMod, Flags: kernel.Writes | kernel.UserWrite, Action: "collMod", On: kernel.OnCollection, Help: "change the options of a collection"},
		{Name: "listCollections", Run: runListCollections, Flags: kernel.SecondaryOk, Action: "listCollections", On: kernel.OnDatabase, Help: "list the collections of a database"},
		{Name: "listDatabases", Run: runListDatabases, Flags: kernel.AdminOnly | kernel.SecondaryOk, Action: "listDatabases", On: kernel.OnCluster, Help: "list the databases"},
		{Name: "createIndexes", Run: runCreateIndexes, Flags: kernel.Writes | kernel.InTxn | kernel.UserWrite | kernel.LatestCatalog, Action: "createIndex", On: kernel.OnCollection, Help: "create indexes"},
		{Name: "listIndexes", Run: runListIndexes, Flags: kernel.SecondaryOk, Action: "listIndexes", On: kernel.OnCollection, Help: "list the indexes of a collection"},
		{Name: "dropIndexes", Aliases: []string{"deleteIndexes"}, Run: runDropIndexes, Flags: kernel.Writes | kernel.UserWrite, Action: "dropIndex", On: kernel.OnCollection, Help: "drop indexes"},

		// Capped collections.
		{Name: "cloneCollectionAsCapped", Run: runCloneAsCapped, Flags: kernel.Writes | kernel.UserWrite, Action: "convertToCapped", On: kernel.OnCollection, Help: "copy a collection into a new capped one"},
		{Name: "convertToCapped", Run: runConvertToCapped, Flags: kernel.Writes | kernel.UserWrite, Action: "convertToCapped", On: kernel.OnCollection, Help: "make a collection capped"},

		// Extensions of Azure Cosmos DB for MongoDB (semantics.md §8.2): throughput and shard keys are recorded, not enforced.
		{Name: "customAction", Run: runCustomAction, Flags: kernel.Writes | kernel.UserWrite, On: kernel.OnDatabase, WritesUsers: gate.WritesUnless(func(d value.Doc) bool { return strings.HasPrefix(d.Lookup("customAction").Str(), "Get") }), Help: "extension commands of Cosmos DB: CreateCollection and others"},
	}
}
