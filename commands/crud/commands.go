package crud

import (
	"github.com/duskdb/duskdb/commands/explain"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// Commands returns the commands that read and write documents.
func Commands() []kernel.Command {
	return []kernel.Command{
		// Read and write documents.
		{Name: "insert", Run: runInsert, Flags: kernel.Writes | kernel.InTxn | kernel.UserWrite | kernel.Retryable | kernel.HidesOutcome | kernel.Sequences | kernel.WriteOp | kernel.PlainInserts, Action: "insert", On: kernel.OnCollection, Help: "insert documents"},
		{Name: "update", Run: runUpdate, Flags: kernel.Writes | kernel.InTxn | kernel.UserWrite | kernel.Retryable | kernel.HidesOutcome | kernel.Sequences | kernel.WriteOp, Action: "update", On: kernel.OnCollection, Help: "update documents"},
		{Name: "delete", Run: runDelete, Flags: kernel.Writes | kernel.InTxn | kernel.UserWrite | kernel.Retryable | kernel.HidesOutcome | kernel.Sequences | kernel.WriteOp, Action: "remove", On: kernel.OnCollection, Help: "delete documents"},
		{Name: "findAndModify", Aliases: []string{"findandmodify"}, Run: runFindAndModify, Flags: kernel.Writes | kernel.InTxn | kernel.UserWrite | kernel.Retryable | kernel.WriteOp, Action: "update", On: kernel.OnCollection, Help: "change one document and return it"},
		{Name: "find", Run: runFind, Flags: kernel.Reads | kernel.InTxn | kernel.SnapshotRead | kernel.TimedRead | kernel.SecondaryOk | kernel.ReadOp, Action: "find", On: kernel.OnCollection, Help: "query documents"},
		{Name: "getMore", Run: runGetMore, Flags: kernel.Reads | kernel.InTxn | kernel.SnapshotRead | kernel.Continues | kernel.ReadOp, Help: "read the next batch of a cursor"},
		{Name: "killCursors", Run: runKillCursors, Flags: kernel.InTxn | kernel.Profiled, Help: "close cursors"},
		{Name: "count", Run: runCount, Flags: kernel.Reads | kernel.TimedRead | kernel.SecondaryOk | kernel.ReadOp, Action: "find", On: kernel.OnCollection, TxnHint: " Please see http://dochub.mongodb.org/core/transaction-count for a recommended alternative.", Help: "count documents"},
		{Name: "distinct", Run: runDistinct, Flags: kernel.Reads | kernel.InTxn | kernel.SnapshotRead | kernel.TimedRead | kernel.SecondaryOk | kernel.ReadOp, Action: "find", On: kernel.OnCollection, Help: "list the distinct values of a field"},
		{Name: "explain", Run: explain.Run, Flags: kernel.Reads | kernel.SecondaryOk | kernel.Profiled | kernel.WrapsCommand, Help: "show how a query would run"},
		{Name: "aggregate", Run: runAggregate, Flags: kernel.Reads | kernel.Writes | kernel.InTxn | kernel.UserWrite | kernel.SnapshotRead | kernel.TimedRead | kernel.SecondaryOk | kernel.ReadOp, Action: "find", On: kernel.OnCollection, WritesUsers: gate.WritesUnless(func(d value.Doc) bool { return !kernel.WritesOut(d.Lookup("pipeline").Doc()) }), Help: "run an aggregation pipeline"},

		// Write to several collections at once.
		{Name: "bulkWrite", Run: runBulkWrite, Flags: kernel.AdminOnly | kernel.Writes | kernel.InTxn | kernel.UserWrite | kernel.Retryable | kernel.Sequences | kernel.WriteOp | kernel.Profiled, WritesUsers: gate.NamesUserDatabase, Help: "insert, update and delete in several collections"},

		// Map and reduce.
		{Name: "mapReduce", Aliases: []string{"mapreduce"}, Run: runMapReduce, Flags: kernel.Reads | kernel.Writes | kernel.UserWrite, Action: "find", On: kernel.OnCollection, WritesUsers: gate.WritesUnless(func(d value.Doc) bool { return d.Lookup("out").Doc().Has("inline") }), Help: "map and reduce documents with JavaScript; deprecated"},

		// Start, refresh, end and kill sessions.
		{Name: "startSession", Run: runStartSession, Help: "start a logical session"},
		{Name: "endSessions", Run: runEndSessions, Flags: kernel.NoSession, Help: "end logical sessions"},
		{Name: "refreshSessions", Run: runRefreshSessions, Flags: kernel.NoSession, Help: "keep logical sessions alive"},
		{Name: "killSessions", Run: runKillSessions, Flags: kernel.NoSession, Help: "end what runs in sessions"},
		{Name: "killAllSessions", Run: runKillAllSessions, Flags: kernel.NoSession, Action: "killAnySession", On: kernel.OnCluster, Help: "end what runs in the sessions of some or all users"},
		{Name: "killAllSessionsByPattern", Run: runKillAllSessionsByPattern, Flags: kernel.NoSession, Action: "killAnySession", On: kernel.OnCluster, Help: "end what runs in the sessions that match a pattern"},
		{Name: "refreshLogicalSessionCacheNow", Run: runRefreshSessionCache, Enabled: forTests, Help: "write the sessions down at once"},
		{Name: "reapLogicalSessionCacheNow", Run: runReapSessionCache, Enabled: forTests, Help: "forget at once what ended sessions have left"},
	}
}

// forTests reports whether the server has the commands for tests.
func forTests(s *kernel.Service) bool { return s.Params.Bool("enableTestCommands") }
