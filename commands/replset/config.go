package replset

import (
	"fmt"
	"math"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Config is the configuration of the replica set, as replSetGetConfig shows it. It is
// immutable: a change makes a new one.
type Config struct {
	Name     string   // _id of the configuration
	Version  int64    // grows with every change
	Term     int64    // NoTerm after a forced change, until the next election
	Members  []Member // one at least
	Journals bool     // w: "majority" waits for the disk
	Settings Settings // the settings of the whole set
	// AsConnected is set while the member is known by the address its clients
	// connect to, as long as nobody has given it another.
	AsConnected bool
	// Initiated reports whether a client has set the configuration; else it is the
	// server's initial one.
	Initiated bool
}

// Member is a member of the set; a valid configuration has one.
type Member struct {
	ID        int64  // _id within the configuration
	Host      string // host:port
	arbiter   bool
	indexes   bool // whether the member builds indexes
	hidden    bool
	Priority  float64   // 0: it cannot become primary
	Tags      value.Doc // names that write concerns and read preferences use
	delaySecs int64
	Votes     int64 // 1, or 0 of a member that does not vote
}

// Settings are the settings of the set. Those about several members have no effect.
type Settings struct {
	chaining                                 bool
	heartbeatMillis, heartbeatSecs, election int64
	catchUp, catchUpTakeover                 int64
	modes                                    value.Doc // write concerns by name
	ID                                       value.OID // replicaSetId
}

// NoTerm is the term of a configuration that was forced.
const NoTerm = -1

// maxSetMembers is how many members a set may have, and maxSetVoters how many
// of them may vote.
const maxSetMembers, maxSetVoters = 50, 7

// NewConfig returns the initial configuration of a server.
func NewConfig(name string, term int64, id value.OID) *Config {
	return &Config{
		Name: name, Version: 1, Term: term, Journals: true, AsConnected: true,
		Members:  []Member{{indexes: true, Priority: 1, Votes: 1, Tags: value.EmptyDoc}},
		Settings: Settings{chaining: true, heartbeatMillis: 2000, heartbeatSecs: 10, election: 10000, catchUp: -1, catchUpTakeover: 30000, modes: value.EmptyDoc, ID: id},
	}
}

// Member returns the only member.
func (s *Config) Member() *Member { return &s.Members[0] }

// Append writes the configuration as clients see it. host is the host of the member if
// AsConnected is set.
func (s *Config) Append(b *value.Builder, host string) {
	b.String("_id", s.Name)
	AppendInt(b, "version", s.Version)
	if s.Term != NoTerm {
		AppendInt(b, "term", s.Term)
	}
	b.StartArray("members")
	for i := range s.Members {
		m := &s.Members[i]
		if !s.AsConnected {
			host = m.Host
		}
		b.StartDocument("")
		m.append(b, host)
		b.End()
	}
	b.End()
	b.Int64("protocolVersion", 1).Bool("writeConcernMajorityJournalDefault", s.Journals)
	t := &s.Settings
	b.StartDocument("settings").Bool("chainingAllowed", t.chaining)
	AppendInt(b, "heartbeatIntervalMillis", t.heartbeatMillis)
	AppendInt(b, "heartbeatTimeoutSecs", t.heartbeatSecs)
	AppendInt(b, "electionTimeoutMillis", t.election)
	AppendInt(b, "catchUpTimeoutMillis", t.catchUp)
	AppendInt(b, "catchUpTakeoverDelayMillis", t.catchUpTakeover)
	b.Document("getLastErrorModes", t.modes)
	b.StartDocument("getLastErrorDefaults").Int32("w", 1).Int32("wtimeout", 0).End()
	b.Append("replicaSetId", value.ObjectID(t.ID)).End()
}

func (m *Member) append(b *value.Builder, host string) {
	AppendInt(b, "_id", m.ID)
	b.String("host", host).Bool("arbiterOnly", m.arbiter).Bool("buildIndexes", m.indexes).Bool("hidden", m.hidden).Double("priority", m.Priority)
	b.Document("tags", m.Tags).Int64("secondaryDelaySecs", m.delaySecs).Int32("votes", int32(m.Votes))
}

// AppendInt writes a number as an int32 if it fits.
func AppendInt(b *value.Builder, name string, n int64) {
	b.Append(name, value.Int(n))
}

// VersionAndTerm returns the configuration as messages name it.
func (s *Config) VersionAndTerm() string {
	return fmt.Sprintf("{version: %d, term: %d}", s.Version, s.Term)
}

// after reports whether the configuration is newer than another.
func (s *Config) after(old *Config) bool {
	if s.Term != NoTerm && old.Term != NoTerm && s.Term != old.Term {
		return s.Term > old.Term
	}
	return s.Version > old.Version
}

// Validate checks the rules for all configurations.
func (s *Config) Validate() error {
	bad := func(format string, args ...any) error { return mongoerr.Newf(mongoerr.BadValue, format, args...) }
	if n := len(s.Members); n == 0 || n > maxSetMembers {
		return bad("Replica set configuration contains %d members, but must have at least 1 and no more than  %d", n, maxSetMembers)
	}
	voters, electable, local := 0, 0, 0
	for i := range s.Members {
		m := &s.Members[i]
		voters += int(m.Votes)
		if m.Priority > 0 && !m.arbiter {
			electable++
		}
		if isLocalHost(m.Host) {
			local++
		}
		for j := range s.Members {
			switch other := &s.Members[j]; {
			case i == j:
			case m.ID == other.ID:
				return bad("Found two member configurations with same _id field, members.%d._id == members.%d._id == %d", i, j, m.ID)
			case m.Host == other.Host:
				return bad("Found two member configurations with same host field, members.%d.host == members.%d.host == %s", i, j, m.Host)
			}
		}
	}
	switch {
	case local != 0 && local != len(s.Members):
		return bad("Either all host names in a replica set configuration must be localhost references, or none must be; found %d out of %d", local, len(s.Members))
	case voters == 0 || voters > maxSetVoters:
		return bad("Replica set configuration contains %d voting members, but must be at least 1 and no more than %d", voters, maxSetVoters)
	case electable == 0:
		return bad("Replica set configuration must contain at least one non-arbiter member with priority > 0")
	}
	return s.checkArbiters()
}

func (s *Config) checkArbiters() error {
	for _, m := range s.Members {
		if m.arbiter && m.Priority != 0 {
			return mongoerr.Newf(mongoerr.InvalidReplicaSetConfig, "Member %s is an arbiter but has priority %v. Arbiter priority must be 0.", m.Host, m.Priority)
		}
	}
	return nil
}

// Follows checks whether the configuration may replace another.
func (s *Config) Follows(old *Config, force bool) error {
	differ := func(format string, args ...any) error {
		return mongoerr.Newf(mongoerr.NewReplicaSetConfigurationIncompatible, format, args...)
	}
	switch {
	case !s.after(old):
		return differ("New replica set configuration version and term must be greater than old, but %s is not greater than %s for replica set %s", s.VersionAndTerm(), old.VersionAndTerm(), s.Name)
	case s.Settings.ID != old.Settings.ID:
		return differ("New and old configurations differ in replica set ID; old was %s, and new is %s", old.Settings.ID.Hex(), s.Settings.ID.Hex())
	}
	was := old.Member()
	changed := 1 // removed and added voters
	for _, m := range s.Members {
		switch {
		case m.ID != was.ID && m.Host == was.Host:
			return differ("New and old configurations both have members with host of %s but in the new configuration the _id field is %d and in the old configuration it is %d for replica set %s", m.Host, m.ID, was.ID, s.Name)
		case m.ID == was.ID && m.indexes != was.indexes:
			return differ("New and old configurations differ in the setting of the buildIndexes field for member %s; to make this change, remove then re-add the member", was.Host)
		case m.ID == was.ID && m.arbiter != was.arbiter:
			return differ("New and old configurations differ in the setting of the arbiterOnly field for member %s; to make this change, remove then re-add the member", was.Host)
		}
		switch voter := m.Votes > 0; {
		case m.ID == was.ID && voter:
			changed--
		case m.ID != was.ID && voter:
			changed++
		}
	}
	if changed > 1 && !force {
		return mongoerr.New(mongoerr.InvalidReplicaSetConfig, "Non force replica set reconfig can only add or remove at most 1 voting member.")
	}
	return nil
}

// Satisfies reports whether a write concern of that name is configured, and whether one
// member meets it: whether it wants each tag at most once.
func (s *Config) Satisfies(mode string) (known, met bool) {
	if s == nil {
		return false, false
	}
	pattern, known := s.Settings.modes.Get(mode)
	if !known {
		return false, false
	}
	for _, n := range pattern.Doc().All() {
		if n.AsDouble() > 1 {
			return true, false
		}
	}
	return true, true
}

// checkModes checks the write concerns by name.
func (s *Config) checkModes() error {
	for mode, v := range s.Settings.modes.All() {
		if v.Kind() != value.KindDocument {
			return mongoerr.Newf(mongoerr.TypeMismatch, "Expected getLastErrorModes.%s to be an object, not %s", mode, v.Kind())
		}
		for tag, n := range v.Doc().All() {
			switch {
			case !n.IsNumber():
				return mongoerr.Newf(mongoerr.TypeMismatch, "Expected getLastErrorModes.%s.%s to be a number, not %s", mode, tag, n.Kind())
			case n.AsDouble() <= 0 || n.AsDouble() > math.MaxInt32:
				return mongoerr.Newf(mongoerr.BadValue, "Value of getLastErrorModes.%s.%s must be positive, but found %v", mode, tag, n)
			case !s.hasTag(tag):
				return mongoerr.Newf(mongoerr.NoSuchKey, "No replica set tag key %s in config", tag)
			}
		}
	}
	return nil
}

func (s *Config) hasTag(key string) bool {
	for _, m := range s.Members {
		if m.Tags.Has(key) {
			return true
		}
	}
	return false
}
