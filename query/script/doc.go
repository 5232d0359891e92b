// Package script runs the JavaScript of clients: $where, $function,
// $accumulator and mapReduce.
//
// An [Engine] is a server's. An [Operation] is what one command and its
// getMores share: a scope with its own global variables, which nobody else
// sees and which is thrown away at the end. The scope is made when the first
// function is called.
//
//	op := engine.Operation(script.Setup{Interrupt: interrupted})
//	defer op.Close()
//	f, err := engine.Compile("this.a > 5")
//	ok, err := op.Test(f, doc)
//
// Documents are not converted: a script sees a view of the bytes, in which
// fields are looked up as it asks for them. What a function returns is BSON
// again; numbers come back as doubles but for those that are NumberInt or
// NumberLong objects, or int32 fields of a document that was passed in.
//
// Package engine below has the interpreter and says why scripts cannot harm
// the server. prelude.js has what a script finds in its scope.
//
// The package is for the rest of DuskDB: it may change with any version.
package script
