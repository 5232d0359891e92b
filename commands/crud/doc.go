// Package crud has the commands that read and write documents: find, aggregate, count,
// distinct, getMore, insert, update, delete, findAndModify, bulkWrite, mapReduce, and
// those of sessions and cursors.
package crud
