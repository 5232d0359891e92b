// Package engine runs JavaScript in a scope that is kept away from everything
// else: QuickJS, as modernc.org/quickjs has it in Go.
//
// A scope has access only to the few functions of [Host], not to files,
// sockets or clocks. Its memory comes from a [Budget], and exceeding it is an
// error of the script; recursion is limited; and while a script runs, [Host]
// Poll is called every few milliseconds and can end it. The built-in functions
// that would loop for hours without being interruptible (on arrays with
// billions of items, on searches in huge strings) refuse to. A fault of the
// engine itself ends the [Scope], not the server.
//
// codec.js converts BSON within the scope. A document is a view of its bytes
// until a script changes it, and fields are decoded when a script asks for
// them.
package engine
