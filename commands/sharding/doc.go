// Package sharding has the commands of a mongos: about the shard, the balancer, and sharded
// collections. There is one shard, the storage engine, which itself decides where the data
// are. Commands that only make sure of a placement succeed if it is the present one;
// commands that would change it are refused.
package sharding
