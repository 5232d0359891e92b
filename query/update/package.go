// Package update compiles and applies updates: documents of operators,
// replacements and pipelines.
//
//	u, err := update.Compile(spec, update.Options{})
//	newDoc, modified, err := u.Apply(env, oldDoc, update.ApplyOptions{Position: -1})
//
// # Operators
//
// [Compile] merges all operators into one tree whose nodes are path components
// and whose leaves are modifiers:
//
//	{$set: {"a.b": 1}, $inc: {"a.c": 2, d: 1}}
//
//	root ─ a ─ b  $set 1
//	     │   └ c  $inc 2
//	     └ d      $inc 1
//
// Two operators on the same path, or on a path and a part of it, collide when
// the tree is built. [Update.Apply] walks document and tree together, once,
// and writes the new document on the way: fields that the tree does not name
// are copied as raw bytes, in runs. The children of a node are kept in
// MongoDB's order (by name, numbers by value), which is the order in which new
// fields appear.
//
// An array component of the tree is a number, the positional "$" (a number
// that is known once the query has matched), or "$[]" and "$[id]" (an
// [elements] node). If several of them select the same element, their subtrees
// are merged for it.
//
// A modifier reports whether it changed anything: an unchanged document is
// returned as it was, with modified false.
//
// # Rules for stored documents
//
// The _id never changes; a field at the top level may not begin with "$"; a
// document nests at most 180 levels and has at most 16 MiB. [ValidateID] and
// [FillTimestamps] serve inserts too.
//
// The package is for the rest of DuskDB: it may change with any version.
package update
