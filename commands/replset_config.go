package commands

import (
	"fmt"
	"math"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// setConfig is the configuration of the replica set, as replSetGetConfig shows
// it. It is never changed: a new one takes its place.
type setConfig struct {
	name     string
	version  int64
	term     int64 // noTerm after a forced change, until the next election
	members  []setMember
	journals bool // w: "majority" waits for the disk
	settings setSettings
	// asConnected tells that the member is known by the address its clients
	// connect to, as long as nobody has given it another.
	asConnected bool
	// initiated tells that somebody has given the configuration; else it is the
	// one that the server began with.
	initiated bool
}

// setMember is a member of the set; a valid configuration has one.
type setMember struct {
	id        int64
	host      string
	arbiter   bool
	indexes   bool // it builds indexes
	hidden    bool
	priority  float64
	tags      value.Doc
	delaySecs int64
	votes     int64
}

// setSettings are the settings of the set. Those about what members do with
// each other have nothing to act on here.
type setSettings struct {
	chaining                                 bool
	heartbeatMillis, heartbeatSecs, election int64
	catchUp, catchUpTakeover                 int64
	modes                                    value.Doc // write concerns by name
	id                                       value.OID
}

// noTerm is the term of a configuration that was forced.
const noTerm = -1

// maxSetMembers is how many members a set may have, and maxSetVoters how many
// of them may vote.
const maxSetMembers, maxSetVoters = 50, 7

// newSetConfig is the configuration that a server begins with.
func newSetConfig(name string, term int64, id value.OID) *setConfig {
	return &setConfig{
		name: name, version: 1, term: term, journals: true, asConnected: true,
		members:  []setMember{{indexes: true, priority: 1, votes: 1, tags: value.EmptyDoc}},
		settings: setSettings{chaining: true, heartbeatMillis: 2000, heartbeatSecs: 10, election: 10000, catchUp: -1, catchUpTakeover: 30000, modes: value.EmptyDoc, id: id},
	}
}

// member is the only one.
func (s *setConfig) member() *setMember { return &s.members[0] }

// append writes the configuration as clients see it; host is where the client
// finds a member that is known by where its clients connect to.
func (s *setConfig) append(b *value.Builder, host string) {
	b.String("_id", s.name)
	appendSmall(b, "version", s.version)
	if s.term != noTerm {
		appendSmall(b, "term", s.term)
	}
	b.StartArray("members")
	for i := range s.members {
		m := &s.members[i]
		if !s.asConnected {
			host = m.host
		}
		b.StartDocument("")
		m.append(b, host)
		b.End()
	}
	b.End()
	b.Int64("protocolVersion", 1).Bool("writeConcernMajorityJournalDefault", s.journals)
	t := &s.settings
	b.StartDocument("settings").Bool("chainingAllowed", t.chaining)
	appendSmall(b, "heartbeatIntervalMillis", t.heartbeatMillis)
	appendSmall(b, "heartbeatTimeoutSecs", t.heartbeatSecs)
	appendSmall(b, "electionTimeoutMillis", t.election)
	appendSmall(b, "catchUpTimeoutMillis", t.catchUp)
	appendSmall(b, "catchUpTakeoverDelayMillis", t.catchUpTakeover)
	b.Document("getLastErrorModes", t.modes)
	b.StartDocument("getLastErrorDefaults").Int32("w", 1).Int32("wtimeout", 0).End()
	b.Append("replicaSetId", value.ObjectID(t.id)).End()
}

func (m *setMember) append(b *value.Builder, host string) {
	appendSmall(b, "_id", m.id)
	b.String("host", host).Bool("arbiterOnly", m.arbiter).Bool("buildIndexes", m.indexes).Bool("hidden", m.hidden).Double("priority", m.priority)
	b.Document("tags", m.tags).Int64("secondaryDelaySecs", m.delaySecs).Int32("votes", int32(m.votes))
}

// appendSmall writes a number as an int32 if it is one.
func appendSmall(b *value.Builder, name string, n int64) {
	if n == int64(int32(n)) {
		b.Int32(name, int32(n))
		return
	}
	b.Int64(name, n)
}

// at is how messages name a configuration.
func (s *setConfig) at() string { return fmt.Sprintf("{version: %d, term: %d}", s.version, s.term) }

// after reports whether the configuration may follow another.
func (s *setConfig) after(old *setConfig) bool {
	if s.term != noTerm && old.term != noTerm && s.term != old.term {
		return s.term > old.term
	}
	return s.version > old.version
}

// validate checks what holds for all configurations.
func (s *setConfig) validate() error {
	bad := func(format string, args ...any) error { return mongoerr.Newf(mongoerr.BadValue, format, args...) }
	if n := len(s.members); n == 0 || n > maxSetMembers {
		return bad("Replica set configuration contains %d members, but must have at least 1 and no more than  %d", n, maxSetMembers)
	}
	voters, electable, local := 0, 0, 0
	for i := range s.members {
		m := &s.members[i]
		voters += int(m.votes)
		if m.priority > 0 && !m.arbiter {
			electable++
		}
		if isLocalHost(m.host) {
			local++
		}
		for j := range s.members {
			switch other := &s.members[j]; {
			case i == j:
			case m.id == other.id:
				return bad("Found two member configurations with same _id field, members.%d._id == members.%d._id == %d", i, j, m.id)
			case m.host == other.host:
				return bad("Found two member configurations with same host field, members.%d.host == members.%d.host == %s", i, j, m.host)
			}
		}
	}
	switch {
	case local != 0 && local != len(s.members):
		return bad("Either all host names in a replica set configuration must be localhost references, or none must be; found %d out of %d", local, len(s.members))
	case voters == 0 || voters > maxSetVoters:
		return bad("Replica set configuration contains %d voting members, but must be at least 1 and no more than %d", voters, maxSetVoters)
	case electable == 0:
		return bad("Replica set configuration must contain at least one non-arbiter member with priority > 0")
	}
	return s.checkArbiters()
}

func (s *setConfig) checkArbiters() error {
	for _, m := range s.members {
		if m.arbiter && m.priority != 0 {
			return mongoerr.Newf(mongoerr.InvalidReplicaSetConfig, "Member %s is an arbiter but has priority %v. Arbiter priority must be 0.", m.host, m.priority)
		}
	}
	return nil
}

// follows checks whether the configuration may take the place of another.
func (s *setConfig) follows(old *setConfig, force bool) error {
	differ := func(format string, args ...any) error {
		return mongoerr.Newf(mongoerr.NewReplicaSetConfigurationIncompatible, format, args...)
	}
	switch {
	case !s.after(old):
		return differ("New replica set configuration version and term must be greater than old, but %s is not greater than %s for replica set %s", s.at(), old.at(), s.name)
	case s.settings.id != old.settings.id:
		return differ("New and old configurations differ in replica set ID; old was %s, and new is %s", old.settings.id.Hex(), s.settings.id.Hex())
	}
	was := old.member()
	changed := 1 // voters that are no more, or new
	for _, m := range s.members {
		switch {
		case m.id != was.id && m.host == was.host:
			return differ("New and old configurations both have members with host of %s but in the new configuration the _id field is %d and in the old configuration it is %d for replica set %s", m.host, m.id, was.id, s.name)
		case m.id == was.id && m.indexes != was.indexes:
			return differ("New and old configurations differ in the setting of the buildIndexes field for member %s; to make this change, remove then re-add the member", was.host)
		case m.id == was.id && m.arbiter != was.arbiter:
			return differ("New and old configurations differ in the setting of the arbiterOnly field for member %s; to make this change, remove then re-add the member", was.host)
		}
		switch voter := m.votes > 0; {
		case m.id == was.id && voter:
			changed--
		case m.id != was.id && voter:
			changed++
		}
	}
	if changed > 1 && !force {
		return mongoerr.New(mongoerr.InvalidReplicaSetConfig, "Non force replica set reconfig can only add or remove at most 1 voting member.")
	}
	return nil
}

// satisfies tells whether one member meets a named write concern: each of its
// tags must be had once.
func (s *setConfig) satisfies(mode string) (known, met bool) {
	pattern, known := s.settings.modes.Get(mode)
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
func (s *setConfig) checkModes() error {
	for mode, v := range s.settings.modes.All() {
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

func (s *setConfig) hasTag(key string) bool {
	for _, m := range s.members {
		if m.tags.Has(key) {
			return true
		}
	}
	return false
}
