// Package users has the commands of access control: login, users, roles. It also has
// the rules for commands and pipelines whose privileges depend on their arguments.
package users
