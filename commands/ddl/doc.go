// Package ddl has the commands that make, change, list, drop and validate databases,
// collections and indexes, and those that change the policies of document TTL.
package ddl
