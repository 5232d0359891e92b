package commands

// crudCommands are the commands that read and write documents.
func crudCommands() []command {
	return []command{
		{name: "insert", run: runInsert, flags: writes | inTxn, action: "insert", on: onCollection, help: "insert documents"},
		{name: "update", run: runUpdate, flags: writes | inTxn, action: "update", on: onCollection, help: "update documents"},
		{name: "delete", run: runDelete, flags: writes | inTxn, action: "remove", on: onCollection, help: "delete documents"},
		{name: "findAndModify", aliases: []string{"findandmodify"}, run: runFindAndModify, flags: writes | inTxn, action: "update", on: onCollection, help: "change one document and return it"},
		{name: "find", run: runFind, flags: reads | inTxn, action: "find", on: onCollection, help: "query documents"},
		{name: "getMore", run: runGetMore, flags: reads | inTxn, help: "read the next batch of a cursor"},
		{name: "killCursors", run: runKillCursors, flags: inTxn, help: "close cursors"},
		{name: "count", run: runCount, flags: reads, action: "find", on: onCollection, help: "count documents"},
		{name: "distinct", run: runDistinct, flags: reads | inTxn, action: "find", on: onCollection, help: "list the distinct values of a field"},
		{name: "explain", run: runExplain, flags: reads, help: "show how a query would run"},
		{name: "aggregate", run: runAggregate, flags: reads | writes | inTxn, action: "find", on: onCollection, help: "run an aggregation pipeline"},
	}
}
