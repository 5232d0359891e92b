// Package cluster is what a cluster keeps of itself, and what its database "config" shows:
// the servers, the one shard, the databases, and the sharded collections with their keys.
//
// The storage engine decides where the data are. A shard key is stored and shown; it makes
// sure that there is an index, and has no other effect.
package cluster
