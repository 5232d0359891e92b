// Package growth finds operations whose cost is the square of something that
// clients choose: elements, documents, branches, fields, cursors, sessions, collections.
//
// Every name in the tables of stages, expressions, query operators, update operators,
// accumulators, window operators and commands has cases here; TestEveryNameHasACase
// fails for one without. A case is a command with a size n. It runs with sizes 2, n, 2n and
// 4n, and what it costs beyond the cost of size 2 must not grow more than 2.6-fold when n
// doubles, unless the table known lists it with the reason.
//
// TestBytes compares allocated bytes, which are nearly the same in every run, so they are part
// of the ordinary tests. They show work that copies. TestProcessorTime compares the processor
// time of the process, which also shows work that only compares; it takes about two minutes
// and runs when DUSKDB_GROWTH is set (.ci/run growth).
//
// TestTrips… count the round trips of a server over PostgreSQL, with n and 2n collections,
// documents that are due, and change streams.
package growth
