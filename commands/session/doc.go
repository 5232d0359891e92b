// Package session has the state that outlives a command: logical sessions, their
// transactions, snapshots for reads at a cluster time, and the history of retryable writes.
//
// A session has a turn. Commands with a txnNumber take it, so that they run one after the
// other. Only the holder of the turn may use the state of that number.
//
// # Retryable writes
//
// A retryable write carries a txnNumber, and each of its statements a number of its
// own. What a statement has written is remembered in the session's record in
// config.transactions by the same engine transaction that wrote it. When a client that
// lost the reply sends the command again, on another connection or after a restart,
// the statement is answered from there instead of run. A statement that wrote nothing
// is not remembered: it may as well run again.
//
// A command of n statements must cost n, not the square of it: the record holds the
// latest outcomes only; older ones move, many at a time, to parts in
// config.system.statements that are not written again (parts.go).
package session
