package replication_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// currentConfig is what replSetGetConfig answers.
func currentConfig(h *harness.Harness) value.Doc {
	h.Helper()
	return h.Admin(`{replSetGetConfig: 1}`).Lookup("config").Doc().Clone()
}

// plainMember is the member of the harness's set, as part of a configuration.
const plainMember = `members: [{_id: 0, host: "127.0.0.1:27017"}]`

func TestDefaultConfig(t *testing.T) {
	h := harness.New(t).LoneServer("the configuration of a set").AsMember()
	got := currentConfig(h)
	id := got.Lookup("settings").Doc().Lookup("replicaSetId")
	want := harness.Relaxed(`{_id: "rs", version: 1, term: 1,
		members: [{_id: 0, host: "127.0.0.1:27017", arbiterOnly: false, buildIndexes: true, hidden: false, priority: 1.0, tags: {}, secondaryDelaySecs: {$numberLong: "0"}, votes: 1}],
		protocolVersion: {$numberLong: "1"}, writeConcernMajorityJournalDefault: true,
		settings: {chainingAllowed: true, heartbeatIntervalMillis: 2000, heartbeatTimeoutSecs: 10, electionTimeoutMillis: 10000, catchUpTimeoutMillis: -1,
			catchUpTakeoverDelayMillis: 30000, getLastErrorModes: {}, getLastErrorDefaults: {w: 1, wtimeout: 0}, replicaSetId: ` + id.JSON() + `}}`)
	if got.String() != want.String() {
		t.Errorf("config  %s\nwant %s", got, want)
	}
	stored := harness.Docs(h.RunOn("local", harness.Relaxed(`{find: "system.replset", projection: {duskdb: 0, members: 0}}`)))
	if len(stored) != 1 || stored[0].Lookup("settings").String() != want.Lookup("settings").String() {
		t.Errorf("stored %v", stored)
	}
}

func TestReconfig(t *testing.T) {
	h := harness.New(t).LoneServer("the configuration of a set").AsMember()
	id := currentConfig(h).Lookup("settings").Doc().Lookup("replicaSetId")
	r := h.Admin(`{replSetReconfig: {_id: "rs", version: 5, term: 77, members: [{_id: 0, host: "127.0.0.1", priority: 2, tags: {dc: "east"}}],
		writeConcernMajorityJournalDefault: false, settings: {electionTimeoutMillis: 5000.0, getLastErrorModes: {here: {dc: 1}, both: {dc: 2}}, unknown: 1}}}`)
	if !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	config := currentConfig(h)
	m := config.Lookup("members").Doc().Index(0).Doc()
	for name, ok := range map[string]bool{
		"version":  config.Lookup("version").Int32() == 5,
		"term":     config.Lookup("term").Int32() == 1,
		"journals": !config.Lookup("writeConcernMajorityJournalDefault").Bool(),
		"id":       value.Equal(config.Lookup("settings").Doc().Lookup("replicaSetId"), id),
		"election": config.Lookup("settings").Doc().Lookup("electionTimeoutMillis").Int32() == 5000,
		"member":   m.Lookup("host").Str() == "127.0.0.1:27017" && m.Lookup("priority").Double() == 2,
	} {
		if !ok {
			t.Errorf("%s: %s", name, config)
		}
	}
	hello := h.HelloAfter(0)
	if hello.Lookup("setVersion").Int32() != 5 || hello.Lookup("tags").Doc().JSON() != `{"dc":"east"}` || hello.Lookup("topologyVersion").Doc().Lookup("counter").Int64() != 1 {
		t.Errorf("hello says %s", hello)
	}
	status := h.Admin(`{replSetGetStatus: 1}`).Lookup("members").Doc().Index(0).Doc()
	if status.Lookup("configVersion").Int32() != 5 {
		t.Errorf("status %s", status)
	}
	last := harness.Docs(h.RunOn("local", harness.Relaxed(`{find: "oplog.rs", sort: {$natural: -1}, limit: 1}`)))[0]
	if last.Lookup("op").Str() != "n" || last.Lookup("o").Doc().JSON() != `{"msg":"Reconfig set","version":5}` {
		t.Errorf("the log says %s", last)
	}
	for mode, code := range map[string]int32{"here": 0, "both": 100, "none": 79} {
		r := h.OK(`{insert: "c", documents: [{}], writeConcern: {w: "` + mode + `"}}`)
		if got := r.Lookup("writeConcernError").Doc().Lookup("code").Int32(); got != code {
			t.Errorf("w: %s answered %s", mode, r)
		}
	}

	again, err := harness.NewService(kernel.Options{Engine: h.Svc.Engine, Clock: h.Clock, TempDir: t.TempDir(), ReplSet: "rs"})
	if err != nil {
		t.Fatal(err)
	}
	defer housekeeping.Close(again)
	h2 := &harness.Harness{TB: t, Svc: again, Clock: h.Clock, Conn: again.NewConn("127.0.0.1:1", "127.0.0.1:27017")}
	after := currentConfig(h2)
	if after.Lookup("version").Int32() != 5 || after.Lookup("term").Int32() != 2 || after.Lookup("members").String() != config.Lookup("members").String() || after.Lookup("settings").String() != config.Lookup("settings").String() {
		t.Errorf("after a restart %s", after)
	}
}

