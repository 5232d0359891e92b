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
// The package is for the rest of DuskDB: it may change with any version.
package console
