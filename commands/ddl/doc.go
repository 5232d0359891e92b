// Package ddl has the commands that change or list what there is: collections, indexes,
// collMod, rename, drop, validation; and the policies of document TTL with what is done
// to documents when they end.
package ddl
