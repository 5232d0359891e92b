// Package flow implements the stages that process one document at a time: $match,
// $project with $addFields, $set and $unset, $replaceRoot, $redact, $unwind, $limit
// and $skip; and $sample, which keeps as many documents as it returns.
//
// filter.go analyses filters for the optimiser: which paths a filter reads, and
// whether it contains a certain operator or a reference to a variable.
//
// The package uses package stage, filters, projections and expressions.
package flow
