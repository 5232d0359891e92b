// Package engine runs JavaScript in a scope that is kept away from everything
// else: QuickJS, as modernc.org/libquickjs has it in Go.
//
// A scope has access only to the few functions of [Host], not to files,
// sockets or clocks. While a script runs, [Host] Poll is called every few
// milliseconds. If it returns an error, the script ends, whatever it does.
// At first the engine is asked to stop, which it does at the next branch or
// call. But a function of the language can take hours, and an operator seconds,
// without any of them. So the memory of a scope is a range of addresses of its
// own, and 20 ms later that becomes inaccessible: the engine panics at its next
// access, which ends the [Scope]. A fault of the engine itself does the same,
// and the server goes on.
//
// Memory comes from a [Budget] as a scope grows, and too much is an error of the
// script that grows. The memory of calls, which the engine allocates elsewhere,
// is bounded by how deep calls may nest.
//
// codec.js converts BSON within the scope. A document is a view of its bytes
// until a script changes it, and fields are decoded when a script asks for
// them.
package engine
