package transaction_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// txnScripts go through what the public tests of MongoDB's core
// transactions assert (jstests/core/txns; each names its own), one command
// after the other. Each line is "N: command -> code": N is the transaction,
// with "+" if the command starts it and "-" for none; no arrow means that it
// succeeds.
var txnScripts = []struct{ name, script string }{
	{"finished_transaction_error_handling, errors_on_committed_transaction, empty_commit_abort", `
		1+: {insert: "c", documents: [{_id: 1}]}
		1: {abortTransaction: 1}
		1: {commitTransaction: 1} -> 251
		1: {abortTransaction: 1} -> 251
		1: {insert: "c", documents: [{_id: 2}]} -> 251
		1+: {insert: "c", documents: [{_id: 2}]} -> 117
		2+: {insert: "c", documents: [{_id: 3}]}
		2: {commitTransaction: 1}
		2: {commitTransaction: 1}
		2: {abortTransaction: 1} -> 256
		2: {insert: "c", documents: [{_id: 4}]} -> 256
		2+: {insert: "c", documents: [{_id: 4}]} -> 117
		2: {commitTransaction: 1}
		3: {commitTransaction: 1} -> 251
		4: {abortTransaction: 1} -> 251
		4+: {commitTransaction: 1} -> 263
		5+: {find: "c"}
		5: {commitTransaction: 1}
		6+: {find: "c"}
		6: {abortTransaction: 1}`},
	{"multi_statement_transaction_command_args, commands_banning_txnnumber_outside_transactions", `
		-: {find: "c", txnNumber: {$numberLong: "1"}} -> 72
		-: {find: "c", lsid: {id: {$uuid: "00000000-0000-4000-8000-000000000000"}}, autocommit: false} -> 72
		-: {find: "c", lsid: {id: {$uuid: "00000000-0000-4000-8000-000000000000"}}, txnNumber: {$numberLong: "1"}, startTransaction: true} -> 72
		1+: {find: "c"}
		1+: {find: "c"} -> 117
		1: {commitTransaction: 1}
		2: {find: "c"} -> 251
		3+: {find: "c"}
		3=: {insert: "c", documents: [{_id: 1}]} -> 217
		3=: {commitTransaction: 1} -> 50768
		3=: {abortTransaction: 1} -> 50768
		3: {commitTransaction: 1}
		4=: {aggregate: "c", pipeline: [], cursor: {}} -> 50768
		4=: {distinct: "c", key: "a"} -> 50768
		4=: {find: "c"} -> 50768
		4=: {count: "c"} -> 50768
		4=: {create: "d"} -> 50768
		4=: {drop: "c"} -> 50768
		4=: {ping: 1} -> 50768`},
	{"commands_not_allowed_in_txn: they end no transaction, but start none", `
		1+: {insert: "c", documents: [{_id: 1}]}
		1: {count: "c"} -> 263
		1: {explain: {find: "c"}} -> 263
		1: {filemd5: 1, root: "fs"} -> 263
		1: {isMaster: 1} -> 263
		1: {buildInfo: 1} -> 263
		1: {ping: 1} -> 263
		1: {listCommands: 1} -> 263
		1: {drop: "c"} -> 263
		1: {applyOps: []} -> 263
		1: {mapReduce: "c", map: "f", reduce: "f", out: {inline: 1}} -> 263
		1: {listCollections: 1} -> 263
		1: {listIndexes: "c"} -> 263
		1: {dropIndexes: "c", index: "*"} -> 263
		1: {collMod: "c"} -> 263
		1: {dbStats: 1} -> 263
		1: {renameCollection: "test.c", to: "test.d"} -> 263
		1: {commitTransaction: 1}
		2+: {ping: 1} -> 263
		2: {commitTransaction: 1} -> 251
		3+: {find: "c", readOnce: true} -> 263
		3: {commitTransaction: 1} -> 251`},
	{"banned_collection_reads_in_txn, no_reads_from_system_dot_views_in_txn, ban_tailable_cursor", `
		-: {create: "v", viewOn: "c", pipeline: []}
		-: {create: "capped", capped: true, size: 2048}
		1+: {find: "system.views"} -> 263
		1: {abortTransaction: 1} -> 251
		2+: {find: "system.profile"} -> 263
		2: {abortTransaction: 1} -> 251
		3+: {aggregate: "system.views", pipeline: [], cursor: {}} -> 263
		4+: {find: "capped", tailable: true, awaitData: true} -> 72
		4: {abortTransaction: 1} -> 251
		5+: {aggregate: "c", pipeline: [{$changeStream: {}}], cursor: {}} -> 263
		5: {abortTransaction: 1} -> 251
		6+: {find: "v"}
		6: {commitTransaction: 1}`},
	{"kill_cursors_in_transaction", `
		-: {insert: "c", documents: [{_id: 1}, {_id: 2}, {_id: 3}]}
		1+: {find: "c", batchSize: 2}
		1: {killCursors: "c", cursors: [{$numberLong: "1"}]}
		1: {commitTransaction: 1}
		2+: {killCursors: "c", cursors: [{$numberLong: "1"}]} -> 263
		2: {abortTransaction: 1} -> 251`},
	{"create_indexes, create_existing_indexes, create_collection, implicit_collection_creation_in_txn", `
		1+: {createIndexes: "new", indexes: [{key: {a: 1}, name: "a_1"}]}
		1: {insert: "new", documents: [{a: 1}]}
		1: {create: "second"}
		1: {createIndexes: "second", indexes: [{key: {a: 1}, name: "a_1"}]}
		1: {insert: "third", documents: [{a: [1, 2]}]}
		1: {commitTransaction: 1}
		-: {listIndexes: "new"}
		-: {listIndexes: "second"}
		2+: {createIndexes: "aborted", indexes: [{key: {a: 1}, name: "a_1"}]}
		2: {abortTransaction: 1}
		-: {listIndexes: "aborted"} -> 26
		3+: {createIndexes: "aborted", indexes: [{key: {a: 1}, name: "a_1"}]}
		3: {createIndexes: "aborted", indexes: [{key: {a: -1}, name: "a_1"}]} -> 86
		3: {abortTransaction: 1} -> 251
		4+: {create: "aborted"}
		4: {insert: "aborted", documents: [{a: 1}]}
		4: {createIndexes: "aborted", indexes: [{key: {a: 1}, name: "a_1"}]} -> 263
		4: {abortTransaction: 1} -> 251
		5+: {createIndexes: "c", indexes: [{key: {b: 1}, name: "b_1"}]} -> 263
		6+: {createIndexes: "new", indexes: [{key: {a: 1}, name: "a_1"}]}
		6: {commitTransaction: 1}`},
	{"no_read_or_write_concern_inside_txn, read_concerns, default_read_concern", `
		1+: {find: "c", readConcern: {level: "snapshot"}}
		1: {find: "c", readConcern: {level: "snapshot"}} -> 72
		2+: {find: "c", readConcern: {level: "majority"}}
		2: {commitTransaction: 1, writeConcern: {w: "majority"}}
		3+: {find: "c", readConcern: {level: "local"}}
		3: {abortTransaction: 1, writeConcern: {w: 1}}
		4+: {find: "c", readConcern: {level: "available"}} -> 72
		5+: {find: "c", readConcern: {level: "linearizable"}} -> 72
		6+: {find: "c", readConcern: {}}
		6: {insert: "c", documents: [{}], writeConcern: {w: 1}} -> 72
		7+: {insert: "c", documents: [{}], writeConcern: {w: "majority"}} -> 72
		7: {commitTransaction: 1} -> 251`},
	{"multi_statement_transaction_write_error: an error ends the transaction", `
		-: {insert: "c", documents: [{_id: 1}]}
		1+: {insert: "c", documents: [{_id: 2}]}
		1: {insert: "c", documents: [{_id: 1}, {_id: 3}], ordered: false} -> 11000
		1: {commitTransaction: 1} -> 251
		2+: {update: "c", updates: [{q: {_id: 1}, u: {$set: {_id: 5}}}]} -> 66
		2: {commitTransaction: 1} -> 251
		3+: {delete: "c", deletes: [{q: {_id: {$bad: 1}}, limit: 1}]} -> 2
		3: {commitTransaction: 1} -> 251
		4+: {findAndModify: "c", query: {_id: 1}, update: {$bad: 1}} -> 9
		4: {commitTransaction: 1} -> 251`},
	{"find_and_modify_in_transaction, multi_update_in_transaction, multi_delete_in_transaction, upserts_in_transaction", `
		-: {insert: "c", documents: [{_id: 1, a: 0}, {_id: 2, a: 0}, {_id: 3, a: 1}]}
		1+: {update: "c", updates: [{q: {a: 0}, u: {$set: {a: 5}}, multi: true}]}
		1: {findAndModify: "c", query: {_id: 9}, update: {$set: {a: 1}}, upsert: true, new: true}
		1: {delete: "c", deletes: [{q: {a: 1}, limit: 0}]}
		1: {update: "c", updates: [{q: {_id: 10}, u: {$set: {a: 1}}, upsert: true}]}
		1: {distinct: "c", key: "a"}
		1: {aggregate: "c", pipeline: [{$lookup: {from: "c", localField: "_id", foreignField: "_id", as: "x"}}], cursor: {}}
		1: {commitTransaction: 1}`},
	{"timeseries_insert_in_txn, no_writes_to_unreplicated_collections_in_txn", `
		-: {create: "t", timeseries: {timeField: "time"}}
		1+: {insert: "t", documents: [{time: {$date: "2026-01-01T00:00:00Z"}}]} -> 263
		1: {abortTransaction: 1} -> 251`},
	{"non_transactional_operations_on_session_with_transaction, transactions_write_conflicts", `
		-: {insert: "c", documents: [{_id: 1}]}
		1+: {update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 1}}}]}
		!: {find: "c"}
		!: {insert: "c", documents: [{_id: 2}]}
		1: {update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 2}}}]}
		1: {commitTransaction: 1}
		2+: {find: "c"}
		-: {update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 3}}}]}
		2: {update: "c", updates: [{q: {_id: 1}, u: {$set: {a: 4}}}]} -> 112
		2: {commitTransaction: 1} -> 251
		3+: {find: "c"}
		-: {delete: "c", deletes: [{q: {_id: 1}, limit: 1}]}
		3: {delete: "c", deletes: [{q: {_id: 1}, limit: 1}]} -> 112`},
	{"commands_in_txns_read_concern: the catalog is read as it is", `
		1+: {create: "new", readConcern: {level: "local"}}
		1: {createIndexes: "new", indexes: [{key: {a: 1}, name: "a_1"}]}
		1: {commitTransaction: 1}
		2+: {find: "c", readConcern: {level: "local"}}
		2: {create: "second"}
		2: {commitTransaction: 1}
		3+: {create: "third", readConcern: {level: "snapshot"}} -> 72
		3: {abortTransaction: 1} -> 251
		4+: {createIndexes: "third", indexes: [{key: {a: 1}, name: "a_1"}], readConcern: {level: "snapshot"}} -> 72
		4: {abortTransaction: 1} -> 251
		5+: {find: "c", readConcern: {level: "snapshot"}}
		5: {create: "third"} -> 72
		5: {abortTransaction: 1} -> 251
		6+: {find: "c", readConcern: {level: "majority"}}
		6: {createIndexes: "third", indexes: [{key: {a: 1}, name: "a_1"}]} -> 72
		6: {abortTransaction: 1} -> 251`},
	{"transaction_ops_against_capped_collection", `
		-: {create: "capped", capped: true, size: 4096}
		-: {insert: "capped", documents: [{_id: 1, a: 1}]}
		1+: {insert: "capped", documents: [{x: 55}]} -> 263
		1: {abortTransaction: 1} -> 251
		2+: {update: "capped", updates: [{q: {a: 1}, u: {a: 1000}}]} -> 263
		2: {abortTransaction: 1} -> 251
		3+: {findAndModify: "capped", query: {a: 1}, update: {$set: {a: 1000}}} -> 263
		3: {abortTransaction: 1} -> 251
		4+: {findAndModify: "capped", query: {a: 1}, remove: true} -> 263
		4: {abortTransaction: 1} -> 251
		5+: {find: "capped"}
		5: {distinct: "capped", key: "a"}
		5: {aggregate: "capped", pipeline: [{$match: {a: 1}}], cursor: {}}
		5: {commitTransaction: 1}`},
	{"statement_ids_accepted", `
		1+: {find: "c", stmtId: 0}
		1: {aggregate: "c", pipeline: [{$match: {}}], cursor: {}, stmtId: 1}
		1: {distinct: "c", key: "x", stmtId: 2}
		1: {insert: "c", documents: [{_id: "doc1"}], stmtId: 3}
		1: {update: "c", updates: [{q: {_id: "doc1"}, u: {$inc: {a: 1}}}], stmtId: 4}
		1: {findAndModify: "c", query: {}, update: {$set: {b: 1}}, stmtId: 5}
		1: {findandmodify: "c", query: {}, update: {$set: {b: 1}}, stmtId: 6}
		1: {delete: "c", deletes: [{q: {}, limit: 1}], stmtId: 7}
		1: {commitTransaction: 1, stmtId: 8}
		2+: {find: "c", stmtId: 0}
		2: {abortTransaction: 1, stmtId: 1}`},
	{"aggregation_in_transaction: sources that are no collections are not for transactions", `
		1+: {aggregate: "c", pipeline: [{$lookup: {from: "d", localField: "a", foreignField: "_id", as: "x"}}], cursor: {}}
		1: {aggregate: "c", pipeline: [{$graphLookup: {from: "d", startWith: "$a", connectFromField: "a", connectToField: "_id", as: "x"}}], cursor: {}}
		1: {aggregate: "c", pipeline: [{$count: "n"}], cursor: {}}
		1: {commitTransaction: 1}
		2+: {aggregate: "c", pipeline: [{$collStats: {latencyStats: {}}}], cursor: {}} -> 263
		2: {abortTransaction: 1} -> 251
		3+: {aggregate: "c", pipeline: [{$indexStats: {}}], cursor: {}} -> 263
		3: {abortTransaction: 1} -> 251
		4+: {aggregate: "c", pipeline: [{$out: "d"}], cursor: {}} -> 263
		4: {abortTransaction: 1} -> 251
		5+: {aggregate: "c", pipeline: [{$merge: "d"}], cursor: {}} -> 263
		5: {abortTransaction: 1} -> 251
		6+: {aggregate: "c", pipeline: [{$planCacheStats: {}}], cursor: {}} -> 263
		6: {abortTransaction: 1} -> 251`},
	{"api_params_transaction: all statements have the same parameters of the API", `
		1+: {insert: "c", documents: [{}], apiVersion: "1"}
		1: {insert: "c", documents: [{}]} -> 347
		1: {insert: "c", documents: [{}], apiVersion: "1", apiStrict: false} -> 347
		1: {insert: "c", documents: [{}], apiVersion: "1", apiDeprecationErrors: true} -> 347
		1: {commitTransaction: 1} -> 347
		1: {abortTransaction: 1, apiVersion: "1", apiStrict: true} -> 347
		1: {insert: "c", documents: [{}], apiVersion: "1"}
		1: {commitTransaction: 1, apiVersion: "1"}
		2+: {insert: "c", documents: [{}]}
		2: {find: "c", apiVersion: "1"} -> 347
		2: {abortTransaction: 1}`},
	{"bulkWrite: an error of one of its operations ends the transaction", `
		-: {insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 1}]}
		1+: {bulkWrite: 1, ops: [{insert: 0, document: {_id: 3}}, {update: 0, filter: {a: 1}, updateMods: {$inc: {a: 1}}, multi: true}, {delete: 0, filter: {_id: 2}}], nsInfo: [{ns: "test.c"}]}
		1: {find: "c"}
		1: {commitTransaction: 1}
		2+: {bulkWrite: 1, ops: [{insert: 0, document: {_id: 1}}], nsInfo: [{ns: "test.c"}]}
		2: {commitTransaction: 1} -> 251
		3+: {bulkWrite: 1, ops: [{insert: 0, document: {_id: 1}}, {insert: 0, document: {_id: 9}}], nsInfo: [{ns: "test.c"}], ordered: false}
		3: {commitTransaction: 1} -> 251
		4+: {find: "c"}
		-: {update: "c", updates: [{q: {_id: 1}, u: {$set: {b: 1}}}]}
		4: {bulkWrite: 1, ops: [{update: 0, filter: {_id: 1}, updateMods: {$set: {b: 2}}}], nsInfo: [{ns: "test.c"}]} -> 112
		4: {abortTransaction: 1} -> 251`},
	{"concurrent_drops_and_creates: of what was made meanwhile mongod tells at the commit", `
		-: {create: "x"}
		1+: {find: "c"}
		-: {drop: "x"}
		1: {find: "x"}
		1: {commitTransaction: 1}
		2+: {find: "c"}
		-: {create: "y"}
		-: {insert: "y", documents: [{_id: 1}]}
		2: {insert: "y", documents: [{_id: 2}]} -> 112
		2: {abortTransaction: 1} -> 251
		3+: {find: "c"}
		-: {createIndexes: "y", indexes: [{key: {a: 1}, name: "a_1"}]}
		3: {insert: "y", documents: [{_id: 3}]} -> 112
		3: {abortTransaction: 1} -> 251
		4+: {find: "c"}
		-: {renameCollection: "test.y", to: "test.z"}
		4: {insert: "y", documents: [{_id: 4}]} -> 112
		4: {abortTransaction: 1} -> 251
		5+: {find: "z"}
		-: {drop: "z"}
		5: {insert: "z", documents: [{_id: 4}]} -> 112
		5: {abortTransaction: 1} -> 251`},
	{"prepare_transaction, where there are no shards", `
		1+: {insert: "c", documents: [{_id: 1}]}
		1: {prepareTransaction: 1} -> 203
		1: {commitTransaction: 1} -> 251`},
	{"transactions_write_conflicts_unique_indexes, write_conflicts_with_non_txns", `
		-: {createIndexes: "c", indexes: [{key: {u: 1}, name: "u_1", unique: true}]}
		-: {insert: "c", documents: [{_id: 10, u: 10}]}
		1+: {find: "c"}
		-: {insert: "c", documents: [{_id: 11, u: 11}]}
		1: {insert: "c", documents: [{_id: 12, u: 11}]} -> 112
		1: {abortTransaction: 1} -> 251
		2+: {find: "c"}
		-: {insert: "c", documents: [{_id: 13, u: 13}]}
		2: {insert: "c", documents: [{_id: 13, u: 15}]} -> 112
		3+: {insert: "c", documents: [{_id: 14, u: 10}]} -> 11000
		3: {abortTransaction: 1} -> 251`},
}

