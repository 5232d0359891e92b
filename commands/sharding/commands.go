package sharding

import (
	"os"
	"slices"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/cluster"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Commands are the commands that only a mongos has.
func Commands() []kernel.Command {
	list := []kernel.Command{
		{Name: "isdbgrid", Run: runIsDbGrid, Help: "whether this is a mongos"},
		{Name: "listShards", Run: runListShards, Flags: kernel.AdminOnly, Action: "listShards", On: kernel.OnCluster, Help: "list the shards"},
		{Name: "getShardMap", Run: runGetShardMap, Flags: kernel.AdminOnly, Action: "getShardMap", On: kernel.OnCluster, Help: "where the shards are"},
		{Name: "getShardVersion", Aliases: []string{"getshardversion"}, Run: runGetShardVersion, Flags: kernel.AdminOnly, Rule: mayOn("getShardVersion"), Help: "the version of a collection's placement"},
		{Name: "enableSharding", Aliases: []string{"enablesharding"}, Run: runEnableSharding, Flags: kernel.AdminOnly | kernel.Writes, Rule: mayOn("enableSharding"), Help: "make a database"},
		{Name: "shardCollection", Aliases: []string{"shardcollection"}, Run: runShardCollection, Flags: kernel.AdminOnly | kernel.Writes, Rule: mayOn("enableSharding"), Help: "give a collection a shard key"},
		{Name: "refineCollectionShardKey", Run: runRefineShardKey, Flags: kernel.AdminOnly | kernel.Writes, Rule: mayOn("refineCollectionShardKey"), Help: "add fields to a shard key"},
		{Name: "reshardCollection", Run: runReshardCollection, Flags: kernel.AdminOnly | kernel.Writes, Rule: mayOn("reshardCollection"), Help: "give a sharded collection another shard key"},
		{Name: "unshardCollection", Run: runUnshardCollection, Flags: kernel.AdminOnly | kernel.Writes, Rule: mayOn("unshardCollection"), Help: "take away a shard key"},
		{Name: "checkMetadataConsistency", Run: runCheckMetadata, Action: "checkMetadataConsistency", On: kernel.OnCluster, Help: "list inconsistencies between shards: a single shard has none"},
		{Name: "balancerStart", Run: setBalancer(true), Flags: kernel.AdminOnly | kernel.Writes, Rule: mayBalance("update"), Help: "have the balancer on"},
		{Name: "balancerStop", Run: setBalancer(false), Flags: kernel.AdminOnly | kernel.Writes, Rule: mayBalance("update"), Help: "have the balancer off"},
		{Name: "balancerStatus", Run: runBalancerStatus, Flags: kernel.AdminOnly, Rule: mayBalance("find"), Help: "whether the balancer is on"},
		{Name: "balancerCollectionStatus", Run: runBalancerCollectionStatus, Flags: kernel.AdminOnly, Rule: mayOn("enableSharding"), Help: "whether the chunks of a collection are where they are to be"},
		{Name: "moveChunk", Aliases: []string{"movechunk"}, Run: movesTo("to", true), Flags: kernel.AdminOnly | kernel.Writes, Rule: mayOn("moveChunk"), Help: "move a chunk to a shard"},
		{Name: "moveRange", Run: movesTo("toShard", true), Flags: kernel.AdminOnly | kernel.Writes, Rule: mayOn("moveChunk"), Help: "move a range to a shard"},
		{Name: "moveCollection", Run: movesTo("toShard", false), Flags: kernel.AdminOnly | kernel.Writes, Rule: mayOn("moveCollection"), Help: "move a collection to a shard"},
		{Name: "movePrimary", Aliases: []string{"moveprimary"}, Run: movesTo("to", false), Flags: kernel.AdminOnly | kernel.Writes, Rule: mayOn("moveChunk"), Help: "move a database to a shard"},
		{Name: "removeShard", Aliases: []string{"removeshard"}, Run: runRemoveShard, Flags: kernel.AdminOnly | kernel.Writes, Action: "removeShard", On: kernel.OnCluster, Help: "refused: there is one shard"},
	}
	for _, r := range refusals {
		list = append(list, kernel.Command{Name: r.name, Run: refuse, Flags: kernel.AdminOnly | kernel.Writes, Action: r.action, On: kernel.OnCluster, Help: "refused: the storage engine places the data"})
	}
	for i := range list {
		list[i].Enabled = (*kernel.Service).InCluster
	}
	return list
}

// refusals are commands about a placement that clients cannot change.
var refusals = []struct{ name, action string }{
	{"addShard", "addShard"},
	{"addShardToZone", "enableSharding"},
	{"removeShardFromZone", "enableSharding"},
	{"updateZoneKeyRange", "enableSharding"},
	{"split", "splitChunk"},
	{"mergeChunks", "splitChunk"},
	{"mergeAllChunksOnShard", "splitChunk"},
	{"clearJumboFlag", "clearJumboFlag"},
	{"configureCollectionBalancing", "enableSharding"},
	{"abortReshardCollection", "reshardCollection"},
	{"commitReshardCollection", "reshardCollection"},
	{"cleanupReshardCollection", "reshardCollection"},
	{"transitionFromDedicatedConfigServer", "transitionFromDedicatedConfigServer"},
	{"transitionToDedicatedConfigServer", "transitionToDedicatedConfigServer"},
}

func refuse(c *kernel.Call) error {
	return mongoerr.Newf(mongoerr.CommandNotSupported, "%s is not supported: the storage engine, which is the only shard, decides where the data are", c.Cmd.Name)
}

// mayOn is the rule of a command whose first field names a collection "db.coll", or a
// database, in full.
func mayOn(action string) func(*kernel.Call) error {
	return func(c *kernel.Call) error {
		ns := named(c)
		if ns.Coll == "" {
			return access.Need(c, auth.Database(ns.DB), action)
		}
		return access.Need(c, access.Pattern(ns), action)
	}
}

// mayBalance is the rule of the commands about the balancer, which read or change its
// settings.
func mayBalance(action string) func(*kernel.Call) error {
	return func(c *kernel.Call) error { return access.Need(c, access.Pattern(settingsNamespace), action) }
}

func runIsDbGrid(c *kernel.Call) error {
	host, _ := os.Hostname() // "" if it has no name
	c.Reply.Int32("isdbgrid", 1).String("hostname", host)
	return nil
}

func runListShards(c *kernel.Call) error {
	var d value.Doc
	err := c.View(func(tx storage.Tx) (err error) {
		d, err = cluster.Shard(tx)
		return err
	})
	if err == nil {
		c.Reply.StartArray("shards").Document("", d).End()
	}
	return err
}

// runGetShardMap shows the shard, which is also what a mongos calls its config servers.
func runGetShardMap(c *kernel.Call) error {
	var hosts []string
	err := c.View(func(tx storage.Tx) (err error) {
		hosts, err = cluster.Hosts(tx)
		return err
	})
	if err != nil {
		return err
	}
	address := cluster.ConnectionString(hosts)
	b := c.Reply
	b.StartDocument("map").String("config", address).String(kernel.ShardName, address).End()
	b.StartDocument("hosts")
	for _, host := range slices.Sorted(slices.Values(hosts)) {
		b.String(host, kernel.ShardName)
	}
	b.End()
	b.StartDocument("connStrings").String(address, kernel.ShardName).End()
	return nil
}

func runGetShardVersion(c *kernel.Call) error {
	ns := named(c)
	if ns.Coll == "" {
		c.Reply.String("primaryShard", kernel.ShardName).Document("version", cluster.DatabaseVersion(ns.DB))
		return nil
	}
	s, _, err := shardedOrError(c)
	if err != nil {
		return err
	}
	s.Version(c.Reply)
	if c.Body.Lookup("fullMetadata").Truthy() {
		low, high := value.NewBuilder(), value.NewBuilder()
		for name := range s.Key.All() {
			low.Append(name, value.MinKey())
			high.Append(name, value.MaxKey())
		}
		c.Reply.StartArray("chunks").StartArray("").Document("", low.Doc()).Document("", high.Doc()).End().End()
	}
	return nil
}

func runRemoveShard(c *kernel.Call) error {
	_, v := c.Body.First()
	if v.Str() != kernel.ShardName {
		return shardNotFound(v)
	}
	return mongoerr.New(mongoerr.IllegalOperation, "Operation not allowed because it would remove the last shard")
}

// movesTo runs a command that moves something to the shard that a field names. It is there
// already. sharded reports whether that is a part of a sharded collection.
func movesTo(field string, sharded bool) func(*kernel.Call) error {
	return func(c *kernel.Call) error {
		if sharded {
			if _, _, err := shardedOrError(c); err != nil {
				return err
			}
		}
		to, given := c.Body.Get(field)
		switch {
		case !given:
			return mongoerr.Newf(mongoerr.IDLFailedToParse, "BSON field '%s.%s' is missing but a required field", c.Cmd.Name, field)
		case to.Str() != kernel.ShardName:
			return shardNotFound(to)
		}
		return nil
	}
}

func shardNotFound(v value.Value) error {
	return mongoerr.Newf(mongoerr.ShardNotFound, "Could not find shard '%s'", v.Str())
}
