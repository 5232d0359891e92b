// Package order puts documents in order: the $sort stage, and the sorter that
// other stages use ($bucketAuto, $sort over packs).
//
// A [Pattern] ({a: 1, b: -1}) turns each document into a key whose bytes
// compare as the documents do (pattern.go), so that sorting compares bytes
// only. If a path meets an array, the key is the least of those that an index would have
// (arrays.go). A [Sorter] takes documents with their keys, keeps no more of them than a
// following $limit needs, and writes sorted runs to temporary files when it reaches the
// memory limit.
//
// It stands above package stage and uses package spill.
package order
