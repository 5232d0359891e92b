package kernel

import (
	"sync"

	"github.com/duskdb/duskdb/value"
)

// What a command needs in the data only while it runs, such as the temporary collection of
// an $out, has the name of its server if several servers have the data. A server has the
// lease of its name as long as it lives. So the others can tell what a crash has left from
// what a command still uses.

// owner is the name of this server for such data.
type owner struct {
	mu   sync.Mutex
	name string // "" before it is needed
}

// ownerLease begins the names of the leases that servers have of their names.
const ownerLease = "server."

// OwnerName returns the name of this server for data that it needs only while a command
// runs; "" if nobody else has the data.
func (s *Service) OwnerName() string {
	if !s.Shared {
		return ""
	}
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	if s.owner.name != "" && s.Engine.Lease(ownerLease+s.owner.name) {
		return s.owner.name
	}
	// At first; and after a pause so long that others believe that this server has ended.
	s.owner.name = value.NewOID(s.Clock.NowMillis()).Hex()
	s.Engine.Lease(ownerLease + s.owner.name)
	return s.owner.name
}

// HasEnded reports whether the server with that name, which is not this one, has ended. It
// must not be called in a transaction.
func (s *Service) HasEnded(name string) bool {
	if !s.Shared || name == "" {
		return true
	}
	s.owner.mu.Lock()
	own := s.owner.name == name
	s.owner.mu.Unlock()
	return !own && s.Engine.Lease(ownerLease+name)
}
