package mq_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/housekeeping"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage/bunt"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/ttl/monitor"
	"github.com/duskdb/duskdb/value"
)

// mqT0 is the instant at which the tests of queues begin.
const mqT0 int64 = 1767225600000

// mqEnv is a service with a client that sends it commands.
type mqEnv struct {
	t     *testing.T
	svc   *kernel.Service
	conn  *kernel.Conn
	clock *clock.Manual
}

func newMQEnv(t *testing.T) *mqEnv {
	t.Helper()
	engine, err := bunt.Open(bunt.Options{Path: bunt.Memory, Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	c := clock.NewManual(time.UnixMilli(mqT0).UTC())
	svc, err := harness.NewService(kernel.Options{Engine: engine, Clock: c, Log: zerolog.Nop(), TestClock: true, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		housekeeping.Close(svc)
		_ = engine.Close()
	})
	return &mqEnv{t: t, svc: svc, conn: svc.NewConn("test", "test"), clock: c}
}

// run sends a command, given as extended JSON, to a database.
func (e *mqEnv) run(command string, more ...any) value.Doc {
	e.t.Helper()
	d := value.MustJSON(command)
	b := value.NewBuilder()
	it := d.Iter()
	b.Raw(it.Rest())
	for i := 0; i < len(more); i += 2 {
		b.Append(more[i].(string), more[i+1].(value.Value))
	}
	b.String("$db", "db")
	out, _ := harness.Answer(e.svc, e.t.Context(), e.conn, &kernel.Request{Body: b.Doc()}, nil)
	reply := value.Doc(out)
	if err := value.Validate(reply); err != nil {
		e.t.Fatalf("%s: %v", command, err)
	}
	return reply.Clone()
}

// ok runs a command that must succeed.
func (e *mqEnv) ok(command string, more ...any) value.Doc {
	e.t.Helper()
	reply := e.run(command, more...)
	if reply.Lookup("ok").AsDouble() != 1 {
		e.t.Fatalf("%s: %s", command, reply)
	}
	return reply
}

// fails runs a command that must fail with a code and a fragment of text.
func (e *mqEnv) fails(code mongoerr.Code, fragment, command string, more ...any) {
	e.t.Helper()
	reply := e.run(command, more...)
	got := mongoerr.Code(reply.Lookup("code").SafeInt64())
	if reply.Lookup("ok").AsDouble() != 0 || got != code || !strings.Contains(reply.Lookup("errmsg").Str(), fragment) {
		e.t.Errorf("%s: %s\nwant %d %q", command, reply, code, fragment)
	}
}

// at moves the clock to so many seconds after the beginning.
func (e *mqEnv) at(seconds float64) {
	e.t.Helper()
	if err := e.clock.Set(time.UnixMilli(mqT0 + int64(seconds*1000))); err != nil {
		e.t.Fatal(err)
	}
}

// create makes a queue "q".
func (e *mqEnv) create(options string) {
	e.t.Helper()
	e.ok(`{"create": "q", "messageQueue": ` + options + `}`)
}

// messages returns the messages of a receive or a peek.
func (e *mqEnv) messages(command string, more ...any) []value.Doc {
	e.t.Helper()
	var out []value.Doc
	for v := range e.ok(command, more...).Lookup("messages").Doc().Values() {
		out = append(out, v.Doc())
	}
	return out
}

func (e *mqEnv) one(command string) value.Doc {
	e.t.Helper()
	out := e.messages(command)
	if len(out) != 1 {
		e.t.Fatalf("%s: %d messages", command, len(out))
	}
	return out[0]
}

// sweep visits the queues as a pass of the monitor does.
func (e *mqEnv) sweep() {
	e.t.Helper()
	m := monitor.New(write.ExpiryHost{Svc: e.svc}, monitor.Options{Clock: e.clock})
	if r, err := m.RunPass(e.t.Context(), ttl.SetOf(ttl.Message)); err != nil || r.Errors != 0 {
		e.t.Fatalf("%+v, %v", r, err)
	}
}

func mqField(d value.Doc, name string) value.Value { return d.Lookup("_mq").Doc().Lookup(name) }

func lockTokenOf(d value.Doc) value.Value { return mqField(d, "lockToken") }

const (
	mqReceive     = `{"mqReceive": "q", "mode": "peekLock"}`
	mqReceiveDead = `{"mqReceive": "q", "mode": "peekLock", "subQueue": "deadLetter"}`
	mqPeekAll     = `{"mqPeek": "q", "maxMessages": 1000}`
)

// The cases of the specification of expiry that need nothing but the
// commands for queues.
func TestMQCases(t *testing.T) {
	tests := []struct {
		number  int
		options string
		run     func(t *testing.T, e *mqEnv)
	}{
		{65, `{"defaultMessageTimeToLive": 60}`, func(t *testing.T, e *mqEnv) {
			e.ok(`{"mqSend": "q", "messages": [{"_mq": {"timeToLive": 3600}}, {}, {"_mq": {"timeToLive": 5}}]}`)
			for i, want := range []int64{60000, 60000, 5000} {
				if got := mqField(e.messages(mqPeekAll)[i], "timeToLive"); got.Int64() != want {
					t.Errorf("timeToLive %s, want %d", got, want)
				}
			}
		}},
		{66, `{"defaultMessageTimeToLive": 10}`, func(t *testing.T, e *mqEnv) {
			e.ok(`{"mqSend": "q", "messages": [{}]}`)
			e.at(10)
			a, b, c := len(e.messages(mqPeekAll)), len(e.messages(mqReceive)), len(e.messages(mqPeekAll))
			if a != 1 || b != 0 || c != 0 {
				t.Errorf("%d %d %d", a, b, c)
			}
		}},
		{67, `{"defaultMessageTimeToLive": 10, "deadLetteringOnMessageExpiration": true}`, func(t *testing.T, e *mqEnv) {
			e.ok(`{"mqSend": "q", "messages": [{}]}`)
			e.at(10)
			if n := len(e.messages(mqReceive)); n != 0 {
				t.Errorf("%d messages", n)
			}
			if got := mqField(e.one(mqReceiveDead), "deadLetterReason").Str(); got != "TTLExpiredException" {
				t.Errorf("reason %q", got)
			}
		}},
		{70, `{"defaultMessageTimeToLive": 10, "lockDuration": 30, "deadLetteringOnMessageExpiration": true}`, func(t *testing.T, e *mqEnv) {
			e.ok(`{"mqSend": "q", "messages": [{}]}`)
			e.at(5)
			m := e.one(mqReceive)
			e.at(35)
			e.fails(90410, "The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue.",
				`{"mqComplete": "q"}`, "lockToken", lockTokenOf(m))
			e.sweep()
			if got := mqField(e.one(`{"mqPeek": "q/$deadletterqueue"}`), "deadLetterReason").Str(); got != "TTLExpiredException" {
				t.Errorf("reason %q", got)
			}
		}},
		{71, `{"defaultMessageTimeToLive": 10, "lockDuration": 30}`, func(t *testing.T, e *mqEnv) {
			e.ok(`{"mqSend": "q", "messages": [{}]}`)
			e.at(5)
			m := e.one(mqReceive)
			e.at(34)
			if got := e.ok(`{"mqRenewLock": "q"}`, "lockToken", lockTokenOf(m)).Lookup("lockedUntilUtc").DateTime(); got != mqT0+64_000 {
				t.Errorf("locked until %+d", got-mqT0)
			}
			e.at(60)
			e.ok(`{"mqComplete": "q"}`, "lockToken", lockTokenOf(m))
		}},
		{72, `{"maxDeliveryCount": 3}`, func(t *testing.T, e *mqEnv) {
			e.ok(`{"mqSend": "q", "messages": [{}]}`)
			for i, want := range []string{"active", "active", "deadLettered"} {
				m := e.one(mqReceive)
				if n := mqField(m, "deliveryCount").Int32(); int(n) != i+1 {
					t.Errorf("deliveryCount %d, want %d", n, i+1)
				}
				if got := e.ok(`{"mqAbandon": "q"}`, "lockToken", lockTokenOf(m)).Lookup("outcome").Str(); got != want {
					t.Errorf("outcome %s, want %s", got, want)
				}
			}
			m := e.one(mqReceiveDead)
			if text := mqField(m, "deadLetterErrorDescription").Str(); !strings.Contains(text, "after 3 delivery attempts") || mqField(m, "deliveryCount").Int32() != 4 {
				t.Errorf("message %s", m)
			}
		}},
		{73, `{"defaultMessageTimeToLive": 10, "deadLetteringOnMessageExpiration": true}`, func(t *testing.T, e *mqEnv) {
			e.ok(`{"mqSend": "q", "messages": [{}]}`)
			e.at(1)
			out := e.ok(`{"mqDefer": "q"}`, "lockToken", lockTokenOf(e.one(mqReceive)))
			if out.Lookup("outcome").Str() != "deferred" || out.Lookup("sequenceNumber").Int64() != 1 {
				t.Errorf("reply %s", out)
			}
			e.at(100)
			e.sweep()
			e.one(mqPeekAll)
			e.fails(90404, "The message does not exist or is locked", `{"mqReceive": "q", "mode": "peekLock", "sequenceNumbers": [1]}`)
			e.one(mqReceiveDead)
		}},
		{74, `{}`, func(t *testing.T, e *mqEnv) {
			e.ok(`{"mqSend": "q", "messages": [{"_mq": {"timeToLive": 10, "scheduledEnqueueTimeUtc": {"$date": 1767225700000}}}]}`)
			e.at(99)
			if n := len(e.messages(mqReceive)); n != 0 {
				t.Errorf("%d messages", n)
			}
			e.at(100)
			e.one(mqReceive)
		}},
		{75, `{"defaultMessageTimeToLive": 10}`, func(_ *testing.T, e *mqEnv) {
			e.ok(`{"mqSend": "q", "messages": [{}]}`)
			e.ok(`{"mqDeadLetter": "q", "reason": "bad", "description": "very"}`, "lockToken", lockTokenOf(e.one(mqReceive)))
			e.at(1e6)
			e.sweep()
			e.one(mqReceiveDead)
		}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.number), func(t *testing.T) {
			e := newMQEnv(t)
			e.create(tt.options)
			tt.run(t, e)
		})
	}
}

// The errors of the commands.
func TestMQErrors(t *testing.T) {
	e := newMQEnv(t)
	e.create(`{}`)
	e.ok(`{"insert": "plain", "documents": [{"_id": 1}]}`)
	uuid := []any{"lockToken", value.Binary(4, make([]byte, 16))}
	tests := []struct {
		command  string
		more     []any
		code     mongoerr.Code
		fragment string
	}{
		{`{"mqReceive": "nowhere"}`, nil, 26, "ns does not exist"},
		{`{"mqReceive": "plain"}`, nil, 20, "db.plain is not a message queue"},
		{`{"mqReceive": 5}`, nil, 73, ""},
		{`{"mqReceive": "q", "mode": "steal"}`, nil, 2, "mqReceive.mode"},
		{`{"mqReceive": "q", "mode": 1}`, nil, 14, ""},
		{`{"mqReceive": "q", "maxMessages": 0}`, nil, 2, "maxMessages"},
		{`{"mqReceive": "q", "maxMessages": 1001}`, nil, 2, "maxMessages"},
		{`{"mqReceive": "q", "maxWaitTimeMS": 60001}`, nil, 2, "maxWaitTimeMS"},
		{`{"mqReceive": "q", "subQueue": "other"}`, nil, 2, "subQueue"},
		{`{"mqReceive": "q", "sequenceNumbers": ["1"]}`, nil, 14, ""},
		{`{"mqReceive": "q", "sequenceNumbers": []}`, nil, 2, ""},
		{`{"mqReceive": "q", "colour": 1}`, nil, 40415, "mqReceive.colour"},
		{`{"mqSend": "q"}`, nil, 40414, "messages"},
		{`{"mqSend": "q", "messages": []}`, nil, 16, ""},
		{`{"mqSend": "q", "messages": [1]}`, nil, 14, ""},
		{`{"mqSend": "q", "messages": [{"_id": 1}, {"_id": 1}]}`, nil, 11000, "E11000 duplicate key error collection: db.q index: _id_ dup key: { _id: 1 }"},
		{`{"mqSend": "q", "messages": [{"_id": [1]}]}`, nil, 53, ""},
		{`{"mqSend": "q", "messages": [{"_mq": {"sequenceNumber": 1}}]}`, nil, 2, "_mq.sequenceNumber"},
		{`{"mqSend": "q.deadletterqueue", "messages": [{}]}`, nil, 20, ""},
		{`{"mqComplete": "q"}`, nil, 40414, "mqComplete.lockToken"},
		{`{"mqComplete": "q", "lockToken": "x"}`, nil, 14, "UUID"},
		{`{"mqComplete": "q"}`, uuid, 90410, "The lock supplied is invalid"},
		{`{"mqAbandon": "q"}`, uuid, 90410, ""},
		{`{"mqDefer": "q"}`, uuid, 90410, ""},
		{`{"mqDeadLetter": "q"}`, uuid, 90410, ""},
		{`{"mqRenewLock": "q"}`, uuid, 90410, ""},
		{`{"mqCancelScheduled": "q", "sequenceNumber": 1}`, nil, 90404, ""},
		{`{"mqCancelScheduled": "q"}`, nil, 40414, ""},
		{`{"mqPeek": "q", "maxMessages": 0}`, nil, 2, ""},
		{`{"mqStats": "plain"}`, nil, 20, ""},
	}
	for _, tt := range tests {
		e.fails(tt.code, tt.fragment, tt.command, tt.more...)
	}
	if n := len(e.messages(mqPeekAll)); n != 0 {
		t.Errorf("%d messages were sent", n)
	}
}

func TestMQSendAndStats(t *testing.T) {
	e := newMQEnv(t)
	e.create(`{"autoDeleteOnIdle": 300}`)
	reply := e.ok(`{"mqSend": "q", "messages": [{"a": 1}, {"_id": "x"}, {"_mq": {"scheduledEnqueueTimeUtc": {"$date": 1767225700000}}}]}`)
	if got := reply.Lookup("sequenceNumbers").String(); got != "[ 1, 2, 3 ]" {
		t.Errorf("sequenceNumbers %s", got)
	}
	m := e.one(`{"mqReceive": "q", "mode": "receiveAndDelete"}`)
	if m.Lookup("_id").Kind() != value.KindObjectID || !lockTokenOf(m).IsMissing() {
		t.Errorf("message %s", m)
	}
	e.one(mqReceive)
	want := `{ active: 0, locked: 1, deferred: 0, scheduled: 1, expiredPending: 0, deadLettered: 0, lastActivityUtc: new Date(1767225600000), ok: 1.0 }`
	if got := e.ok(`{"mqStats": "q"}`).String(); got != want {
		t.Errorf("stats %s", got)
	}
	e.ok(`{"mqCancelScheduled": "q", "sequenceNumber": 3}`)
	if got := e.ok(`{"mqStats": "q"}`).Lookup("idleDeadlineUtc").DateTime(); got != mqT0+300_000 {
		t.Errorf("idle deadline %+d", got-mqT0)
	}
	if got := e.one(`{"mqPeek": "q", "fromSequenceNumber": 2}`); !lockTokenOf(got).IsMissing() || got.Lookup("_id").Str() != "x" {
		t.Errorf("peeked %s", got)
	}
}

// A blocked receive is woken by a send on another connection and by the
// clock.
func TestMQBlockingReceive(t *testing.T) {
	e := newMQEnv(t)
	e.create(`{"lockDuration": 10}`)
	got := make(chan value.Doc, 1)
	other := &mqEnv{t: t, svc: e.svc, conn: e.svc.NewConn("other", "test"), clock: e.clock}
	receive := func() {
		got <- other.run(`{"mqReceive": "q", "mode": "peekLock", "maxWaitTimeMS": 60000}`)
	}
	expect := func(number int64) {
		t.Helper()
		select {
		case reply := <-got:
			if n := mqField(reply.Lookup("messages").Doc().Index(0).Doc(), "sequenceNumber").Int64(); n != number {
				t.Fatalf("reply %s", reply)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("the receiver was not woken")
		}
	}
	go receive()
	e.ok(`{"mqSend": "q", "messages": [{}]}`)
	expect(1)
	go receive()
	e.at(10) // the lock lapses
	expect(1)
}

// A queue is created with its dead-letter queue, or not at all.
func TestCreateBesideTakenName(t *testing.T) {
	e := newMQEnv(t)
	e.ok(`{"create": "taken.deadletterqueue"}`)
	e.fails(mongoerr.NamespaceExists, "db.taken.deadletterqueue already exists", `{"create": "taken", "messageQueue": {}}`)
	if left := e.ok(`{"listCollections": 1, "nameOnly": true, "filter": {"name": "taken"}}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc(); left.Len() != 0 {
		t.Errorf("half a queue was created: %s", left)
	}
}
