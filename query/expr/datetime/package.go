// Package datetime does calendar arithmetic as MongoDB's date expressions do:
// time zones, formatting, parsing, and adding, counting and truncating units.
//
// Instants are milliseconds since the Unix epoch (int64), as in BSON. A [Zone]
// maps an instant to the civil time ([Civil]) of a place and back; hours that a
// place skips or has twice in spring and autumn are resolved as MongoDB's
// library resolves them.
package datetime
