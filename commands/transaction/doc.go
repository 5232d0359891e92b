// Package transaction runs statements in sessions: the rules of transaction numbers, the
// beginning, continuation and end of transactions, retryable writes, reads at a
// snapshot, and the cluster time that clients and server exchange.
package transaction
