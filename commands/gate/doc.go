// Package gate has checks that all commands share: the stable API, contradicting fields,
// arguments given twice, blocked writes.
package gate