// If the host differs from the advertised address, hello reports the new host; if it is
// the same, hello still reports the address that each client connected to.
func TestReconfigHost(t *testing.T) {
	h := harness.New(t).LoneServer("the configuration of a set").AsMember()
	other := &harness.Harness{TB: t, Svc: h.Svc, Clock: h.Clock, Conn: h.Svc.NewConn("10.0.0.7:1", "10.0.0.1:27017")}
	me := func(h *harness.Harness) string { return h.Admin(`{hello: 1}`).Lookup("me").Str() }
	if r := h.Admin(`{replSetReconfig: {_id: "rs", version: 2, ` + plainMember + `}}`); !r.Lookup("ok").Truthy() || me(h) != "127.0.0.1:27017" || me(other) != "10.0.0.1:27017" {
		t.Error(r, me(h), me(other))
	}
	if r := h.Admin(`{replSetReconfig: {_id: "rs", version: 3, members: [{_id: 0, host: "localhost:27017"}]}}`); !r.Lookup("ok").Truthy() || me(h) != "localhost:27017" || me(other) != "localhost:27017" {
		t.Error(r, me(h), me(other))
	}
	h.Svc.Options.AdvertiseHost = "db.example:27017"
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 4, members: [{_id: 0, host: "localhost:27017"}]}}`, Code: 74, Text: "No host described in new configuration with {version: 4, term: 1} for replica set rs maps to this node"},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 4, members: [{_id: 0, host: "db.example"}]}}`, Code: 0, Text: ""},
	})
	if me(h) != "db.example:27017" {
		t.Error(me(h))
	}
}

