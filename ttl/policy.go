package ttl

import "github.com/duskdb/duskdb/internal/mongoerr"

// Policy is a kind of expiry. The NumPolicies are numbered in the order in which
// a pass visits them.
type Policy uint8

// The policies.
const (
	Index         Policy = iota // TTL index on a collection of documents
	PartialBucket               // partial TTL index on a time series
	Clustered                   // clustered collection
	TimeSeries                  // time-series collection
	Document                    // document TTL: the last write decides
	Message                     // messages and idle queues
	// NumPolicies is the number of policies.
	NumPolicies
)

var policyNames = [NumPolicies]string{"ttl", "partialTimeseries", "clustered", "timeseries", "documentTtl", "messageQueue"}

// String returns the name of the policy in logs, statistics and _expired.
func (p Policy) String() string {
	if int(p) < len(policyNames) {
		return policyNames[p]
	}
	return "unknown"
}

// Set is a set of policies.
type Set uint8

// All is the set of all policies.
const All = Set(1<<NumPolicies - 1)

// SetOf makes a set.
func SetOf(list ...Policy) (s Set) {
	for _, p := range list {
		s |= 1 << p
	}
	return s
}

// Has reports whether the policy is in the set.
func (s Set) Has(p Policy) bool { return s&(1<<p) != 0 }

// targetSets maps the targets of runExpirationPass to policies. Partial TTL
// indexes on time series count as TTL indexes.
var targetSets = map[string]Set{
	"ttl":          SetOf(Index, PartialBucket),
	"clustered":    SetOf(Clustered),
	"timeseries":   SetOf(TimeSeries),
	"documentTtl":  SetOf(Document),
	"messageQueue": SetOf(Message),
}

// ParseTargets reads the argument targets of a command.
func ParseTargets(command string, names []string) (Set, error) {
	var s Set
	for _, name := range names {
		t, ok := targetSets[name]
		if !ok {
			return 0, mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field '%s.targets' is not a valid value.", name, command)
		}
		s |= t
	}
	return s, nil
}
