// Package harness runs commands in tests, without a network: a [Harness] is a
// service over an engine in memory whose clock stands until it is moved. The tests of
// the rooms of commands use it, each from its own package.
package harness
