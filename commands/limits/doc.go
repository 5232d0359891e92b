// Package limits bounds the resources of the server: the memory of the data and the rate
// of new connections. It also has the lock of fsyncLock.
//
// # Memory
//
// Clients cannot exhaust the server's memory. Large messages and large replies wait for
// their share of a budget; writes beyond the memory limit are refused (146); long operations
// go on one after the other while they have claimed or allocated too much together
// (turns.go). Expressions and stages claim large arrays, groups and sorts before they
// allocate them (expr.Memory, stage.Claim), and a large command what it will be compiled to
// (kernel.Call.ClaimCompiled). A claim stays until the command ends, because documents
// further on may hold what was claimed.
package limits