// What replSetReconfig refuses, with the errors of repl_set_config_checks.cpp
// and of the parsers of the configuration.
func TestReconfigRefusals(t *testing.T) {
	member := func(fields string) string {
		return `{replSetReconfig: {_id: "rs", version: 2, members: [{_id: 0, host: "127.0.0.1:27017"` + fields + `}]}}`
	}
	const two = `{replSetReconfig: {_id: "rs", version: 2, members: [{_id: 0, host: "127.0.0.1:27017"}, {_id: 1, host: "%s"%s}]}}`
	h := harness.New(t).LoneServer("the configuration of a set").AsMember()
	list := []harness.Refusal{
		{DB: "admin", Command: `{replSetReconfig: 1}`, Code: 125, Text: "no configuration specified"},
		{DB: "test", Command: `{replSetReconfig: {}}`, Code: 13, Text: ""},
		{DB: "admin", Command: `{replSetReconfig: {}}`, Code: 93, Text: "BSON field 'ReplSetConfig._id' is missing but a required field"},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 2}}`, Code: 93, Text: "BSON field 'ReplSetConfig.members' is missing but a required field"},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 2, members: [], extra: 1}}`, Code: 93, Text: "BSON field 'ReplSetConfig.extra' is an unknown field."},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 0, ` + plainMember + `}}`, Code: 93, Text: "BSON field 'version' value must be > 0, actual value '0'"},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 1.5, ` + plainMember + `}}`, Code: 93, Text: "Expected an integer: version: 1.5"},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 2, members: []}}`, Code: 103, Text: "Replica set configuration contains 0 members, but must have at least 1 and no more than  50"},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 1, ` + plainMember + `}}`, Code: 103, Text: "New replica set configuration version and term must be greater than old, but {version: 1, term: 1} is not greater than {version: 1, term: 1} for replica set rs"},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 1, term: 9, ` + plainMember + `}}`, Code: 103, Text: ""},
		{DB: "admin", Command: `{replSetReconfig: {_id: "other", version: 2, ` + plainMember + `}}`, Code: 93, Text: "Attempting to reconfigure a replica set with name other, but command line reports rs; rejecting"},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 2, protocolVersion: 0, ` + plainMember + `}}`, Code: 93, Text: "BSON field 'protocolVersion' value must be >= 1, actual value '0'"},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 2, configsvr: true, ` + plainMember + `}}`, Code: 93, Text: ""},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 2, ` + plainMember + `, settings: {heartbeatIntervalMillis: 0}}}`, Code: 93, Text: "BSON field 'heartbeatIntervalMillis' value must be > 0, actual value '0'"},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 2, ` + plainMember + `, settings: {catchUpTimeoutMillis: -2}}}`, Code: 93, Text: "BSON field 'catchUpTimeoutMillis' value must be >= -1, actual value '-2'"},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 2, ` + plainMember + `, settings: {getLastErrorModes: {m: {dc: 1}}}}}`, Code: 93, Text: "No replica set tag key dc in config"},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 2, ` + plainMember + `, settings: {getLastErrorDefaults: {w: 2}}}}`, Code: 93, Text: "Failed to reconfig: Replica set config contains customized getLastErrorDefaults, *"},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 2, ` + plainMember + `, settings: {replicaSetId: {$oid: "635019a078be67426d7cf4d2"}}}}`, Code: 103, Text: "New and old configurations differ in replica set ID; old was *"},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 2, members: [{_id: 0}]}}`, Code: 93, Text: "member: { _id: 0 } :: caused by :: BSON field 'MemberConfig.host' is missing but a required field"},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 2, members: [{_id: 1, host: "127.0.0.1:27017"}]}}`, Code: 103, Text: "New and old configurations both have members with host of 127.0.0.1:27017 but in the new configuration the _id field is 1 and in the old configuration it is 0 for replica set rs"},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 2, members: [{_id: 0, host: "203.0.113.1:27017"}]}}`, Code: 74, Text: "No host described in new configuration with {version: 2, term: 1} for replica set rs maps to this node"},
		{DB: "admin", Command: `{replSetReconfig: {_id: "rs", version: 2, members: [{_id: 0, host: "127.0.0.1:27018"}]}}`, Code: 74, Text: ""},
		{DB: "admin", Command: member(`, votes: 2`), Code: 93, Text: `member: { _id: 0, host: "127.0.0.1:27017", votes: 2 } :: caused by :: BSON field 'votes' value must be <= 1, actual value '2'`},
		{DB: "admin", Command: member(`, votes: 0`), Code: 93, Text: `member: { _id: 0, host: "127.0.0.1:27017", votes: 0 } :: caused by :: priority must be 0 when non-voting (votes:0)`},
		{DB: "admin", Command: member(`, hidden: true`), Code: 93, Text: ""},
		{DB: "admin", Command: member(`, priority: 1001`), Code: 93, Text: ""},
		{DB: "admin", Command: member(`, secondaryDelaySecs: 5`), Code: 93, Text: ""},
		{DB: "admin", Command: member(`, buildIndexes: false`), Code: 93, Text: ""},
		{DB: "admin", Command: member(`, tags: {a: 1}`), Code: 93, Text: `member: { _id: 0, host: "127.0.0.1:27017", tags: { a: 1 } } :: caused by :: tags.a field has non-string value of type int`},
		{DB: "admin", Command: member(`, color: 1`), Code: 93, Text: ""},
		{DB: "admin", Command: member(`, priority: 0`), Code: 103, Text: "Replica set configuration must contain at least one non-arbiter member with priority > 0"},
		{DB: "admin", Command: member(`, arbiterOnly: true`), Code: 103, Text: ""},
		{DB: "admin", Command: member(`, horizons: {a: "b:1"}`), Code: 93, Text: ""},
		{DB: "admin", Command: fmt.Sprintf(two, "127.0.0.1:27018", ""), Code: 74, Text: "Quorum check failed because not enough voting nodes responded; required 2 but only the following 1 voting nodes responded: 127.0.0.1:27017; the following nodes did not respond affirmatively: 127.0.0.1:27018 failed with *"},
		{DB: "admin", Command: fmt.Sprintf(two, "127.0.0.1:27017", ""), Code: 103, Text: "Found two member configurations with same host field, members.0.host == members.1.host == 127.0.0.1:27017"},
		{DB: "admin", Command: fmt.Sprintf(two, "203.0.113.1:27017", ""), Code: 103, Text: "Either all host names in a replica set configuration must be localhost references, or none must be; found 1 out of 2"},
		{DB: "admin", Command: strings.Replace(fmt.Sprintf(two, "127.0.0.1:27018", ""), "_id: 1", "_id: 0", 1), Code: 103, Text: "Found two member configurations with same _id field, members.0._id == members.1._id == 0"},
		{DB: "admin", Command: fmt.Sprintf(two, "127.0.0.1:27018", `, priority: 5`), Code: 74, Text: ""},
	}
	h.Refuses(list)
	if v := currentConfig(h).Lookup("version").Int32(); v != 1 {
		t.Errorf("a refused configuration left version %d", v)
	}
	h.Admin(`{replSetStepDown: 60, force: true}`)
	h.Refuses([]harness.Refusal{{DB: "admin", Command: member(""), Code: 10107, Text: "New config is rejected :: caused by :: replSetReconfig should only be run on a writable PRIMARY. Current state SECONDARY;"}})
	harness.New(t).Refuses([]harness.Refusal{{DB: "admin", Command: member(""), Code: 76, Text: "not running with --replSet"}})
}

// A forced configuration leaps ahead, and has no term until the next election.
func TestForcedReconfig(t *testing.T) {
	h := harness.New(t).LoneServer("the configuration of a set").AsMember()
	h.Admin(`{replSetStepDown: 60, force: true}`)
	if r := h.Admin(`{replSetReconfig: {_id: "rs", version: 1, ` + plainMember + `}, force: true}`); !r.Lookup("ok").Truthy() {
		t.Fatal(r)
	}
	config := currentConfig(h)
	if v := config.Lookup("version").Int32(); v < 10_001 || v > 110_001 || config.Has("term") {
		t.Errorf("config %s", config)
	}
	h.Admin(`{replSetFreeze: 0}`)
	if after := currentConfig(h); after.Lookup("term").Int32() != 2 || after.Lookup("version").Int32() != config.Lookup("version").Int32() {
		t.Errorf("config %s", after)
	}
}

func TestInitiate(t *testing.T) {
	h := harness.New(t).LoneServer("the configuration of a set").AsMember()
	if r := h.Admin(`{replSetInitiate: {}}`); !r.Lookup("ok").Truthy() || r.Lookup("me").Str() != "127.0.0.1:27017" || !r.Has("info2") {
		t.Error(r)
	}
	const first = `{replSetInitiate: {_id: "rs", members: [{_id: 0, host: "localhost:27017", tags: {a: "b"}}]}}`
	const unequal = `{replSetInitiate: {_id: "rs", members: [{_id: 0, host: "localhost:27017"}]}}`
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{replSetInitiate: {_id: "other", ` + plainMember + `}}`, Code: 93, Text: "Rejecting initiate with a set name that differs from command line set name, initiate set name: other, command line set name: rs"},
		{DB: "admin", Command: `{replSetInitiate: {_id: "rs", version: 2, ` + plainMember + `}}`, Code: 93, Text: "Configuration used to initiate a replica set must  have version 1, but found 2"},
		{DB: "admin", Command: `{replSetInitiate: {_id: "rs", members: [{_id: 0, host: "203.0.113.1:27017"}]}}`, Code: 93, Text: "No host described in new configuration with {version: 1, term: 1} for replica set rs maps to this node"},
		{DB: "admin", Command: `{replSetInitiate: {_id: "rs", members: [{_id: 0, host: "localhost:27017"}, {_id: 1, host: "localhost:27018"}]}}`, Code: 74, Text: "replSetInitiate quorum check failed because not all proposed set members responded affirmatively: localhost:27018 failed with *"},
		{DB: "admin", Command: `{replSetInitiate: {_id: "rs", ` + plainMember + `, settings: {replicaSetId: {$oid: "635019a078be67426d7cf4d2"}}}}`, Code: 93, Text: ""},
		{DB: "admin", Command: first, Code: 0, Text: ""},
		{DB: "admin", Command: first, Code: 0, Text: ""},
		{DB: "admin", Command: `{replSetInitiate: {}}`, Code: 0, Text: ""},
		{DB: "admin", Command: unequal, Code: 23, Text: "already initialized"},
	})
	if config := currentConfig(h); config.Lookup("version").Int32() != 1 || config.Lookup("members").Doc().Index(0).Doc().Lookup("host").Str() != "localhost:27017" {
		t.Errorf("config %s", config)
	}
}

