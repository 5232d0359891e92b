// Package script runs the JavaScript of clients: $where, $function,
// $accumulator and mapReduce.
//
// A server has one [Engine]. An [Operation] is the scope that one command and
// its getMores share: it has its own global variables and is discarded at the
// end. The scope is created when the first function is called.
//
//	op := engine.Operation(script.Setup{Interrupt: interrupted})
//	defer op.Close()
//	f, err := engine.Compile("this.a > 5", interrupted)
//	ok, err := op.Test(f, doc)
//
// Documents are not converted: a script gets a view of the bytes, in which
// fields are decoded when the script reads them. The result of a function is
// converted to BSON; numbers become doubles except NumberInt and NumberLong
// objects and int32 fields of a document that was passed in.
//
// Package engine has the interpreter and describes why scripts cannot harm the
// server. prelude.js defines the global functions of scripts.
//
// # Writes
//
// No script runs while a command holds the storage's write lock (commands/write/apart.go):
// the command evaluates filters and pipelines with scripts on a snapshot, and applies the
// result under the lock if the record has not changed by a byte. Otherwise it evaluates the
// record again; after a hundred times it fails with WriteConflict. Transactions need none of
// this, because they take the write lock only to commit.
//
// The package is for the rest of DuskDB: it may change with any version.
package script
