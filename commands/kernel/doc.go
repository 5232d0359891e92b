// Package kernel is what all commands share: the [Service] with its parts, the
// running command ([Call]), the connection ([Conn]), cursors, the line of the command
// table ([Command]), names, generic arguments, errors. The rules that hold whatever the
// command is stand in packages of their own above it: access, concern, gate,
// transaction.
//
// A Call sees the storage in three ways. [Call.View] runs a read on the state that the
// command may see: that of its transaction, of its snapshot, or the latest.
// [Call.Update] runs a write, logged and retried after conflicts, within the command's
// transaction if it has one. [Call.Visible] opens a collection through the gate that
// hides what has expired under document TTL; what reads records in another way must
// say why (see TestReadsPassTheGate).
//
// # Memory of small commands
//
// What small commands need (the Call, the builder of the reply, the context that
// killOp ends, the names that were used last) belongs to the connection's workspace
// and is used by one command after the other. A command that leaves something behind
// that holds its Call, as a cursor or a transaction does, keeps it; one that does not
// says so by [Call.LeavesNothing].
package kernel
