// Package token reads and writes resume tokens: the hexadecimal string in which a
// change stream names a place in the change log. The layout is MongoDB's ("KeyString"
// of cluster time, version, index of the operation, collection, document key), so that
// tokens compare as text in the order of their events.
//
// [LogOp] is one operation of a log entry, to which a token refers.
package token
