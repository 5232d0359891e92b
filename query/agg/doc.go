// Package agg compiles and runs aggregation pipelines.
//
//	p, err := agg.Compile(pipeline, agg.Options{DB: "shop", Coll: "orders"})
//	it, err := p.Open(exec)              // reads from the host's collection
//	defer it.Close()
//	for doc, err := it.Next(); doc != nil; doc, err = it.Next() { … }
//
// # Parts
//
// This package has what its users need: [Compile], the names of the types
// (aliases.go), and two tables (table.go): definitions, with one line for each
// stage, and the rules of the optimiser. The implementation is in the packages
// below it, each of which uses only earlier ones in this list:
//
//   - stage: the interface of a stage, a run, and the host
//   - order: $sort, and the sorter that other stages use
//   - flow: the stages that process one document at a time
//   - source: the stages that produce documents
//   - group: $group and related stages, with the accumulators of package
//     accumulate
//   - window: $setWindowFields, $fill, $densify
//   - pack: results from packs of documents, without unpacking them
//   - pipeline: pipelines, optimised and run
//   - lookup: the stages with pipelines inside
//   - fusion: $rankFusion, $scoreFusion and $score
//   - write: $out and $merge
//
// [Compile] checks every stage and reports all errors of the user before a
// document is read. Stages that are defined by other stages ($count, $bucket,
// $fill, …) are replaced by them. Then the optimiser (pipeline/optimize.go) moves
// $match and $limit towards the source, joins adjacent stages and removes stages
// that do nothing; it never changes the result.
//
// A stage's [Iterator] requests documents from the stage before it, one at a time.
// So between two batches of a cursor a pipeline holds no lock. $sort and $group
// must read all input first; above [Exec].MemoryLimit they write temporary files
// (package spill), or fail if the client has forbidden that.
//
// Errors are MongoDB's own, without the context that a command adds ("Executor
// error during aggregate command on namespace: … :: caused by :: …").
//
// A [stage.Host] provides everything outside the pipeline: other collections,
// statistics, writing. A pipeline's [Leading] part lists what the host can do
// itself when it opens the source: filter, sort, limit, fields.
//
// # Documents
//
// Documents are immutable bytes. A document that an Iterator has returned stays
// valid, so stages may keep it. Metadata (text score, distance, …) is not part of
// the document: it is in Exec.Env.Meta, and always belongs to the document that was
// returned last. Stages that reorder documents save and restore it.
package agg
