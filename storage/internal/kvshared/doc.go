// Package kvshared implements the contract of package storage over an ordered key-value
// store that several servers use at the same time, each call of which is a round trip: the
// [Store]. Its [Engine] uses the transactions, the catalog and the layout of package kv.
//
// # Reading
//
// A View reads one state of the store, which its first read chooses. It knows the catalog
// from memory. The first read also returns the [Head] of the state, which says whether the
// catalog is the right one; if it is not, the server reads what has changed and the View
// runs again (withCatalog).
//
// # The ways to commit
//
// An Update runs at least twice. The dry run has no right to commit: it reads the latest
// state, what it writes is thrown away, and what it reads is kept in a read set. Then the
// updates of this server that wait are committed together, in one of two ways, by the
// goroutine that has the writer's token:
//
//	                dry run ── has written nothing ──────────────▶ done
//	                   │ read set
//	                   ▼
//	           ┌── optimistic? ── no: backing off, claims of a transaction,
//	           │ yes              something read is not known any more ──┐
//	           ▼                                                         │
//	run on what was read, as it is                                       │
//	after this server's last commit                                      │
//	           │                                                         │
//	Attempt: 1 trip ── the head has moved, a key is taken ── backoff ──┐ │
//	           │                                                       ▼ ▼
//	           ▼                                    Lock: 1 trip, reads again what has changed
//	         done                                                        │
//	           ▲                                    run on that; Commit: 1 trip
//	           └─────────────────────────────────────────────────────────┘
//
// Optimistic: the trip that writes makes sure that the version of the head is the one that
// this server knows. If it is, nobody else has committed since, and the history of this
// server's own commits tells how everything that was read is now. What no dry run has
// looked for is a condition of the trip: that a unique key is free, and of which versions
// the statistics are that it replaces. A commit that changes the catalog, or a collection
// that other servers keep in memory, needs the lock.
//
// Under the lock: one trip takes the lock of the head, which orders the commits of all
// servers, and reads again what has changed of the read sets; the updates run on that, and a
// second trip writes and commits. An update that fails after it has written restarts the
// group under the same lock.
//
// If a trip fails because the database cannot be reached, the commit is tried again for ten
// seconds ([ErrAgain]). The store finds out whether a commit has happened whose answer was
// lost.
//
// A snapshot transaction claims in the store what it writes, in a trip that also finds out
// whether that has changed since the snapshot (claim.go). Its commit repeats its writes in an
// Update under the lock.
//
// # What a server knows
//
//	knowledge    the catalog, the newest head, the greatest stamp; statistics are estimates
//	history      what this server's last commits have written
//	lookupCache  records that were found by unique keys, right as long as nobody else commits
//	guesses      which records unique keys have led to, which may be wrong; whoever reads such a
//	             record looks whether it has the key, and otherwise searches for the entry
//	builds       the indexes that this server builds
//
// # Locks
//
//	writer.token   a token, the right to write on this server: scratch, backoff, history
//	knowledge.mu   the replacement of the catalog; everything in knowledge is read without it
//	lookupCache.mu all its fields but the guesses, which are atomic
//	share.Queue    has a lock of its own for the updates that wait
//	counts, builds, provisional: atomic
//
// The lock of the head is taken by a server that has its token, never the other way round.
// A transaction, its read set and its claims belong to one goroutine at a time.
package kvshared
