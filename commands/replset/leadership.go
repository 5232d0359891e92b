package replset

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/commands/broadcast"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// What a member knows of its set is kept where mongod keeps it: the
// configuration, and the vote in the last election, which tells the term. Each
// election begins a new term, so that a primary can be told from the one
// before, which it may well have been itself: with each start of the server,
// and when the time is over for which it stepped down.
var (
	ConfigNamespace   = storage.Namespace{DB: "local", Coll: "system.replset"}
	ElectionNamespace = storage.Namespace{DB: "local", Coll: "replset.election"}
)

// FirstTerm is the term of the first election.
const FirstTerm = 1

// OwnField is the field of a stored configuration that is not mongod's.
const OwnField = "duskdb"

// ElectionID is the id of the election that began a term. Those of later terms
// are greater, by which clients tell an old primary from the present one.
func ElectionID(term int64) (id value.OID) {
	copy(id[:], []byte{0x7f, 0xff, 0xff, 0xff})
	binary.BigEndian.PutUint64(id[4:], uint64(term))
	return id
}

// The one member of the set is its primary, unless a client has it step down:
// then it is a secondary, which reads and does not write, until its time is
// over and it elects itself again, in a new term. That lets people see what
// their clients do meanwhile.
//
// The time is that of the server's clock: a test that moves it ends a period
// of minutes at once.

// Leadership is the state of the member: whether it is primary, and since which
// election.
type Leadership struct {
	SteppedDown atomic.Bool            // it has stepped down
	Term        atomic.Int64           // of the last election
	Elected     atomic.Uint64          // timestamp of the entry that it made
	ElectedAt   atomic.Int64           // milliseconds
	Config      atomic.Pointer[Config] // nil without a set
	Changed     *broadcast.Broadcast   // signalled when something of that changes: the topology's version
	Mu          sync.Mutex             // held while something changes
	HadElection bool                   // there has been an election
	StepDowns   int                    // of waiting for the end; a later one makes it void
}
