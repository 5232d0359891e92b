// Package pipeline strings stages together: it compiles a list of
// specifications to a [Pipeline], makes it better, and runs it.
//
// The optimiser (optimize.go) tries the rules of the [stage.Language] on each
// pair of neighbours until none applies. The rules that need no other
// pipeline are here: neighbours are joined, $match and $limit move towards the
// source (pushdown.go takes filters apart, to move those conditions that can
// go). A rule never changes the result.
//
// To run a pipeline, its [Leading] part is found: filter, order, limit and
// fields that the source may take over (leading.go). The host is asked for the
// source, and what it did not take over runs behind it (run.go). A view is
// resolved here too: its pipeline is put in front.
//
// The package stands above the stages that can be at the head of a pipeline
// (flow, order, source, group, pack). Those that hold pipelines of their own
// stand above it.
package pipeline
