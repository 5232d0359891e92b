// Package auth implements access control: users, their passwords and roles,
// and the privileges that roles grant.
//
// Users and roles are documents in admin.system.users and admin.system.roles,
// in the form mongod gives them, so dumps move between the two. A [Catalog]
// reads and changes them within one storage transaction. The [Manager]
// compiles a user's document to a [User]: the union of the privileges of all
// its direct and inherited roles, for fast checks of the form:
//
//	user.May(auth.Namespace("shop", "orders"), auth.MustAction("find"))
//
// Compiled users are cached; a change of any user or role makes all cached
// users stale.
//
// A login is a [Conversation]: SCRAM-SHA-256 or SCRAM-SHA-1. The steps for a
// user that does not exist are the same as for a wrong password, and a
// [Throttle] delays the replies to repeated failures.
//
// The package is for the rest of DuskDB: it may change with any version.
package auth
