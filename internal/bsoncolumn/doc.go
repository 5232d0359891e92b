// Package bsoncolumn decodes the columns in which mongod stores the values of one
// field of a time-series bucket: binary data of subtype 7, which dumps of mongod 5.2
// and later contain.
//
// # The format
//
// A column is a sequence of parts, each of which begins with a control byte, and ends
// with a zero byte:
//
//	type of a BSON value     a literal: the value as an element with an empty name
//	1000nnnn                 n+1 words of Simple-8b: differences to the last value
//	1001nnnn … 1101nnnn      the same for doubles, as integers of a scale
//	11110000 … 11110010      interleaved: a reference document, then the parts of its
//	                         scalar fields in the order in which they are needed, and a
//	                         zero byte
//
// Dates, timestamps and ObjectIds are stored by differences of differences. A slot of
// a word may also say that the row has no value.
//
// Words can repeat the last slot many times, so a short column can have many values:
// [Decode] is given a limit.
//
// The package is for the rest of DuskDB: it may change with any version.
package bsoncolumn
