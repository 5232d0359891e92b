// Package kernel has what all commands share: the [Service] with its parts, the running
// command ([Call]), the connection ([Conn]), cursors, the line of the command table
// ([Command]), names, generic arguments, errors. The rules for all commands are in
// packages above it: access, concern, gate, transaction.
//
// A Call accesses the storage in three ways. [Call.View] runs a read on the state that the
// command reads: that of its transaction, of its snapshot, or the latest. [Call.Update]
// runs a write, which is logged and retried after conflicts, within the command's
// transaction if it has one. [Call.Visible] opens a collection without the documents that
// have expired under document TTL. Code that reads records in another way must give its
// reason (see TestReadsPassTheGate).
//
// # Memory of small commands
//
// The memory of small commands (the Call, the builder of the reply, the context that
// killOp ends, the names that were used last) belongs to the connection's workspace and is
// reused by one command after the other. A command whose Call is used after it has ended,
// by a cursor, keeps the Call. A command that does not need its Call any more declares this
// by [Call.LeavesNothing].
package kernel
