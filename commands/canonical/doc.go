// Package canonical holds queries as they are planned: compiled, checked and named by
// their shape. Nothing here reads a document; package exec runs what is made here.
//
// A [Query] is a compiled filter with all that decides how documents are found.
// [CompileFilter] makes it and refuses what a filter, a sort and a hint cannot say
// together.
//
// Queries that differ in values only have one shape. There are three names for it:
//
//   - [Query.Shape], a number, under which the plan cache and index filters know it;
//   - [PlanCacheKey], the shape together with the indexes that are of use for it;
//   - [QueryShapeHash], of a whole command with its namespace, which query settings are
//     for.
//
// The planner (package query/plan) knows nothing of storage: [PlanCollection] describes a
// collection to it, [HintOf] a hint, [BySettings] what query settings allow.
package canonical
