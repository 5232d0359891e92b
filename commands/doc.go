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
// ARCHITECTURE.md lists the rooms; each uses only those below it: the families of commands
// use the rooms that run queries and write documents, these use the checks of every command,
// and all of them use the kernel and the small packages under it.
//
// Each family has its part of the command table in Commands (table.go). This package itself has
// what needs all rooms: dispatch, hello, the rules of the stable API, and the
// sources of pipelines.
package commands
