// Package write holds the stages that end a pipeline by writing a collection:
// $out and $merge.
//
// They decide what is written (merge.go reads whenMatched and whenNotMatched,
// mergerun.go makes the document of each case); the [stage.Host] finds the
// target, and writes. $out writes a new collection that takes the place of the
// old one when it is complete.
//
// The package stands above package pipeline, with which it compiles the
// pipeline of whenMatched, and uses package update; only agg knows it.
package write
