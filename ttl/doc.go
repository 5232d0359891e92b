// Package ttl implements expiry: the rules by which documents expire, and the
// monitor that removes expired documents.
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
// # Monitor
//
// A [Monitor] runs a pass every ttlMonitorSleepSecs. The first entry of each expiry
// index says when something falls due in it; an [Agenda] remembers that of the
// collections that have not changed. The pass removes the due records in small transactions, each of them a ranged delete of
// the storage. A sweep (sweep.go) calls a [Remover] for each record, which package
// commands/write implements (expiry.go there): the reason for the change log and,
// for onExpire, the move to the dead-letter collection. The monitor knows the
// server only through [Host]; message queues are included by implementing
// [Target].
//
// The package is for the rest of DuskDB: it may change with any version.
package ttl
