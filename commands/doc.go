// Package commands runs the commands of the server. It combines the rooms, which are the
// packages below it. It knows nothing of sockets: the server package passes it a [Request]
// and a buffer for the reply.
//
// A command's life:
//
//  1. [Service.Handle] looks its name up in the table and reads the generic
//     arguments ($db, lsid, txnNumber, maxTimeMS, readConcern, …).
//  2. The gate: handshake, authentication, session, transaction rules.
//  3. The clock is read once; everything the command does happens at that
//     instant (semantics.md §2).
//  4. Its arguments are decoded by one declarative struct (package args).
//  5. It runs, and appends its reply to the buffer. An error, or a panic,
//     replaces whatever it had written.
//
// The rooms, from the ground up; each may use those above it in this list only:
//
//	broadcast, clustertime, args   small packages that all others use
//	catalog                        the description of collections
//	replset                        the state of the replica set
//	oplog, changestream/token      the change log and the places in it
//	observe                        counters, profiler, log levels, fail points
//	session                        sessions, transactions, retryable writes
//	limits                         memory, connections, the lock of fsyncLock
//	kernel                         the service, the running command, connections
//	access concern gate transaction parameters housekeeping
//	                               what applies to every command
//	exec                           plans run over the storage
//	write                          changes to documents, expiry
//	create, pipeline, explain      collections made; aggregation; explained queries
//	changestream                   the change log as events
//	crud ddl mq users replication settings diagnostics
//	                               the commands, by family
//
// Each family defines its lines of the command table (table.go). This package itself has
// what needs all rooms: dispatch, applyOps, hello, the rules of the stable API, and the
// sources of pipelines.
package commands
