package commands

import (
	"fmt"
	"math"
	"net"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

type setConfigArgs struct {
	Name     string      `arg:"_id,required"`
	Version  value.Value `arg:"version,required"`
	Term     value.Value `arg:"term"`
	Members  array       `arg:"members,required"`
	Config   looseBool   `arg:"configsvr"`
	Protocol *int64      `arg:"protocolVersion"`
	Journals *bool       `arg:"writeConcernMajorityJournalDefault"`
	Settings value.Doc   `arg:"settings"`
	Repaired looseBool   `arg:"repaired"`
	Split    value.Value `arg:"recipientConfig"`
}

type setMemberArgs struct {
	ID       value.Value `arg:"_id,required"`
	Host     string      `arg:"host,required"`
	Votes    *int64      `arg:"votes"`
	Added    *strictBool `arg:"newlyAdded"`
	Priority value.Value `arg:"priority"`
	Hidden   looseBool   `arg:"hidden"`
	Delay    *int64      `arg:"secondaryDelaySecs"`
	Arbiter  looseBool   `arg:"arbiterOnly"`
	Indexes  *bool       `arg:"buildIndexes"`
	Tags     value.Doc   `arg:"tags"`
	Horizons value.Doc   `arg:"horizons"`
}

type setSettingsArgs struct {
	Chaining  *bool       `arg:"chainingAllowed"`
	Heartbeat value.Value `arg:"heartbeatIntervalMillis"`
	Timeout   value.Value `arg:"heartbeatTimeoutSecs"`
	Election  value.Value `arg:"electionTimeoutMillis"`
	CatchUp   value.Value `arg:"catchUpTimeoutMillis"`
	Takeover  value.Value `arg:"catchUpTakeoverDelayMillis"`
	Modes     value.Doc   `arg:"getLastErrorModes"`
	Defaults  value.Doc   `arg:"getLastErrorDefaults"`
	ID        value.Value `arg:"replicaSetId"`
}

var (
	setConfigSpec   = newArgs[setConfigArgs]("ReplSetConfig")
	setMemberSpec   = newArgs[setMemberArgs]("MemberConfig")
	setSettingsSpec = newArgs[setSettingsArgs]("ReplSetConfigSettings").lenient()
)

// parseSetConfig reads a configuration as a client gives it; what it leaves
// out is as in a new one. Its errors are those of mongod, without their codes:
// all are of an invalid configuration.
func parseSetConfig(d value.Doc, id value.OID) (*setConfig, error) {
	var a setConfigArgs
	s := newSetConfig("", noTerm, id)
	err := setConfigSpec.decodeNested("ReplSetConfig", d, &a)
	if err == nil {
		s.name = a.Name
		err = exactInts([]exactInt{{"version", a.Version, &s.version, 1, math.MaxInt32}, {"term", a.Term, &s.term, noTerm, math.MaxInt32}})
	}
	if err == nil {
		err = s.readSettings(a.Settings)
	}
	switch {
	case err != nil:
		return nil, err
	case a.Protocol != nil && *a.Protocol != 1:
		return nil, outOfRange("protocolVersion", float64(*a.Protocol), 1, 1)
	case bool(a.Repaired):
		return nil, mongoerr.New(mongoerr.RepairedReplicaSetNode, "Replicated data has been repaired")
	}
	s.journals = a.Journals == nil || *a.Journals
	members, err := arrayDocs("ReplSetConfig", "members", a.Members)
	if err != nil {
		return nil, err
	}
	s.members, s.asConnected = make([]setMember, len(members)), false
	for i, m := range members {
		if err := s.members[i].read(m); err != nil {
			return nil, mongoerr.From(err).WithPrefix(fmt.Sprintf("member: %s", m))
		}
	}
	if bool(a.Config) {
		return nil, mongoerr.New(mongoerr.BadValue, "Nodes being used for config servers must be started with the --configsvr flag")
	}
	return s, s.checkModes()
}

// readSettings reads the part of the configuration about the set as a whole.
func (s *setConfig) readSettings(d value.Doc) error {
	var a setSettingsArgs
	if err := setSettingsSpec.decodeNested("ReplSetConfig.settings", d, &a); err != nil {
		return err
	}
	t := &s.settings
	t.chaining = a.Chaining == nil || *a.Chaining
	err := exactInts([]exactInt{
		{"heartbeatIntervalMillis", a.Heartbeat, &t.heartbeatMillis, 1, math.MaxInt64},
		{"heartbeatTimeoutSecs", a.Timeout, &t.heartbeatSecs, 1, math.MaxInt64},
		{"electionTimeoutMillis", a.Election, &t.election, 1, math.MaxInt64},
		{"catchUpTimeoutMillis", a.CatchUp, &t.catchUp, -1, math.MaxInt64},
		{"catchUpTakeoverDelayMillis", a.Takeover, &t.catchUpTakeover, -1, math.MaxInt64},
	})
	if err != nil {
		return err
	}
	if a.Modes != nil {
		t.modes = a.Modes.Clone()
	}
	if w, ok := a.Defaults.Get("w"); ok && (!w.IsNumber() || w.AsDouble() != 1) || a.Defaults.Lookup("wtimeout").AsDouble() > 0 || a.Defaults.Lookup("j").Truthy() || a.Defaults.Lookup("fsync").Truthy() {
		return mongoerr.New(5624102, "Failed to reconfig: Replica set config contains customized getLastErrorDefaults, which has been deprecated and is now ignored. Use setDefaultRWConcern instead to set a cluster-wide default writeConcern.")
	}
	switch k := a.ID.Kind(); {
	case k == value.KindObjectID:
		t.id = a.ID.ObjectID()
	case k != value.Missing:
		return wrongType("ReplSetConfig.settings", "replicaSetId", a.ID, "objectId")
	}
	return nil
}

// read reads a member.
func (m *setMember) read(d value.Doc) error {
	var a setMemberArgs
	if err := setMemberSpec.decodeNested("MemberConfig", d, &a); err != nil {
		return err
	}
	*m = setMember{arbiter: bool(a.Arbiter), hidden: bool(a.Hidden), indexes: a.Indexes == nil || *a.Indexes, priority: 1, votes: 1, tags: value.EmptyDoc}
	err := exactInts([]exactInt{{"_id", a.ID, &m.id, 0, math.MaxInt32}})
	if err == nil {
		m.host, err = withPort(a.Host)
	}
	if err == nil {
		err = m.readVote(&a)
	}
	for name, v := range a.Tags.All() {
		if err == nil && v.Kind() != value.KindString {
			err = mongoerr.Newf(mongoerr.TypeMismatch, "tags.%s field has non-string value of type %s", name, v.Kind())
		}
	}
	if a.Tags != nil {
		m.tags = a.Tags.Clone()
	}
	if err == nil && !a.Horizons.IsEmpty() {
		err = mongoerr.New(mongoerr.UnsupportedFormat, "horizons need members that tell by the name in the TLS handshake which of their addresses to give, which this server does not")
	}
	return err
}

// readVote reads what decides whether the member can be primary.
func (m *setMember) readVote(a *setMemberArgs) error {
	if !a.Priority.IsMissing() {
		if !a.Priority.IsNumber() && a.Priority.Kind() != value.KindBool {
			return wrongType("MemberConfig", "priority", a.Priority, boolTypes)
		}
		m.priority = a.Priority.AsDouble()
	}
	if a.Votes != nil {
		m.votes = *a.Votes
	}
	if a.Delay != nil {
		m.delaySecs = *a.Delay
	}
	if m.arbiter && m.priority == 1 {
		m.priority = 0
	}
	bad := func(text string) error { return mongoerr.New(mongoerr.BadValue, text) }
	switch {
	case m.votes < 0 || m.votes > 1:
		return outOfRange("votes", float64(m.votes), 0, 1)
	case !(m.priority >= 0 && m.priority <= 1000):
		return outOfRange("priority", m.priority, 0, 1000)
	case m.delaySecs < 0 || m.delaySecs > 31622400:
		return outOfRange("secondaryDelaySecs", float64(m.delaySecs), 0, 31622400)
	case m.arbiter && m.votes == 0:
		return bad("Arbiter must vote (cannot have 0 votes)")
	case m.arbiter && !a.Tags.IsEmpty():
		return bad("Cannot set tags on arbiters.")
	case m.priority == 0:
		return nil
	case m.votes == 0:
		return bad("priority must be 0 when non-voting (votes:0)")
	case m.delaySecs > 0:
		return bad("priority must be 0 when secondaryDelaySecs is used")
	case m.hidden:
		return bad("priority must be 0 when hidden=true")
	case !m.indexes:
		return bad("priority must be 0 when buildIndexes=false")
	}
	return nil
}

// exactInt is a field that takes any number that is an integer within bounds.
type exactInt struct {
	name     string
	v        value.Value
	to       *int64
	min, max int64
}

func exactInts(fields []exactInt) error {
	for _, f := range fields {
		if f.v.IsMissing() {
			continue
		}
		if !f.v.IsNumber() {
			return mongoerr.Newf(mongoerr.FailedToParse, "Expected a number in: %s: %s", f.name, f.v)
		}
		n, ok := f.v.AsInt64()
		if !ok {
			return mongoerr.Newf(mongoerr.FailedToParse, "Expected an integer: %s: %s", f.name, f.v)
		}
		switch {
		case n < f.min && f.min == 1:
			return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s' value must be > 0, actual value '%d'", f.name, n)
		case n < f.min || n > f.max:
			return outOfRange(f.name, float64(n), f.min, f.max)
		}
		*f.to = n
	}
	return nil
}

func outOfRange(name string, v float64, lowest, highest int64) error {
	if v < float64(lowest) {
		return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s' value must be >= %d, actual value '%v'", name, lowest, v)
	}
	return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s' value must be <= %d, actual value '%v'", name, highest, v)
}

// defaultPort is the port of a host that is given without one.
const defaultPort = "27017"

// withPort is a "host:port", with the usual port if it has none.
func withPort(s string) (string, error) {
	s = strings.TrimSpace(s)
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		host, port = strings.Trim(s, "[]"), defaultPort
	}
	if host == "" {
		return "", mongoerr.Newf(mongoerr.FailedToParse, "Empty host component parsing HostAndPort from \"%s\"", s)
	}
	return net.JoinHostPort(host, port), nil
}

// isLocalHost tells whether a "host:port" is one that each machine has for
// itself.
func isLocalHost(s string) bool {
	host, _, _ := net.SplitHostPort(s)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
