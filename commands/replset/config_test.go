package replset_test

import (
	"math"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/replset"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

var setID = value.OID{1, 2, 3}

func parse(t *testing.T, config string) *replset.Config {
	t.Helper()
	c, err := replset.ParseConfig(value.MustJSON(config), setID)
	if err != nil {
		t.Fatalf("%s: %v", config, err)
	}
	return c
}

// The defaults are those of the manual's "Replica Set Configuration".
func TestParseConfigDefaults(t *testing.T) {
	t.Parallel()
	c := parse(t, `{"_id": "rs", "version": 1, "members": [{"_id": 0, "host": "db.example"}]}`)
	b := value.NewBuilder()
	c.Append(b, "unused:1")
	d := b.Doc()
	m := d.Lookup("members").Doc().Index(0).Doc()
	settings := d.Lookup("settings").Doc()
	for name, tt := range map[string]struct {
		got, want value.Value
	}{
		"_id":                                {d.Lookup("_id"), value.String("rs")},
		"version":                            {d.Lookup("version"), value.Int32(1)},
		"term":                               {d.Lookup("term"), value.Value{}},
		"protocolVersion":                    {d.Lookup("protocolVersion"), value.Int64(1)},
		"writeConcernMajorityJournalDefault": {d.Lookup("writeConcernMajorityJournalDefault"), value.Bool(true)},
		"host":                               {m.Lookup("host"), value.String("db.example:27017")},
		"arbiterOnly":                        {m.Lookup("arbiterOnly"), value.Bool(false)},
		"buildIndexes":                       {m.Lookup("buildIndexes"), value.Bool(true)},
		"hidden":                             {m.Lookup("hidden"), value.Bool(false)},
		"priority":                           {m.Lookup("priority"), value.Double(1)},
		"secondaryDelaySecs":                 {m.Lookup("secondaryDelaySecs"), value.Int64(0)},
		"votes":                              {m.Lookup("votes"), value.Int32(1)},
		"chainingAllowed":                    {settings.Lookup("chainingAllowed"), value.Bool(true)},
		"heartbeatIntervalMillis":            {settings.Lookup("heartbeatIntervalMillis"), value.Int32(2000)},
		"heartbeatTimeoutSecs":               {settings.Lookup("heartbeatTimeoutSecs"), value.Int32(10)},
		"electionTimeoutMillis":              {settings.Lookup("electionTimeoutMillis"), value.Int32(10000)},
		"catchUpTimeoutMillis":               {settings.Lookup("catchUpTimeoutMillis"), value.Int32(-1)},
		"catchUpTakeoverDelayMillis":         {settings.Lookup("catchUpTakeoverDelayMillis"), value.Int32(30000)},
		"replicaSetId":                       {settings.Lookup("replicaSetId"), value.ObjectID(setID)},
	} {
		if tt.got.Kind() != tt.want.Kind() || !value.Equal(tt.got, tt.want) {
			t.Errorf("%s is %s, want %s", name, tt.got, tt.want)
		}
	}
	if c.AsConnected {
		t.Error("a client gave the host")
	}
}

// A server without a configuration from a client is known by the address that its
// clients connect to.
func TestNewConfig(t *testing.T) {
	t.Parallel()
	c := replset.NewConfig("rs", 3, setID)
	b := value.NewBuilder()
	c.Append(b, "localhost:5000")
	d := b.Doc()
	if host := d.Lookup("members").Doc().Index(0).Doc().Lookup("host").Str(); host != "localhost:5000" {
		t.Errorf("host %q", host)
	}
	if term := d.Lookup("term"); term.Kind() != value.KindInt32 || term.Int32() != 3 {
		t.Errorf("term %s", term)
	}
	if got := c.VersionAndTerm(); got != "{version: 1, term: 3}" {
		t.Error(got)
	}
}

func TestParseConfigRefuses(t *testing.T) {
	t.Parallel()
	config := func(fields string) string { return `{"_id": "rs", "version": 1, "members": [], ` + fields + `}` }
	member := func(fields string) string {
		return `{"_id": "rs", "version": 1, "members": [{"_id": 0, "host": "a:1", ` + fields + `}]}`
	}
	for _, tt := range []struct {
		config string
		code   mongoerr.Code
		text   string
	}{
		{`{"version": 1, "members": []}`, mongoerr.IDLFailedToParse, "_id"},
		{`{"_id": "rs", "members": []}`, mongoerr.IDLFailedToParse, "version"},
		{`{"_id": "rs", "version": 0, "members": []}`, mongoerr.BadValue, "BSON field 'version' value must be > 0, actual value '0'"},
		{`{"_id": "rs", "version": 1.5, "members": []}`, mongoerr.FailedToParse, "Expected an integer"},
		{`{"_id": "rs", "version": "1", "members": []}`, mongoerr.FailedToParse, "Expected a number"},
		{config(`"term": -2`), mongoerr.BadValue, "BSON field 'term' value must be >= -1"},
		{config(`"term": 3000000000`), mongoerr.BadValue, "BSON field 'term' value must be <= 2147483647"},
		{config(`"protocolVersion": 0`), mongoerr.BadValue, "protocolVersion"},
		{config(`"repaired": true`), mongoerr.RepairedReplicaSetNode, "repaired"},
		{config(`"configsvr": true`), mongoerr.BadValue, "--configsvr"},
		{config(`"unknown": 1`), mongoerr.IDLUnknownField, "unknown"},
		{config(`"settings": {"heartbeatIntervalMillis": 0}`), mongoerr.BadValue, "heartbeatIntervalMillis"},
		{config(`"settings": {"catchUpTimeoutMillis": -2}`), mongoerr.BadValue, "catchUpTimeoutMillis"},
		{config(`"settings": {"getLastErrorDefaults": {"w": 2}}`), 5624102, "setDefaultRWConcern"},
		{config(`"settings": {"replicaSetId": 1}`), mongoerr.TypeMismatch, "replicaSetId"},
		{config(`"settings": {"getLastErrorModes": {"m": 1}}`), mongoerr.TypeMismatch, "Expected getLastErrorModes.m to be an object"},
		{config(`"settings": {"getLastErrorModes": {"m": {"t": "x"}}}`), mongoerr.TypeMismatch, "to be a number"},
		{config(`"settings": {"getLastErrorModes": {"m": {"t": 0}}}`), mongoerr.BadValue, "must be positive"},
		{config(`"settings": {"getLastErrorModes": {"m": {"t": 1}}}`), mongoerr.NoSuchKey, "No replica set tag key t in config"},
		{`{"_id": "rs", "version": 1, "members": [1]}`, mongoerr.TypeMismatch, "ReplSetConfig.members.0"},
		{`{"_id": "rs", "version": 1, "members": [{"_id": 0, "host": " "}]}`, mongoerr.FailedToParse, "Empty host component"},
		{member(`"votes": 2`), mongoerr.BadValue, "BSON field 'votes' value must be <= 1, actual value '2'"},
		{member(`"votes": -1`), mongoerr.BadValue, "BSON field 'votes' value must be >= 0, actual value '-1'"},
		{member(`"priority": 1001`), mongoerr.BadValue, "BSON field 'priority' value must be <= 1000"},
		{member(`"priority": -1`), mongoerr.BadValue, "BSON field 'priority' value must be >= 0"},
		{member(`"priority": "x"`), mongoerr.TypeMismatch, "priority"},
		{member(`"secondaryDelaySecs": 31622401`), mongoerr.BadValue, "secondaryDelaySecs"},
		{member(`"arbiterOnly": true, "votes": 0`), mongoerr.BadValue, "Arbiter must vote (cannot have 0 votes)"},
		{member(`"arbiterOnly": true, "tags": {"a": "b"}`), mongoerr.BadValue, "Cannot set tags on arbiters."},
		{member(`"votes": 0`), mongoerr.BadValue, "priority must be 0 when non-voting (votes:0)"},
		{member(`"secondaryDelaySecs": 1`), mongoerr.BadValue, "priority must be 0 when secondaryDelaySecs is used"},
		{member(`"hidden": true`), mongoerr.BadValue, "priority must be 0 when hidden=true"},
		{member(`"buildIndexes": false`), mongoerr.BadValue, "priority must be 0 when buildIndexes=false"},
		{member(`"tags": {"a": 1}`), mongoerr.TypeMismatch, "tags.a field has non-string value of type int"},
		{member(`"horizons": {"h": "x:1"}`), mongoerr.UnsupportedFormat, "horizons"},
	} {
		_, err := replset.ParseConfig(value.MustJSON(tt.config), setID)
		if mongoerr.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v", tt.config, err)
		}
	}
}

