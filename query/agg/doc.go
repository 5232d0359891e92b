// Package agg compiles and runs aggregation pipelines.
//
//	p, err := agg.Compile(pipeline, agg.Options{DB: "shop", Coll: "orders"})
//	it, err := p.Open(exec)              // reads from the host's collection
//	defer it.Close()
//	for doc, err := it.Next(); doc != nil; doc, err = it.Next() { … }
//
// # Parts
//
// This package holds what its users need: [Compile], the names of the types
// (aliases.go), and two tables (table.go): definitions, with one line for each
// stage, and the rules of the optimiser. The work is done in the packages
// below, from the ground up:
//
//   - stage: what a stage is, a run, and the host
//   - order: $sort, and the sorter that others use
//   - flow: the stages that documents flow through one by one
//   - source: the stages that documents come from
//   - group: $group and its relatives, with the accumulators of package
//     accumulate
//   - window: $setWindowFields, $fill, $densify
//   - pack: answers from packs of documents that need not be opened
//   - pipeline: stages strung together, optimised and run
//   - lookup: the stages with pipelines inside
//   - write: $out and $merge
//
// [Compile] checks every stage and reports all mistakes of the user before a
// document is read. Stages that are only a way of writing others ($count,
// $bucket, $fill, …) are replaced by those. Then the optimiser
// (pipeline/optimize.go) moves $match and $limit towards the source, joins
// neighbours and drops what does nothing; it never changes the result.
//
// Execution pulls: a stage's [Iterator] asks the one before it for the next
// document, so a pipeline rests, holding no lock, between two batches of a
// cursor. $sort and $group must see all input first; above
// [Exec].MemoryLimit they move to temporary files (package spill) or fail if
// the client forbade it.
//
// Errors are MongoDB's own, without the context that a command adds ("PlanExecutor
// error during aggregation :: caused by :: …").
//
// Everything outside the pipeline - other collections, statistics, writing -
// is asked of a [Host]. A pipeline's [Leading] part says what the host may
// take over when it opens the source: filter, sort, limit, fields.
//
// # Documents
//
// Documents are immutable bytes. A document that an Iterator returned stays
// valid for ever, so stages may keep it. Metadata (text score, distance, …)
// does not travel in the document: it stands in Exec.Env.Meta, which always
// belongs to the document returned last; stages that reorder documents keep
// and restore it.
package agg
