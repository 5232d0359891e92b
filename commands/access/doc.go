// Package access asks whether the client may do what it wants, and what a command may
// show of itself. A command needs the action of its line of the table, or what its own
// rule asks for; errors are mongod's, which name the command and nothing else.
package access
