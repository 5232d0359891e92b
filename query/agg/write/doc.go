// Package write implements the stages that write the results of a pipeline to a
// collection: $out and $merge.
//
// They create the documents and updates (merge.go reads whenMatched and
// whenNotMatched, mergerun.go creates the update of each case). The [stage.Host]
// finds the target and writes. $out writes a new collection that replaces the old
// one when it is complete.
//
// The package uses package pipeline, which compiles the pipeline of whenMatched,
// and package update. Only agg imports it.
package write
