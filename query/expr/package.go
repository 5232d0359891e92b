// Package expr compiles and evaluates MongoDB's aggregation expressions, as
// used in $project, $group, $expr, pipeline updates and many more places.
//
// [Compile] compiles a BSON value to an [Expr]: a tree of immutable nodes that
// any number of goroutines may share. It reports all errors that do not depend
// on a document, and evaluates constant sub-expressions once (an error there
// is a [FoldError], to distinguish it from a syntax error).
//
//	scope := expr.NewScope()
//	e, err := expr.Compile(v, scope)      // {$add: ["$a", 1]}
//	result, err := e.Eval(expr.NewEnv(now), doc)
//
// An [Env] holds the mutable inputs of an evaluation: the clock, variables,
// metadata of the current document, the collation. It belongs to one
// goroutine.
//
// A [Scope] knows at compile time which variables exist and gives each a slot
// in Env.Vars, so that no name is looked up during evaluation.
//
// The operators are in one table (table.go), one line each: name, category,
// arity and the function that evaluates it. [Names] lists them. Calendars and
// time zones are in package datetime, logarithms and sines in package exact.
//
// Errors carry MongoDB's codes and texts. An expression whose operands are
// numbers, booleans and dates is evaluated without allocating.
//
// # Interruption
//
// No command goes on for long after maxTimeMS, killOp, or the end of its client or of the
// server. Whatever evaluates expressions, conditions and updates counts its steps, and the
// bytes that it searches as so many steps (Env.Weigh); every thousand steps it looks whether
// the command was killed. What cannot look, such as a search by Go's regular expressions,
// reads from something that can, is small, or runs beside its command (package pcre). A long
// command also lets others go first each time it looks.
//
// The package is for the rest of DuskDB: it may change with any version.
package expr
