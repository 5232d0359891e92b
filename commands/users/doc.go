// Package users has the commands of access control: logging in, users, roles, and what
// a command or a pipeline asks for where that depends on its arguments.
package users
