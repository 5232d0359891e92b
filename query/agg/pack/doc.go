// Package pack answers the head of a pipeline from what packs ([stage.Packs]:
// the buckets of a time series) tell of their documents, without opening them
// where that can be avoided. A [Plan] is one of:
//
//   - $group by the shared field or a truncated time, with accumulators that
//     the least and greatest values or the number of documents answer
//     (group.go, key.go),
//   - $sort by time, which opens packs in order and as late as possible
//     (sort.go),
//   - the last point: $sort and $group that ask for one document of each
//     series (lastpoint.go).
//
// A plan gives what the stages it stands for would have given, down to the
// order; [NewPlan] returns nil where it could not. Package pipeline asks for
// plans when it runs and explains a pipeline.
//
// The package stands above stage, order and group.
package pack
