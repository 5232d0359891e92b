// Package lookup holds the stages with pipelines inside: $lookup, $graphLookup,
// $unionWith and $facet.
//
// $lookup is optimised for speed. equal.go compiles the equality of localField and
// foreignField (or one found in $expr) once, with a slot for the value, so that the host
// can plan the request once and open it for each document. batch.go reads inputs together
// (1, 16, 256 of them), so that the host reads for all their values at once. hash.go
// keeps the documents of a collection without such an index by their values. run.go
// caches the result of the first stages of the sub-pipeline that use no variable.
// source.go opens the foreign collection or view. rules.go has the rules of the optimiser
// that join an $unwind or a $match into these stages.
//
// The package stands above package pipeline; only agg knows it.
package lookup
