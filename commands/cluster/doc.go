// Package cluster is what a cluster keeps of itself, and what its database "config" shows:
// the servers, the one shard, the databases, and the sharded collections with their keys.
//
// The storage engine decides where the data are. A shard key is stored and shown; it makes
// sure that there is an index, and has no other effect.
//
// # Several servers over the same data
//
// Clients see a sharded cluster whose mongos are the servers (kernel.Service.Deployment),
// because drivers know how to use several of those. A commit that reaches another server
// than the one with the open transaction makes sure that it will not be committed there
// before the client learns that there is no such transaction (package transaction). Most
// collections of "config" are made of the catalog when they are read: exec.Lookup returns a
// view. Each server reports every 10 s in config.mongos that it lives.
//
// What other servers wrote to the change log is examined once for all change streams, before
// a stream skips entries that do not concern it. What a command needs in the data only while
// it runs (the temporary collection of an $out, a document policy that is being changed) has
// the name of its server, which has a lease of that name as long as it lives; the others
// clean up, when they start and every five minutes, after servers that have stopped. A
// session's record is read for each retryable write and each statement of a transaction, and
// compared again when it is replaced: if another server has used the session in between, the
// client gets 11602 and sends the command again.
//
// A session with snapshot: true reads one state on all servers (storage.SnapshotNumberer):
// the server that opens it stores the name of the state under the cluster time that the
// client gets. Connections to loadBalancerPort begin with a header of the PROXY protocol;
// their cursors and transactions end with them.
package cluster
