// Package console serves the web console over HTTP: its pages, which are part of the
// program, and the calls that they make. Everything that a page does is an ordinary
// command on a connection within the process, with the rights of the user who logged in.
//
//	POST /api/command  {db, command}: runs a command of the list in commands.go
//	GET  /api/events   a change stream as server-sent events
//	POST /api/login    {user, password, db}
//	POST /api/logout
//	GET  /api/session  who is logged in, and what the console may do
//
// # Sessions and foreign sites
//
// A session keeps the keys that SCRAM derives from the password, not the password. Replies
// become JSON while they arrive (value.WriteJSON): what a browser has not read is still in
// the buffer of the connection, so the server's limits for replies hold for the console. The
// pages are plain modules without a framework or a build step.
//
// Another site can make a browser send requests to the console, even under a name of its
// own; so the Host header must be a known name, an Origin must be the console's own, calls
// must have a media type that forms cannot send and, with logins, a token that neither other
// sites nor other ports of the host get (hosts.go, sessions.go). Streams of events keep one
// batch in memory and end when the client does not read.
//
// The package is for the rest of DuskDB: it may change with any version.
package console
