// Package stage defines the interface of a stage of an aggregation pipeline, and the
// interface of its host. It implements no stage itself: the packages beside it (flow,
// order, group, …) implement [Stage], and package pipeline combines stages.
//
// # Compiling
//
// A [Definition] is one line of the table of stages: a name, the function that
// compiles the specification, and rules on where the stage may be used. The
// table and the rules of the optimiser make up a [Language], which is part of the
// [Options] of every pipeline, since stages like $lookup compile sub-pipelines. The
// [Parser] compiles a list of specifications, checks the order of the stages, and holds
// what their arguments depend on: namespace, variables, collation.
//
// Each stage declares what it reads and changes, by [Stage.Deps] and [Stage.Effect].
// Abilities that only some stages have are separate interfaces: [Writer], [Merger],
// [OneForEach], [ReadsMeta], [GivesMeta], [Measurable], [Involves]. So the optimiser
// needs to know the types of few stages.
//
// # Running
//
// An [Exec] is one run, in one goroutine: the variables, the limits, the statistics. A
// compiled stage is immutable; [Stage.Open] returns an [Iterator] that reads from the
// iterator of the stage before it.
//
// A [Host] does everything outside the pipeline: it opens collections, returns
// statistics, and writes. Documents that it stores together it may return as [Packs].
//
// # Shared code
//
// The package also has what stages share: functions that set a field ([SetPath],
// [Place]), documents with metadata ([MetaDoc]), and the errors for arguments, with
// mongod's messages.
//
// The package may import expressions and filters, but no stage.
package stage
