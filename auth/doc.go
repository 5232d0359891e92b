// Package auth knows who may do what: users, their passwords and roles, and
// the privileges that roles grant.
//
// Users and roles are documents in admin.system.users and admin.system.roles,
// in the form mongod gives them, so dumps move between the two. A [Catalog]
// reads and changes them within one storage transaction. The [Manager] turns
// a user's document into a [User]: the union of the privileges of all roles
// it has, directly or through other roles, compiled for quick answers to one
// question:
//
//	user.May(auth.Namespace("shop", "orders"), auth.MustAction("find"))
//
// Users are cached until something changes any user or role; each change
// makes all cached users stale at once.
//
// A login is a [Conversation]: SCRAM-SHA-256 or SCRAM-SHA-1. A user that does
// not exist is led through the same steps as one whose password is wrong, and
// addresses that fail again and again are slowed down by a [Throttle].
//
// The package is for the rest of DuskDB: it may change with any version.
package auth
