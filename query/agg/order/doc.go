// Package order puts documents in order: the $sort stage, and the sorter that
// other stages use ($bucketAuto, $sort over packs).
//
// A [Pattern] ({a: 1, b: -1}) turns each document into a key whose bytes
// compare as the documents do (pattern.go), so that sorting compares bytes
// only. Where a path meets an array the key is the least of those that an
// index would hold (arrays.go). A [Sorter] takes documents with their keys,
// keeps no more than a $limit behind it asks for, and moves sorted runs to
// temporary files when the memory limit is reached.
//
// It stands above package stage and uses package spill.
package order
