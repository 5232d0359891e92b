// Package index is the meaning of index specifications: which ones are
// valid, how they look in listIndexes, when two of them conflict, and which
// keys a document has in them.
//
// [Parse] takes a specification as createIndexes got it, checks it as
// mongod does and completes it; [Load] reads one that Parse has completed
// before, as the catalog keeps it. Both give a [Spec], which is immutable
// and implements storage.Index. [Conflict] compares a new index with those
// that exist. [Indexer] is what a storage engine is opened with.
//
// A key is the concatenation of one value.AppendKey per field of the key
// pattern, inverted for descending fields, so that the byte order of keys is
// the order of the index. What stands in a field depends on its [Kind]:
//
//	Plain      the value; null for a missing field, undefined for []
//	Hashed     the value's 64-bit hash
//	Wildcard   two parts: the path and the value
//	Text       two parts: the term and its weight in the document
//	Geo2D      the geohash of the point, as 8 bytes of binary data
//	Sphere     the number of an S2 cell that covers part of the shape
//
// Behind the key of an index of ordinary fields without a collation stands a
// tail with what the order does not tell ([value.KeyTail]), so that
// [Spec.EntryValue] reads the values back. Other keys cannot be turned back
// into values; [Spec.KeyValues] computes them from the document.
//
// # Internal indexes
//
// An index whose name begins with "$ttl.", "$bucket." or "$mq." is the server's
// own ([IsInternal]): it appears in no listing and serves no query, but keeps
// records in the order in which they expire. Its specification has a field
// "internal" that names one of the [Order] values.
//
// The package is for the rest of DuskDB: it may change with any version.
package index
