// Package match compiles MongoDB filters and runs them on documents.
//
//	m, err := match.Compile(filter, match.Options{})
//	ok, err := m.Match(env, doc)
//
// [Compile] compiles the filter to a tree of immutable nodes. It reports every
// mistake in a filter, with MongoDB's code and message. [Matcher.Match] then
// walks the tree over the bytes of a document. Plain filters match without
// allocating.
//
// The tree has two kinds of nodes. Logical nodes ([And], [Or], [Nor], [Not])
// combine others. Leaves test the values at one path: [value.Path.Each] finds
// those values and handles arrays, and the leaf tests one value at a time. The
// node types are exported so that the planner can derive index bounds from
// them.
//
// Each operator has one line in the tables in parse.go, with its parser. The
// parser is in the same file as the node that it returns.
//
// The package is for the rest of DuskDB: it may change with any version.
package match
