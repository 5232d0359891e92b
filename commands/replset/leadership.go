package replset

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/commands/broadcast"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// The state of the set is stored where mongod stores it: the configuration, and the vote in
// the last election with its term. Each election begins a new term, so that clients can
// distinguish a primary from the one before, even if both are the same server. There is an
// election at each start of the server, and at the end of a step-down.
var (
	ConfigNamespace   = storage.Namespace{DB: "local", Coll: "system.replset"}
	ElectionNamespace = storage.Namespace{DB: "local", Coll: "replset.election"}
)

// FirstTerm is the term of the first election.
const FirstTerm = 1

// ownField is the field of a stored configuration that is not mongod's.
const ownField = "duskdb"

// ElectionID returns the id of the election that began a term. Later terms have greater ids,
// by which clients distinguish an old primary from the present one.
func ElectionID(term int64) (id value.OID) {
	copy(id[:], []byte{0x7f, 0xff, 0xff, 0xff})
	binary.BigEndian.PutUint64(id[4:], uint64(term))
	return id
}

// The only member of the set is its primary, unless a client makes it step down: then it is
// a secondary, which reads and does not write. When the period is over, it elects itself
// again, in a new term. So users can test how their clients handle an election.
//
// The period is measured by the server's clock: a test that moves the clock can end it at
// once.

// Leadership is the state of the member: whether it is primary, and since which
// election.
type Leadership struct {
	SteppedDown atomic.Bool          // whether the server has stepped down
	Term        atomic.Int64         // the term of the last election
	Elected     atomic.Uint64        // timestamp of the entry that it made
	ElectedAt   atomic.Int64         // milliseconds
	Changed     *broadcast.Broadcast // signalled at each change; its count is the topology version
	Mu          sync.Mutex           // held while something changes
	HadElection bool                 // there has been an election
	StepDowns   int                  // number of step-downs; a new one cancels the step-up of the one before
}
