package replset

import (
	"fmt"
	"math"
	"net"
	"strings"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

type setConfigArgs struct {
	Name     string         `arg:"_id,required"`
	Version  value.Value    `arg:"version,required"`
	Term     value.Value    `arg:"term"`
	Members  args.Array     `arg:"members,required"`
	Config   args.LooseBool `arg:"configsvr"`
	Protocol *int64         `arg:"protocolVersion"`
	Journals *bool          `arg:"writeConcernMajorityJournalDefault"`
	Settings value.Doc      `arg:"settings"`
	Repaired args.LooseBool `arg:"repaired"`
	Split    value.Value    `arg:"recipientConfig"`
}

type setMemberArgs struct {
	ID       value.Value      `arg:"_id,required"`
	Host     string           `arg:"host,required"`
	Votes    *int64           `arg:"votes"`
	Added    *args.StrictBool `arg:"newlyAdded"`
	Priority value.Value      `arg:"priority"`
	Hidden   args.LooseBool   `arg:"hidden"`
	Delay    *int64           `arg:"secondaryDelaySecs"`
	Arbiter  args.LooseBool   `arg:"arbiterOnly"`
	Indexes  *bool            `arg:"buildIndexes"`
	Tags     value.Doc        `arg:"tags"`
	Horizons value.Doc        `arg:"horizons"`
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
	setConfigSpec   = args.New[setConfigArgs]("ReplSetConfig")
	setMemberSpec   = args.New[setMemberArgs]("MemberConfig")
	setSettingsSpec = args.New[setSettingsArgs]("ReplSetConfigSettings").Lenient()
)

// ParseConfig reads a configuration from a client. Missing fields have the values of a new
// configuration. The errors have mongod's messages; their code is always that of an invalid
// configuration.
func ParseConfig(d value.Doc, id value.OID) (*Config, error) {
	var a setConfigArgs
	s := NewConfig("", NoTerm, id)
	err := setConfigSpec.DecodeNested("ReplSetConfig", d, &a)
	if err == nil {
		s.Name = a.Name
		err = exactInts([]exactInt{{"version", a.Version, &s.Version, 1, math.MaxInt32}, {"term", a.Term, &s.Term, NoTerm, math.MaxInt32}})
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
	s.Journals = a.Journals == nil || *a.Journals
	members, err := args.ArrayDocs("ReplSetConfig", "members", a.Members)
	if err != nil {
		return nil, err
	}
	s.Members, s.AsConnected = make([]Member, len(members)), false
	for i, m := range members {
		if err := s.Members[i].read(m); err != nil {
			return nil, mongoerr.From(err).WithPrefix(fmt.Sprintf("member: %s", m))
		}
	}
	if bool(a.Config) {
		return nil, mongoerr.New(mongoerr.BadValue, "Nodes being used for config servers must be started with the --configsvr flag")
	}
	return s, s.checkModes()
}

// readSettings reads the part of the configuration about the set as a whole.
func (s *Config) readSettings(d value.Doc) error {
	var a setSettingsArgs
	if err := setSettingsSpec.DecodeNested("ReplSetConfig.settings", d, &a); err != nil {
		return err
	}
	t := &s.Settings
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
		t.ID = a.ID.ObjectID()
	case k != value.Missing:
		return args.WrongType("ReplSetConfig.settings", "replicaSetId", a.ID, "objectId")
	}
	return nil
}

// read reads a member.
func (m *Member) read(d value.Doc) error {
	var a setMemberArgs
	if err := setMemberSpec.DecodeNested("MemberConfig", d, &a); err != nil {
		return err
	}
	*m = Member{arbiter: bool(a.Arbiter), hidden: bool(a.Hidden), indexes: a.Indexes == nil || *a.Indexes, Priority: 1, Votes: 1, Tags: value.EmptyDoc}
	err := exactInts([]exactInt{{"_id", a.ID, &m.ID, 0, math.MaxInt32}})
	if err == nil {
		m.Host, err = withPort(a.Host)
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
		m.Tags = a.Tags.Clone()
	}
	if err == nil && !a.Horizons.IsEmpty() {
		err = mongoerr.New(mongoerr.UnsupportedFormat, "horizons need members that tell by the name in the TLS handshake which of their addresses to give, which this server does not")
	}
	return err
}

// readVote reads the fields that decide whether the member can be primary.
func (m *Member) readVote(a *setMemberArgs) error {
	if !a.Priority.IsMissing() {
		if !a.Priority.IsNumber() && a.Priority.Kind() != value.KindBool {
			return args.WrongType("MemberConfig", "priority", a.Priority, args.BoolTypes)
		}
		m.Priority = a.Priority.AsDouble()
	}
	if a.Votes != nil {
		m.Votes = *a.Votes
	}
	if a.Delay != nil {
		m.delaySecs = *a.Delay
	}
	if m.arbiter && m.Priority == 1 {
		m.Priority = 0
	}
	bad := func(text string) error { return mongoerr.New(mongoerr.BadValue, text) }
	switch {
	case m.Votes < 0 || m.Votes > 1:
		return outOfRange("votes", float64(m.Votes), 0, 1)
	case !(m.Priority >= 0 && m.Priority <= 1000):
		return outOfRange("priority", m.Priority, 0, 1000)
	case m.delaySecs < 0 || m.delaySecs > 31622400:
		return outOfRange("secondaryDelaySecs", float64(m.delaySecs), 0, 31622400)
	case m.arbiter && m.Votes == 0:
		return bad("Arbiter must vote (cannot have 0 votes)")
	case m.arbiter && !a.Tags.IsEmpty():
		return bad("Cannot set tags on arbiters.")
	case m.Priority == 0:
		return nil
	case m.Votes == 0:
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
		n, complaint := f.v.ExactInt64()
		if complaint != "" {
			return mongoerr.Newf(mongoerr.FailedToParse, "%s: %s: %s", complaint, f.name, f.v)
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

// DefaultPort is the port of a host that is given without one.
const DefaultPort = "27017"

// withPort is a "host:port", with the usual port if it has none.
func withPort(s string) (string, error) {
	s = strings.TrimSpace(s)
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		host, port = strings.Trim(s, "[]"), DefaultPort
	}
	if host == "" {
		return "", mongoerr.Newf(mongoerr.FailedToParse, "Empty host component parsing HostAndPort from \"%s\"", s)
	}
	return net.JoinHostPort(host, port), nil
}

// isLocalHost reports whether a "host:port" is localhost or a loopback address.
func isLocalHost(s string) bool {
	host, _, _ := net.SplitHostPort(s)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
