package crud

import (
	"github.com/duskdb/duskdb/commands/explain"
	"github.com/duskdb/duskdb/commands/kernel"
)

// Commands returns the commands that read and write documents.
func Commands() []kernel.Command {
	return []kernel.Command{
		{Name: "insert", Run: runInsert, Flags: kernel.Writes | kernel.InTxn, Action: "insert", On: kernel.OnCollection, Help: "insert documents"},
		{Name: "update", Run: runUpdate, Flags: kernel.Writes | kernel.InTxn, Action: "update", On: kernel.OnCollection, Help: "update documents"},
		{Name: "delete", Run: runDelete, Flags: kernel.Writes | kernel.InTxn, Action: "remove", On: kernel.OnCollection, Help: "delete documents"},
		{Name: "findAndModify", Aliases: []string{"findandmodify"}, Run: runFindAndModify, Flags: kernel.Writes | kernel.InTxn, Action: "update", On: kernel.OnCollection, Help: "change one document and return it"},
		{Name: "find", Run: runFind, Flags: kernel.Reads | kernel.InTxn, Action: "find", On: kernel.OnCollection, Help: "query documents"},
		{Name: "getMore", Run: runGetMore, Flags: kernel.Reads | kernel.InTxn, Help: "read the next batch of a cursor"},
		{Name: "killCursors", Run: runKillCursors, Flags: kernel.InTxn, Help: "close cursors"},
		{Name: "count", Run: runCount, Flags: kernel.Reads, Action: "find", On: kernel.OnCollection, Help: "count documents"},
		{Name: "distinct", Run: runDistinct, Flags: kernel.Reads | kernel.InTxn, Action: "find", On: kernel.OnCollection, Help: "list the distinct values of a field"},
		{Name: "explain", Run: explain.Run, Flags: kernel.Reads, Help: "show how a query would run"},
		{Name: "aggregate", Run: runAggregate, Flags: kernel.Reads | kernel.Writes | kernel.InTxn, Action: "find", On: kernel.OnCollection, Help: "run an aggregation pipeline"},
	}
}
