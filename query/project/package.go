// Package project compiles and applies projections: the fields of find, and
// the stages $project, $addFields ($set) and $unset of pipelines.
//
//	p, err := project.Compile(spec, project.Options{})
//	d, err := p.Apply(env, nil, doc)
//
// A projection is a tree of field names. Its leaves say whether a field is
// included, excluded, or computed by an expression. A document is walked
// together with the tree once; fields that stay are copied as raw bytes.
//
// Three kinds of projection share the tree. They differ in what happens to a
// field that the tree does not name, and to a scalar where the tree expects a
// document:
//
//	kind        not named    scalar instead of a document
//	inclusion   dropped      dropped
//	exclusion   kept         kept
//	addition    kept         replaced by the computed fields
//
// Arrays on a path are entered, also nested ones, and every element is
// projected. Fields keep the order of the document; new computed fields follow
// in the order of the specification.
//
// $slice and the positional operator, which only find has, are applied to the
// result in a second step (find.go).
//
// The package is for the rest of DuskDB: it may change with any version.
package project
