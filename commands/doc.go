// Package commands is what the server can be asked to do: one line of the
// command table and one file for each MongoDB command, over the storage
// contract, the query language and the expiry policies. It knows nothing of
// sockets: the server package hands it a [Request] and a buffer for the
// reply.
//
// A command's life:
//
//  1. [Service.Handle] looks its name up in the table and reads the generic
//     arguments ($db, lsid, txnNumber, maxTimeMS, readConcern, …).
//  2. The gate: handshake, authentication, session, transaction rules.
//  3. The clock is read once; everything the command does happens at that
//     instant (semantics.md §2).
//  4. Its arguments are decoded by one declarative struct (args.go): unknown
//     fields answer 40415, wrong types 14, missing ones 40414.
//  5. It runs, and appends its reply to the buffer. An error, or a panic,
//     replaces whatever it had written.
package commands
