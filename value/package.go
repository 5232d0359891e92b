// Package value is the data model of DuskDB: BSON as views over bytes.
//
// A document is its bytes ([Doc]) and is never decoded into maps or trees on a
// hot path. A [Value] is a small struct that views one element: scalars sit in
// a machine word, so computed numbers need no allocation; strings, documents,
// arrays and binary data alias the bytes they were read from.
//
// The rules that the rest of the project relies on are implemented only here:
//
//   - [Compare] is MongoDB's order over all BSON types.
//   - [AppendKey] converts a value to bytes whose bytes.Compare order agrees with Compare: the keys of indexes.
//   - [Path] walks dotted paths through documents and arrays.
//   - [Builder] and the Append functions write BSON.
//
// Documents are validated once, when they enter the process ([Validate]), and
// trusted from then on. Write only to a Doc that you have built: stored
// documents are shared, immutable memory.
//
// # Keys
//
// Equal numbers have equal keys whatever their type: an order-preserving double, truncated
// toward zero, followed by the remaining decimal digits if the double is not exact. A key
// does not distinguish 1 from 1.0, or a missing field from null. A tail after the key, empty
// in most cases, does, so that an index of ordinary fields without a collation can cover
// queries. The tail affects only the engine's order of equal keys: uniqueness and look-ups
// use storage.Index.Order. An index also collects, as a set of bits, which components of its
// paths have arrays (storage.Multikey).
//
// # Stability
//
// The package is a preview for authors of engines: it may still change between
// versions, and CHANGELOG.md says so when it does.
package value
