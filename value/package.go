// Package value is the data model of DuskDB: BSON as views over bytes.
//
// A document is its bytes ([Doc]) and is never decoded into maps or trees on
// a hot path. A [Value] is a small struct that views one element: scalars
// sit in a machine word, so computed numbers need no allocation; strings,
// documents, arrays and binary data alias the bytes they were read from.
//
// The rules that the rest of the project relies on live here and nowhere
// else:
//
//   - [Compare] is MongoDB's order over all BSON types.
//   - [AppendKey] turns a value into bytes whose bytes.Compare order agrees
//     with Compare, which is what indexes are made of.
//   - [Path] walks dotted paths through documents and arrays.
//   - [Builder] and the Append functions write BSON.
//
// Documents are checked once, when they enter the process ([Validate]), and
// trusted from then on. Nobody may write to a Doc that he did not build:
// stored documents are shared, immutable memory.
//
// # Stability
//
// The package is a preview for those who write an engine: it may still change
// between versions, and CHANGELOG.md says so when it does.
package value
