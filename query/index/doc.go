// Package index implements index specifications: which ones are valid, how
// listIndexes shows them, when two of them conflict, and which keys a document
// has in them.
//
// [Parse] takes a specification of createIndexes, checks it as mongod does and
// completes it; [Load] reads a completed specification from the catalog. Both
// give a [Spec], which is immutable and implements storage.Index. [Conflict]
// compares a new index with those that exist. [Indexer] is passed to a storage
// engine when it is opened.
//
// A key is the concatenation of one value.AppendKey per field of the key
// pattern, inverted for descending fields, so that the byte order of keys is
// the order of the index. The content of a field depends on its [Kind]:
//
//	Plain      the value; null for a missing field, undefined for []
//	Hashed     the value's 64-bit hash
//	Wildcard   two parts: the path and the value
//	Text       two parts: the term and its weight in the document
//	Geo2D      the geohash of the point, as 8 bytes of binary data
//	Sphere     the number of an S2 cell that covers part of the shape
//
// The key of an index of ordinary fields without a collation is followed by a
// tail that distinguishes values which are equal in order ([value.KeyTail]),
// so that [Spec.EntryValue] can decode the values. Values cannot be decoded
// from other keys; [Spec.KeyValues] computes them from the document.
//
// # Internal indexes
//
// An index whose name begins with "$ttl.", "$bucket." or "$mq." is the
// server's own ([IsInternal]): no command lists it and no query uses it; it
// contains records in the order in which they expire. Its specification has a
// field "internal" that names one of the [Order] values.
//
// The package is for the rest of DuskDB: it may change with any version.
package index
