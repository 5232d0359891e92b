package kernel

import (
	"slices"

	"github.com/duskdb/duskdb/storage"
)

// ShardName is the name of the one shard of a cluster: the storage engine.
const ShardName = "duskdb"

// Deployment is what clients take the server for, and so how drivers use it.
type Deployment uint8

const (
	Standalone Deployment = iota
	ReplicaSet            // its only member
	Sharded               // a mongos: one of several servers over the same data
)

// Deployment returns what clients take the server for. Servers that share a storage engine
// look like the mongos of a sharded cluster: drivers know how to use several of them, any of
// which can do everything.
func (s *Service) Deployment() Deployment {
	switch {
	case s.Shared:
		return Sharded
	case s.Options.ReplSet != "":
		return ReplicaSet
	}
	return Standalone
}

// InReplicaSet reports whether the server runs with --replSet: drivers then use
// sessions, retryable writes and causal consistency of themselves. Transactions and
// change streams need no replica set.
func (s *Service) InReplicaSet() bool { return s.Deployment() == ReplicaSet }

// InCluster reports whether the server looks like a mongos.
func (s *Service) InCluster() bool { return s.Deployment() == Sharded }

// Replicated reports whether clients see a replica set or a sharded cluster, whose replies
// have the cluster time and which have what a standalone server has not.
func (s *Service) Replicated() bool { return s.Deployment() != Standalone }

// MadeOnRead are the collections of the database "config" of a cluster that are not stored,
// but made of the catalog when they are read. Clients cannot write to them.
var MadeOnRead = []string{"changelog", "chunks", "collections", "databases", "shards", "tags"}

// IsMadeOnRead reports whether a collection is one of MadeOnRead.
func (s *Service) IsMadeOnRead(ns storage.Namespace) bool {
	return ns.DB == "config" && s.InCluster() && slices.Contains(MadeOnRead, ns.Coll)
}