const scriptSession = `lsid: {id: {$uuid: "00000000-0000-4000-8000-000000000001"}}`

func TestTransactionScripts(t *testing.T) {
	for _, tt := range txnScripts {
		t.Run(tt.name, func(t *testing.T) {
			h := harness.New(t)
			if strings.HasPrefix(tt.name, "prepare_transaction") {
				h.LoneServer("the command prepareTransaction")
			}
			h.OK(`{create: "c"}`)
			h.OK(`{insert: "c", documents: [{_id: "there"}]}`)
			for line := range strings.Lines(strings.TrimSpace(tt.script)) {
				who, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
				command, code, _ := strings.Cut(rest, " -> ")
				db := "test"
				if strings.Contains(command, "Transaction: 1") || strings.Contains(command, "renameCollection") || strings.Contains(command, "bulkWrite") || strings.Contains(command, "applyOps") {
					db = "admin"
				}
				want := int32(0)
				fmt.Sscan(code, &want)
				h.Refuses([]harness.Refusal{{DB: db, Command: inScript(who, command), Code: want, Text: ""}})
			}
		})
	}
}

// inScript adds the arguments of the transaction: "N+" starts it, "N=" says
// its number only, "!" is in the session but not in the transaction.
func inScript(who, command string) string {
	number := strings.TrimRight(who, "+=")
	args := ", " + scriptSession
	switch {
	case who == "-":
		return command
	case who == "!":
	case strings.HasSuffix(who, "="):
		args += `, txnNumber: {$numberLong: "` + number + `"}`
	case strings.HasSuffix(who, "+"):
		args += `, txnNumber: {$numberLong: "` + number + `"}, autocommit: false, startTransaction: true`
	default:
		args += `, txnNumber: {$numberLong: "` + number + `"}, autocommit: false`
	}
	return strings.TrimSuffix(command, "}") + args + "}"
}
