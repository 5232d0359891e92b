// Package match compiles MongoDB filters and runs them on documents.
//
//	m, err := match.Compile(filter, match.Options{})
//	ok, err := m.Match(env, doc)
//
// [Compile] turns the filter into a tree of immutable nodes; everything a
// client can do wrong is an error there, with MongoDB's code and message.
// [Matcher.Match] then walks the tree over the bytes of a document. Plain
// filters match without allocating.
//
// Two kinds of nodes make up the tree. Logical nodes ([And], [Or], [Nor],
// [Not]) combine others. Leaves ask something about the values behind one
// path; [value.Path.Each] finds those values and knows all about arrays, the
// leaf only judges one value at a time. The node types are exported so that
// the planner can read index bounds off them.
//
// One line of the tables in parse.go leads from an operator's name to its
// parser; the parser stands beside the node it makes.
//
// The package is for the rest of DuskDB: it may change with any version.
package match
