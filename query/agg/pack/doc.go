// Package pack runs the first stages of a pipeline on packs ([stage.Packs]: the buckets
// of a time series). It uses the summary that a pack has of its documents, and unpacks it
// only if that is not enough. A [Plan] is one of:
//
//   - $group by the shared field or a truncated time, with accumulators that can be
//     computed from the least and greatest values or the number of documents
//     (group.go, key.go),
//   - $sort by time, which unpacks in order and as late as possible (sort.go),
//   - the last point: $sort and $group that ask for one document of each
//     series (lastpoint.go).
//
// A plan returns the same documents in the same order as the stages that it replaces;
// if that is not possible, [NewPlan] returns nil. Package pipeline asks for a plan when it
// runs or explains a pipeline.
//
// The package stands above stage, order and group.
package pack
