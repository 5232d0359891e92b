// Package flow holds the stages that documents flow through one by one: $match,
// $project with $addFields, $set and $unset, $replaceRoot, $redact, $unwind,
// $limit, $skip, and $sample, which keeps as many as it gives.
//
// filter.go looks into filters for those who move them: which paths a filter
// reads, whether it holds a certain operator or refers to a variable.
//
// The package stands above package stage and uses filters, projections and
// expressions.
package flow
