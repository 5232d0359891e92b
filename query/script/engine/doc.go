// Package engine runs JavaScript in a scope that is kept away from everything
// else: QuickJS, as modernc.org/quickjs has it in Go.
//
// A scope has no files, sockets or clocks but through the few functions of
// [Host]. What it may take of memory comes from a [Budget], and what exceeds it
// is an error of the script; recursion ends at a limit; and while a script runs,
// the host is asked every few milliseconds whether it may go on ([Host] Poll).
// The built-in functions that would loop for hours without being interruptible
// (on arrays with billions of items, on searches in huge strings) refuse to. A
// fault of the engine itself ends the [Scope], not the server.
//
// codec.js converts BSON within the scope. A document is a view of its bytes
// until a script changes it, and fields are decoded when a script asks for them.
package engine
