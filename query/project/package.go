// Package project compiles and applies projections: the fields of find, and
// the stages $project, $addFields ($set) and $unset of pipelines.
//
//	p, err := project.Compile(spec, project.Options{})
//	d, err := p.Apply(env, nil, doc)
//
// A projection is a tree of field names. Its leaves say what becomes of a
// field: included, excluded, or computed by an expression. A document is
// walked together with the tree once; what stays is copied as raw bytes.
//
// Three kinds of projection share the tree. They differ in what happens to a
// field that the tree does not name, and to a scalar where the tree expects
// a document:
//
//	kind        not named    scalar instead of a document
//	inclusion   dropped      dropped
//	exclusion   kept         kept
//	addition    kept         replaced by the computed fields
//
// Arrays on the way are entered, nested ones too, and every element is
// treated alike. Fields keep the order of the document; computed fields that
// were not there follow in the order of the specification.
//
// What only find knows, $slice and the positional operator, is done on the
// result in a second step (find.go).
//
// The package is for the rest of DuskDB: it may change with any version.
package project
