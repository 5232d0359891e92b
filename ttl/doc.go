// Package ttl implements expiry: the rules by which documents expire,
// and the removal of those that have.
//
// # Rules
//
// [NewRules] reads the expiry rules of a collection from its options and
// indexes. The result is a list of expiry indexes. An [ExpiryIndex] is an
// index whose keys are dates, together with the number of milliseconds between
// that date and the expiry of the document. So its entries are in the order of
// their expiry, and the due ones are one range of keys:
//
//	policy                     index                  date in the key          after
//	TTL index                  the index itself       value of the field       expireAfterSeconds
//	clustered                  that on _id            _id                      expireAfterSeconds
//	time series                $bucket.min            minimum of the bucket    maximum span + expireAfterSeconds
//	  partial TTL index        the index itself       minimum of the bucket    maximum span + expireAfterSeconds
//	document TTL, inherited    $ttl.inherit           second of last write     the collection's default
//	document TTL, own          $ttl.own               instant of expiry        0
//
// Documents store no value that a setting can change, so a change of a setting
// changes one number. [Internal] describes the indexes that exist only for
// expiry.
//
// A [DocumentPolicy] differs from all others in that its documents are
// invisible from the instant they expire: every read calls
// [DocumentPolicy.Visible].
//
// # Removal
//
// A [Sweep] removes the due records of one expiry index in small transactions, each of
// them a ranged delete of the storage. It calls a [Remover] for each record, which package
// commands/write implements (expiry.go there): for onExpire, the move to the dead-letter
// collection. Package ttl/monitor decides when; a [Purge] does it before a change of the
// rules. [Metrics] counts what was removed.
//
// The package is for the rest of DuskDB: it may change with any version.
package ttl