// Each election begins a term: electionId grows, as drivers ask for, and the
// log says so.
func TestTerms(t *testing.T) {
	h := harness.New(t).LoneServer("the configuration of a set").AsMember()
	before := ""
	for term := int64(1); term <= 3; term++ {
		if term > 1 {
			h.Admin(`{replSetStepDown: 60, force: true}`)
			if term == 2 {
				h.Admin(`{replSetFreeze: 0}`)
			} else if err := h.Clock.Advance(time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		hello := h.Admin(`{hello: 1}`)
		if term > 1 {
			hello = h.HelloAfter(2*term - 3)
		}
		id := hello.Lookup("electionId").ObjectID()
		if id.Hex() != fmt.Sprintf("7fffffff%016x", term) || id.Hex() <= before {
			t.Errorf("term %d: electionId %s", term, id.Hex())
		}
		before = id.Hex()
		status := h.Admin(`{replSetGetStatus: 1}`)
		member := status.Lookup("members").Doc().Index(0).Doc()
		last := harness.Docs(h.RunOn("local", harness.Relaxed(`{find: "oplog.rs", sort: {$natural: -1}, limit: 1}`)))[0]
		for name, ok := range map[string]bool{
			"status":       status.Lookup("term").Int64() == term,
			"configTerm":   member.Lookup("configTerm").Int32() == int32(term),
			"electionTime": value.Equal(member.Lookup("electionTime"), last.Lookup("ts")),
			"entry":        last.Lookup("o").Doc().JSON() == `{"msg":"new primary"}` && last.Lookup("t").Int64() == term,
			"optime":       member.Lookup("optime").Doc().Lookup("t").Int64() == term && value.Equal(member.Lookup("optime").Doc().Lookup("ts"), last.Lookup("ts")),
			"lastWrite":    hello.Lookup("lastWrite").Doc().Lookup("opTime").Doc().Lookup("t").Int64() == term,
			"config":       currentConfig(h).Lookup("term").Int32() == int32(term),
		} {
			if !ok {
				t.Errorf("term %d, %s: %s", term, name, status)
			}
		}
		h.OK(fmt.Sprintf(`{insert: "c", documents: [{_id: %d}]}`, term))
		if e := harness.Docs(h.RunOn("local", harness.Relaxed(`{find: "oplog.rs", sort: {$natural: -1}, limit: 1}`)))[0]; e.Lookup("t").Int64() != term {
			t.Errorf("term %d: the write is %s", term, e)
		}
	}
	for start := int64(4); start <= 5; start++ {
		again, err := harness.NewService(kernel.Options{Engine: h.Svc.Engine, Clock: h.Clock, TempDir: t.TempDir(), ReplSet: "rs"})
		if err != nil {
			t.Fatal(err)
		}
		if got := again.Leader.Term.Load(); got != start {
			t.Errorf("a restart begins term %d, want %d", got, start)
		}
		housekeeping.Close(again)
	}
	standalone, err := harness.NewService(kernel.Options{Engine: h.Svc.Engine, Clock: h.Clock, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer housekeeping.Close(standalone)
	if got := standalone.Leader.Term.Load(); got != 5 {
		t.Errorf("a standalone goes on in term %d", got)
	}
}