func TestParseConfigOptions(t *testing.T) {
	t.Parallel()
	c := parse(t, `{"_id": "rs", "version": 2, "term": 4, "writeConcernMajorityJournalDefault": false,
		"members": [{"_id": 7, "host": "[::1]:5", "votes": 1, "priority": 2.5, "tags": {"dc": "east"}}, {"_id": 8, "host": "arbiter", "arbiterOnly": true}],
		"settings": {"chainingAllowed": false, "electionTimeoutMillis": 5, "getLastErrorModes": {"near": {"dc": 1}, "both": {"dc": 2}}, "replicaSetId": {"$oid": "0123456789abcdef01234567"}}}`)
	m := c.Member()
	if c.Version != 2 || c.Term != 4 || c.Journals || m.ID != 7 || m.Host != "[::1]:5" || m.Priority != 2.5 || m.Tags.Lookup("dc").Str() != "east" {
		t.Errorf("%+v", c)
	}
	if c.Members[1].Priority != 0 { // as in mongod, arbiters cannot be elected
		t.Errorf("an arbiter of priority %v", c.Members[1].Priority)
	}
	if c.Settings.ID.Hex() != "0123456789abcdef01234567" {
		t.Errorf("id %s", c.Settings.ID.Hex())
	}
	for mode, want := range map[string][2]bool{"near": {true, true}, "both": {true, false}, "other": {false, false}} {
		if known, met := c.Satisfies(mode); known != want[0] || met != want[1] {
			t.Errorf("%s: known %v, met %v", mode, known, met)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	config := func(members ...string) string {
		return `{"_id": "rs", "version": 1, "members": [` + strings.Join(members, ", ") + `]}`
	}
	many := func(n int, fields string) string {
		var list []string
		for i := range n {
			list = append(list, strings.ReplaceAll(`{"_id": N, "host": "h:N"`+fields+`}`, "N", value.Int32(int32(i+1)).String()))
		}
		return config(list...)
	}
	for _, tt := range []struct{ config, text string }{
		{many(7, ""), ""},
		{config(), "Replica set configuration contains 0 members, but must have at least 1 and no more than  50"},
		{many(51, `, "votes": 0, "priority": 0`), "contains 51 members"},
		{many(8, ""), "Replica set configuration contains 8 voting members, but must be at least 1 and no more than 7"},
		{many(2, `, "votes": 0, "priority": 0`), "contains 0 voting members"},
		{many(2, `, "priority": 0`), "Replica set configuration must contain at least one non-arbiter member with priority > 0"},
		{config(`{"_id": 1, "host": "a"}`, `{"_id": 1, "host": "b"}`), "Found two member configurations with same _id field, members.0._id == members.1._id == 1"},
		{config(`{"_id": 1, "host": "a"}`, `{"_id": 2, "host": "a:27017"}`), "Found two member configurations with same host field, members.0.host == members.1.host == a:27017"},
		{config(`{"_id": 1, "host": "a"}`, `{"_id": 2, "host": "localhost"}`), "Either all host names in a replica set configuration must be localhost references, or none must be; found 1 out of 2"},
		{config(`{"_id": 1, "host": "127.0.0.1:1"}`, `{"_id": 2, "host": "[::1]:2"}`), ""},
		{config(`{"_id": 1, "host": "a"}`, `{"_id": 2, "host": "b", "arbiterOnly": true, "priority": 2}`), "Member b:27017 is an arbiter but has priority 2. Arbiter priority must be 0."},
	} {
		err := parse(t, tt.config).Validate()
		if (err == nil) != (tt.text == "") || err != nil && !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v", tt.config, err)
		}
	}
}

func TestFollows(t *testing.T) {
	t.Parallel()
	config := func(version, term, members string) string {
		return `{"_id": "rs", "version": ` + version + `, "term": ` + term + `, "members": [` + members + `]}`
	}
	old := parse(t, config("2", "3", `{"_id": 0, "host": "a:1"}`))
	const same, other, third = `{"_id": 0, "host": "a:1"}`, `, {"_id": 1, "host": "b:1"}`, `, {"_id": 2, "host": "c:1"}`
	for _, tt := range []struct {
		config string
		force  bool
		code   mongoerr.Code
	}{
		{config("3", "3", same), false, 0},
		{config("1", "4", same), false, 0},  // a later term comes before the version
		{config("3", "-1", same), false, 0}, // a forced one has no term
		{config("2", "3", same), false, mongoerr.NewReplicaSetConfigurationIncompatible},
		{config("9", "2", same), false, mongoerr.NewReplicaSetConfigurationIncompatible},
		{config("3", "3", `{"_id": 5, "host": "a:1"}`), false, mongoerr.NewReplicaSetConfigurationIncompatible},
		{config("3", "3", `{"_id": 0, "host": "a:1", "buildIndexes": false, "priority": 0}`), false, mongoerr.NewReplicaSetConfigurationIncompatible},
		{config("3", "3", `{"_id": 0, "host": "a:1", "arbiterOnly": true}`), false, mongoerr.NewReplicaSetConfigurationIncompatible},
		{config("3", "3", same+other), false, 0},
		{config("3", "3", same+other+third), false, mongoerr.InvalidReplicaSetConfig},
		{config("3", "3", same+other+third), true, 0},
	} {
		if err := parse(t, tt.config).Follows(old, tt.force); err == nil && tt.code != 0 || err != nil && mongoerr.CodeOf(err) != tt.code {
			t.Errorf("%s: %v", tt.config, err)
		}
	}
	foreign, err := replset.ParseConfig(value.MustJSON(config("3", "3", same)), value.OID{9})
	if err != nil {
		t.Fatal(err)
	}
	if err := foreign.Follows(old, true); mongoerr.CodeOf(err) != mongoerr.NewReplicaSetConfigurationIncompatible {
		t.Errorf("of another set: %v", err)
	}
}

func TestAppendInt(t *testing.T) {
	t.Parallel()
	b := value.NewBuilder()
	replset.AppendInt(b, "small", math.MaxInt32)
	replset.AppendInt(b, "large", math.MaxInt32+1)
	d := b.Doc()
	if d.Lookup("small").Kind() != value.KindInt32 || d.Lookup("large").Kind() != value.KindInt64 {
		t.Errorf("%s", d)
	}
}

// Drivers take the primary with the greater electionId for the present one (SDAM).
func TestElectionID(t *testing.T) {
	t.Parallel()
	if got := replset.ElectionID(1).Hex(); got != "7fffffff0000000000000001" {
		t.Error(got)
	}
	if a, b := replset.ElectionID(255), replset.ElectionID(256); a.Hex() >= b.Hex() {
		t.Errorf("%s is not below %s", a.Hex(), b.Hex())
	}
}
