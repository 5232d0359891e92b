// Package pipeline compiles a list of stages to a [Pipeline], optimises it, and runs it.
//
// The optimiser (optimize.go) tries the rules of the [stage.Language] on each
// pair of neighbours until none applies. The rules that need no sub-pipeline are here:
// they join neighbours, and move $match and $limit towards the source (pushdown.go
// splits filters, to move the conditions that can be moved). A rule never changes the
// result.
//
// A run begins with the [Leading] part of the pipeline: the filter, order, limit and
// fields that the source may take over (leading.go). The host opens the source, and the
// stages that the source did not take over run on its documents (run.go). For a view, its
// pipeline comes first.
//
// The package imports the stages that can be part of Leading (flow, order, source,
// group, pack). The stages with sub-pipelines import this package.
package pipeline
