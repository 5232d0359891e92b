// Package stage says what a stage of an aggregation pipeline is, and what it
// may know of the world. It has no stage of its own; the rooms beside it
// (flow, order, group, …) implement [Stage], and package pipeline strings
// stages together.
//
// # Compiling
//
// A [Definition] is one line of the table of stages: a name, the function that
// compiles the specification, and rules on where the stage may stand. The
// table and the rules of the optimiser make up a [Language], which is part of
// the [Options] of every pipeline, since $lookup and its relatives compile
// pipelines within the pipeline. The [Parser] compiles a list of
// specifications, checks how the stages stand together, and carries what
// their arguments are read with: namespace, variables, collation.
//
// A stage answers for itself. What it reads and changes it says by
// [Stage.Deps] and [Stage.Effect]; what only some stages can do they say by an
// interface more: [Writer], [Merger], [OneForEach], [ReadsMeta], [GivesMeta],
// [Measurable], [Involves]. So the optimiser needs to know few stages by type.
//
// # Running
//
// An [Exec] is one run, for one goroutine: the variables, the limits, the
// statistics. A compiled stage is immutable; [Stage.Open] makes an [Iterator]
// that pulls documents out of that of the stage before it.
//
// Everything outside the pipeline - other collections, statistics, writing -
// is asked of a [Host]. Documents that a host stores together it may offer as
// [Packs].
//
// # Beside these
//
// Here too is what stages of all rooms are made of: setting and replacing a
// field ([SetPath], [Place]), metadata beside documents ([MetaDoc]), and the
// errors for arguments, which are mongod's to the letter.
//
// The package knows expressions and filters. It must not know any stage.
package stage
