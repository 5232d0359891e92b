// Package ttl is about the end of data: the rules by which documents expire,
// and the monitor that removes what has expired.
//
// # Rules
//
// [NewRules] reads from a collection's options and indexes what expires in
// it. The result is a list of lanes. A [Lane] is an index whose keys are
// dates and a number of milliseconds that lie between that date and the end
// of the document; so the entries of a lane come in the order in which they
// expire, and what is due is one range of keys:
//
//	policy                     index                  date in the key          after
//	TTL index                  the index itself       value of the field       expireAfterSeconds
//	clustered                  that on _id            _id                      expireAfterSeconds
//	time series                $bucket.min            minimum of the bucket    maximum span + expireAfterSeconds
//	  partial TTL index        the index itself       minimum of the bucket    maximum span + expireAfterSeconds
//	document TTL, inherited    $ttl.inherit           second of last write     the collection's default
//	document TTL, own          $ttl.own               instant of expiry        0
//
// Nothing that a setting can change is ever stored with the documents, so a
// change of a setting is a change of one number. [Internal] names the
// indexes that exist for no other purpose.
//
// A [DocumentPolicy] differs from all others in that its documents are gone
// the instant they expire: every read asks [DocumentPolicy.Visible].
//
// # Monitor
//
// A [Monitor] runs a pass every ttlMonitorSleepSecs. It looks at the head of
// each lane, which costs the same however many entries wait behind it, and
// removes what is due in small transactions. It knows the server only
// through [Host]; message queues take part by implementing [Target].
package ttl
