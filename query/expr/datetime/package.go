// Package datetime does calendar arithmetic as MongoDB's date expressions do:
// time zones, formatting, parsing, and adding, counting and truncating units.
//
// Instants are milliseconds since the Unix epoch (int64), as in BSON. A [Zone]
// converts between an instant and the civil time ([Civil]) of a place. Hours
// that are skipped or repeated when daylight saving time begins or ends are
// resolved as in MongoDB's library.
package datetime
