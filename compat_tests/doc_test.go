// Package compat tests the real duskdb binary with common clients: mongosh, the drivers of
// five languages, Mongoose, and the official suites of the Go driver.
//
// TestMain builds the binary once. A test starts it with [start] on a free
// port and stops it when it ends. Clients in other languages live in the
// folder of their language, pinned by its lock file; the tests install them
// into a cache (see [cacheDir]) and read their results line by line (see
// [reports]).
//
// A language that is not installed skips its tests, with a message. With CI
// set, Node and Python must be there; with DUSKDB_COMPAT_ALL set as well, so
// must Java and Rust.
package compat
