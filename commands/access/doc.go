// Package access authorizes commands, and redacts secrets from commands that are shown.
// A command needs the action in its line of the command table, or the privileges that its
// own rule asks for. The errors are mongod's; they name only the command.
package access
