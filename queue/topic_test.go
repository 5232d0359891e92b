package queue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// ids lists the _id and the fields a and b of the messages of a queue, in order.
func (e *env) ids(name string) (list []string) {
	e.t.Helper()
	for _, d := range e.peek(name) {
		s := d.Lookup("_id").String()
		for _, f := range []string{"a", "b"} {
			if v := d.Lookup(f); !v.IsMissing() {
				s += " " + f + "=" + v.String()
			}
		}
		list = append(list, s)
	}
	return list
}

func (e *env) expectIDs(name string, want ...string) {
	e.t.Helper()
	if got := e.ids(name); !slices.Equal(got, want) {
		e.t.Errorf("%s has %q, want %q", name, got, want)
	}
}

// Each subscription gets the messages that its rules select: rules without an action
// together one copy, and each rule with an action one of its own.
func TestTopicRules(t *testing.T) {
	e := newEnv(t)
	e.createAs(Topic, "t", `{}`)
	for name, rules := range map[string]string{
		"all":     `[{"name": "$Default", "filter": true}]`,
		"none":    `[{"name": "no", "filter": false}]`,
		"empty":   `[]`,
		"red":     `[{"name": "red", "correlationFilter": {"a": "red"}}]`,
		"big":     `[{"name": "big", "filter": {"b": {"$gt": 5}}}]`,
		"either":  `[{"name": "red", "correlationFilter": {"a": "red"}}, {"name": "big", "filter": {"b": {"$gt": 5}}}]`,
		"changed": `[{"name": "twice", "filter": {"b": {"$gt": 5}}, "action": {"$mul": {"b": 2}, "$unset": {"a": 1}}}]`,
		"copies":  `[{"name": "one", "filter": true, "action": {"$set": {"b": 1}}}, {"name": "two", "filter": true, "action": {"$set": {"b": 2}}}, {"name": "plain", "filter": true}, {"name": "plain2", "filter": true}]`,
	} {
		e.createAs(Subscription, name, `{"topic": "t", "rules": `+rules+`}`)
	}
	e.createAs(Subscription, "default", `{"topic": "t"}`)
	numbers := e.send("t", `{"_id": 1, "a": "red", "b": 1}`, `{"_id": 2, "a": "blue", "b": 9}`, `{"_id": 3, "a": "red", "b": 9}`)
	if !slices.Equal(numbers, []int64{1, 2, 3}) {
		t.Errorf("numbers %v", numbers)
	}
	for name, want := range map[string][]string{
		"all":     {`1 a="red" b=1`, `2 a="blue" b=9`, `3 a="red" b=9`},
		"default": {`1 a="red" b=1`, `2 a="blue" b=9`, `3 a="red" b=9`},
		"none":    nil, "empty": nil,
		"red":     {`1 a="red" b=1`, `3 a="red" b=9`},
		"big":     {`2 a="blue" b=9`, `3 a="red" b=9`},
		"either":  {`1 a="red" b=1`, `2 a="blue" b=9`, `3 a="red" b=9`},
		"changed": {`2 b=18`, `3 b=18`},
	} {
		e.expectIDs(name, want...)
	}
	if got := e.peek("copies"); len(got) != 9 {
		t.Fatalf("%d copies", len(got))
	}
	for i, want := range []string{`{"ruleName": "one"}`, `{"ruleName": "two"}`, `{"sequenceNumber": {"$numberLong": "3"}}`} {
		expectMQ(t, e.peek("copies")[i], want)
	}
	expectMQ(t, e.peek("big")[1], `{"sequenceNumber": {"$numberLong": "2"}, "enqueuedSequenceNumber": {"$numberLong": "3"}}`)
	e.count("t", 0)
}

// The time to live is the least of the message's, the topic's and the subscription's.
func TestTopicTimeToLive(t *testing.T) {
	e := newEnv(t)
	e.createAs(Topic, "t", `{"defaultMessageTimeToLive": 60}`)
	e.createAs(Subscription, "long", `{"topic": "t", "defaultMessageTimeToLive": 600}`)
	e.createAs(Subscription, "short", `{"topic": "t", "defaultMessageTimeToLive": 30, "deadLetteringOnMessageExpiration": true}`)
	e.send("t", `{"_id": 1}`, `{"_id": 2, "_mq": {"timeToLive": 10}}`, `{"_id": 3, "_mq": {"timeToLive": 45}}`)
	for name, want := range map[string][]int64{"long": {60000, 10000, 45000}, "short": {30000, 10000, 30000}} {
		for i, d := range e.peek(name) {
			if got := mq(d, "timeToLive").Int64(); got != want[i] {
				t.Errorf("%s: message %d lives %d, want %d", name, i+1, got, want[i])
			}
		}
	}
	e.at(31)
	e.sweep()
	e.expectIDs("long", "1", "3")
	e.expectIDs("short")
	e.expectIDs("short.deadletterqueue", "1", "2", "3")
	expectMQ(t, e.peek("short.deadletterqueue")[0], `{"deadLetterReason": "TTLExpiredException", "deadLetterSource": "short"}`)
}

// A scheduled message waits in the topic. The subscriptions get it when it is due, by the
// rules that they have then.
func TestTopicScheduled(t *testing.T) {
	e := newEnv(t)
	e.createAs(Topic, "t", `{}`)
	e.createAs(Subscription, "s", `{"topic": "t"}`)
	later := `{"_id": %d, "_mq": {"scheduledEnqueueTimeUtc": {"$date": 1767225700000}, "timeToLive": 10}}`
	first := e.send("t", fmt.Sprintf(later, 1))[0]
	second := e.send("t", fmt.Sprintf(later, 2))[0]
	e.createAs(Subscription, "late", `{"topic": "t"}`)
	e.must(e.broker.CancelScheduled(e.ctx, e.store, ref("t"), second, e.now()))
	if st := e.stats("t"); st.Scheduled != 1 || first != 1 {
		t.Errorf("%+v, number %d", st, first)
	}
	e.at(99)
	e.sweep()
	e.none("s")
	e.at(100)
	e.sweep()
	for _, name := range []string{"s", "late"} {
		expectMQ(t, e.one(name), `{"state": "active", "enqueuedTimeUtc": {"$date": 1767225700000}, "expiresAtUtc": {"$date": 1767225710000}}`)
	}
	e.count("t", 0)
	e.at(111)
	e.send("t", `{"_id": 3, "_mq": {"scheduledEnqueueTimeUtc": {"$date": 1767225600000}}}`) // past: at once
	e.sweep()
	if got := e.ids("late"); !slices.Contains(got, "3") {
		t.Errorf("late has %v", got)
	}
}

// A message on which a rule fails goes to the dead letters, or nowhere; the copies of the
// other rules arrive all the same.
func TestFilterFails(t *testing.T) {
	e := newEnv(t)
	e.createAs(Topic, "t", `{}`)
	rules := `"rules": [{"name": "fails", "filter": {"$expr": {"$gt": [{"$divide": [1, "$b"]}, 0]}}}, {"name": "works", "filter": {"a": 1}}]`
	e.createAs(Subscription, "keeps", `{"topic": "t", `+rules+`}`)
	e.createAs(Subscription, "drops", `{"topic": "t", "deadLetteringOnFilterEvaluationExceptions": false, `+rules+`}`)
	e.createAs(Subscription, "action", `{"topic": "t", "rules": [{"name": "inc", "filter": true, "action": {"$inc": {"a": 1}}}]}`)
	e.send("t", `{"_id": 1, "a": 1, "b": 0}`, `{"_id": 2, "a": "x", "b": 1}`)
	e.expectIDs("keeps", "1 a=1 b=0", `2 a="x" b=1`)
	e.expectIDs("keeps.deadletterqueue", "1 a=1 b=0")
	d := e.peek("keeps.deadletterqueue")[0]
	expectMQ(t, d, `{"deadLetterReason": "FilterEvaluationException"}`)
	if text := mq(d, "deadLetterErrorDescription").Str(); text == "" {
		t.Error("no description")
	}
	e.expectIDs("drops", "1 a=1 b=0", `2 a="x" b=1`)
	e.expectIDs("drops.deadletterqueue")
	e.expectIDs("action", "1 a=2 b=0")
	e.expectIDs("action.deadletterqueue", `2 a="x" b=1`)
}

// A rule that computes for too long fails for that message.
func TestRuleTakesTooLong(t *testing.T) {
	e := newEnv(t)
	e.createAs(Topic, "t", `{}`)
	e.createAs(Subscription, "s", `{"topic": "t", "rules": [{"name": "slow", "filter": {"$expr": {"$eq": [0, {"$reduce": {"input": {"$range": [0, 1000000]}, "initialValue": 0, "in": {"$add": ["$$value", {"$size": {"$range": [0, 1000]}}]}}}]}}}]}`)
	e.send("t", `{"_id": 1}`)
	expectMQ(t, e.peek("s.deadletterqueue")[0], `{"deadLetterReason": "FilterEvaluationException"}`)
}

// What a subscription does with its messages concerns nobody else.
func TestSubscriptionsAreIndependent(t *testing.T) {
	e := newEnv(t)
	e.createAs(Topic, "t", `{}`)
	e.createAs(Subscription, "a", `{"topic": "t", "lockDuration": 30, "maxDeliveryCount": 1}`)
	e.createAs(Subscription, "b", `{"topic": "t"}`)
	e.send("t", `{"_id": 1}`)
	m := e.one("a")
	e.none("a")
	if out := e.abandon("a", m); out != "deadLettered" {
		t.Errorf("outcome %s", out)
	}
	e.must(e.complete("b", e.one("b")))
	e.count("a.deadletterqueue", 1)
	e.count("b.deadletterqueue", 0)
	numbers, _, err := e.broker.Resubmit(e.ctx, e.store, &Resubmission{Ref: ref("a"), Numbers: []int64{1}}, e.now())
	if e.must(err); !slices.Equal(numbers, []int64{2}) {
		t.Errorf("resubmitted as %v", numbers)
	}
	expectMQ(t, e.one("a"), `{"sequenceNumber": {"$numberLong": "2"}}`)
}

// Messages with the same _id are different messages for a topic; a unique index of a user
// on a subscription sends what it refuses to the dead letters.
func TestTopicRefusedCopies(t *testing.T) {
	e := newEnv(t)
	e.createAs(Topic, "t", `{}`)
	e.createAs(Subscription, "a", `{"topic": "t"}`)
	e.createAs(Subscription, "b", `{"topic": "t"}`)
	e.must(e.update(func(tx storage.Tx) error {
		return tx.CreateIndex(ns("b"), storage.IndexSpec{Name: "a_1", Spec: value.MustJSON(`{"v": 2, "key": {"a": 1}, "name": "a_1", "unique": true}`)})
	}))
	e.send("t", `{"_id": 1, "a": 1}`, `{"_id": 1, "a": 1}`)
	if got := e.ids("a"); len(got) != 2 || got[0] == got[1] {
		t.Errorf("a has %v", got)
	}
	e.expectIDs("b", "1 a=1")
	expectMQ(t, e.peek("b.deadletterqueue")[0], `{"deadLetterReason": "TransferFailed", "deadLetterSource": "b"}`)
}

func TestTopicRefusals(t *testing.T) {
	e := newEnv(t)
	e.createAs(Topic, "t", `{}`)
	e.createAs(Subscription, "s", `{"topic": "t"}`)
	e.create("q", `{}`)
	e.fails(e.tryCreateAs(Subscription, "x", `{"topic": "none"}`), mongoerr.NamespaceNotFound, "none")
	e.fails(e.tryCreateAs(Subscription, "x", `{"topic": "q"}`), mongoerr.IllegalOperation, "is not a message topic")
	_, err := e.trySend("s", `{"_id": 1}`)
	e.fails(err, mongoerr.IllegalOperation, "send them to its topic 't'")
	_, err = e.broker.Receive(e.ctx, e.store, Request{Ref: ref("t"), Max: 1}, e.now())
	e.fails(err, mongoerr.IllegalOperation, "receive from its subscriptions")
	_, err = e.broker.Browse(e.ctx, e.store, Browse{Ref: ref("t/$deadletterqueue"), Max: 1}, e.now())
	e.fails(err, mongoerr.IllegalOperation, "has no dead-letter queue")
	err = e.update(func(tx storage.Tx) error {
		return e.broker.Modify(tx, e.broker.Changes(), ns("s"), Subscription, value.Document(value.MustJSON(`{"topic": "q"}`)), e.now())
	})
	e.fails(err, mongoerr.InvalidOptions, "cannot be changed")
}

// The rules of a subscription can be replaced; messages that it has already stay.
func TestChangeRules(t *testing.T) {
	e := newEnv(t)
	e.createAs(Topic, "t", `{}`)
	e.createAs(Subscription, "s", `{"topic": "t"}`)
	e.send("t", `{"_id": 1}`)
	e.must(e.update(func(tx storage.Tx) error {
		return e.broker.Modify(tx, e.broker.Changes(), ns("s"), Subscription, value.Document(value.MustJSON(`{"rules": [{"name": "a", "filter": {"a": 1}}]}`)), e.now())
	}))
	e.send("t", `{"_id": 2}`, `{"_id": 3, "a": 1}`)
	e.expectIDs("s", "1", "3 a=1")
}

// Dropping a topic drops its subscriptions; dropping a subscription leaves the topic;
// renaming keeps them together.
func TestTopicCatalog(t *testing.T) {
	e := newEnv(t)
	change := func(fn func(tx storage.Tx, c *Changes) error) {
		t.Helper()
		e.must(e.store.Update(e.ctx, fn))
	}
	e.createAs(Topic, "t", `{}`)
	e.create("in", `{"forwardTo": "t"}`)
	for _, name := range []string{"a", "b", "c"} {
		e.createAs(Subscription, name, `{"topic": "t"}`)
	}
	change(func(tx storage.Tx, c *Changes) error { return e.broker.Rename(tx, c, ns("t"), ns("u"), e.now()) })
	change(func(tx storage.Tx, c *Changes) error { return e.broker.Rename(tx, c, ns("a"), ns("z"), e.now()) })
	change(func(tx storage.Tx, c *Changes) error { return e.broker.Drop(tx, c, ns("b"), e.now()) })
	e.send("u", `{"_id": 1}`)
	e.send("in", `{"_id": 2}`)
	e.expectIDs("z", "1", "2")
	e.expectIDs("c", "1", "2")
	change(func(tx storage.Tx, c *Changes) error { return e.broker.Drop(tx, c, ns("u"), e.now()) })
	for _, name := range []string{"u", "z", "z.deadletterqueue", "c", "c.deadletterqueue"} {
		if exists(e, name) {
			t.Errorf("%s exists", name)
		}
	}
	e.send("in", `{"_id": 3}`)
	expectMQ(t, e.peek("in.deadletterqueue")[0], `{"deadLetterReason": "TransferFailed"}`)
}

// A topic is idle without sends, changes and scheduled messages; a subscription without
// receives, whatever arrives.
func TestTopicIdle(t *testing.T) {
	e := newEnv(t)
	e.createAs(Topic, "t", `{"autoDeleteOnIdle": 600}`)
	e.createAs(Subscription, "kept", `{"topic": "t"}`)
	e.createAs(Subscription, "idle", `{"topic": "t", "autoDeleteOnIdle": 300}`)
	e.at(200)
	e.send("t", `{"_id": 1}`)
	e.at(299)
	e.sweep()
	if !exists(e, "idle") {
		t.Error("idle was dropped too early")
	}
	e.at(300)
	if r := e.sweep(); r.QueuesDropped != 1 || exists(e, "idle") || exists(e, "idle.deadletterqueue") || !exists(e, "t") {
		t.Errorf("%+v", r)
	}
	e.send("t", `{"_id": 2, "_mq": {"scheduledEnqueueTimeUtc": {"$date": 1767227000000}}}`)
	e.at(1000)
	e.sweep()
	e.count("kept", 1)
	e.at(1999) // 600 seconds after the scheduled message became active, less one
	e.sweep()
	e.count("kept", 2)
	e.at(2000)
	e.sweep()
	if exists(e, "t") || exists(e, "kept") {
		t.Error("the topic was not dropped with its subscriptions")
	}
}

// A topic has no dead-letter queue: a collection with the name of one is not dropped with it.
func TestDropTopicAlone(t *testing.T) {
	e := newEnv(t)
	e.createAs(Topic, "t", `{}`)
	e.must(e.update(func(tx storage.Tx) error {
		_, err := tx.Create(ns("t.deadletterqueue"), value.EmptyDoc, []storage.IndexSpec{IDIndex()})
		return err
	}))
	e.must(e.update(func(tx storage.Tx) error { return e.broker.Drop(tx, e.broker.Changes(), ns("t"), e.now()) }))
	if exists(e, "t") || !exists(e, "t.deadletterqueue") {
		t.Errorf("t: %v, t.deadletterqueue: %v", exists(e, "t"), exists(e, "t.deadletterqueue"))
	}
}

// A subscription whose indexes cannot have a value of a message keeps it as a dead letter;
// the other subscriptions and the sender have nothing to do with that.
func TestIndexRefusesCopy(t *testing.T) {
	e := newEnv(t)
	e.createAs(Topic, "t", `{}`)
	e.createAs(Subscription, "s", `{"topic": "t"}`)
	e.createAs(Subscription, "picky", `{"topic": "t"}`)
	for _, key := range []string{`{"a": 1, "b": 1}`, `{"g": "2dsphere"}`} {
		spec := value.MustJSON(`{"v": 2, "name": "x` + key[2:3] + `", "key": ` + key + `}`)
		e.must(e.update(func(tx storage.Tx) error {
			return tx.CreateIndex(ns("picky"), storage.IndexSpec{Name: spec.Lookup("name").Str(), Spec: spec})
		}))
	}
	e.send("t", `{"_id": 1, "a": [1], "b": [1]}`, `{"_id": 2, "g": "nowhere", "x": "`+strings.Repeat("ä", 5000)+`"}`, `{"_id": 3}`)
	e.expectIDs("picky", "3")
	if got := len(e.ids("s")); got != 3 {
		t.Errorf("%d messages in s", got)
	}
	dead := e.peek("picky.deadletterqueue")
	if len(dead) != 2 {
		t.Fatalf("dead letters %v", dead)
	}
	expectMQ(t, dead[0], `{"deadLetterReason": "TransferFailed", "deadLetterErrorDescription": "The message could not be stored in 'picky': cannot index parallel arrays [b] [a]"}`)
	if d := mq(dead[1], "deadLetterErrorDescription").Str(); len(d) < 4000 || len(d) > 4096 || !utf8.ValidString(d) {
		t.Errorf("description of %d bytes: %.200s", len(d), d)
	}
}

// What is due and would have too many copies for one transaction neither fails other
// commands nor keeps passes from the rest: a scheduled message of a topic waits, one that is
// to be forwarded becomes a dead letter, and a dead letter stays.
func TestTooManyCopiesOfDue(t *testing.T) {
	e := newEnv(t)
	e.broker.MaxCopies = 20
	e.createAs(Topic, "t", `{}`)
	var rules []string
	for i := range 15 {
		rules = append(rules, fmt.Sprintf(`{"name": "r%d", "filter": {"big": true}, "action": {"$set": {"n": %d}}}`, i, i))
	}
	for _, name := range []string{"s1", "s2"} {
		e.createAs(Subscription, name, `{"topic": "t", "rules": [`+strings.Join(append(rules, `{"name": "r", "filter": {"big": null}}`), ",")+`]}`)
	}
	e.create("dead", `{"forwardDeadLetteredMessagesTo": "t", "maxDeliveryCount": 1, "lockDuration": 10}`)
	e.create("old", `{}`)
	e.send("t", `{"_id": 1, "big": true, "_mq": {"scheduledEnqueueTimeUtc": {"$date": 1767225605000}}}`)
	e.send("t", `{"_id": 2, "_mq": {"scheduledEnqueueTimeUtc": {"$date": 1767225605000}}}`)
	e.send("dead", `{"_id": 3, "big": true}`, `{"_id": 4}`, `{"_id": 5}`)
	e.send("old", `{"_id": 6, "big": true}`, `{"_id": 7}`)
	e.must(e.modify("old", `{"forwardTo": "t"}`))
	e.receive("dead", 2)
	_, err := e.trySend("t", `{"_id": 8, "big": true}`)
	e.fails(err, mongoerr.TransactionTooLarge, "at most 20 copies")
	e.at(10)
	e.send("t", `{"_id": 9}`)
	if got := e.ids("dead"); len(got) != 3 {
		t.Errorf("dead has %v", got)
	}
	e.one("dead")
	e.sweep()
	e.sweep()
	e.expectIDs("dead", "5")
	e.expectIDs("dead.deadletterqueue", "3")
	expectMQ(t, e.peek("dead.deadletterqueue")[0], `{"deadLetterReason": "MaxDeliveryCountExceeded"}`)
	e.expectIDs("old")
	e.expectIDs("old.deadletterqueue", "6")
	expectMQ(t, e.peek("old.deadletterqueue")[0], `{"deadLetterReason": "TransferFailed", "deadLetterErrorDescription": "The message could not be forwarded to 't': it would have too many copies"}`)
	for _, name := range []string{"s1", "s2"} {
		got := e.ids(name)
		slices.Sort(got)
		if want := []string{"2", "4", "7", "9"}; !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", name, got, want)
		}
	}
	expectMQ(t, e.peek("t")[0], `{"state": "scheduled", "scheduledEnqueueTimeUtc": {"$date": 1767229210000}}`)
}

// The rules of all subscriptions together may take a limited time for the messages of a
// transaction, and their copies are made one at a time.
func TestRulesOfOneTransaction(t *testing.T) {
	e := newEnv(t)
	e.createAs(Topic, "t", `{}`)
	slow := `{"$expr": {"$gt": [{"$reduce": {"input": {"$range": [0, 900]}, "initialValue": 0, "in": {"$add": ["$$value", {"$size": {"$range": [0, "$k"]}}]}}}, 0]}}`
	var rules []string
	for i := range 30 {
		rules = append(rules, fmt.Sprintf(`{"name": "r%d", "filter": %s, "action": {"$set": {"n": %d}}}`, i, slow, i))
	}
	e.createAs(Subscription, "s", `{"topic": "t", "rules": [`+strings.Join(rules, ",")+`]}`)
	_, err := e.trySend("t", `{"_id": 1, "k": 1000}`)
	e.fails(err, mongoerr.TransactionTooLarge, "take too long")
	e.count("s", 0)

	c, err := ParseConfig("create", Subscription, value.Document(value.MustJSON(`{"topic": "t", "rules": [
		{"name": "a", "filter": true, "action": {"$set": {"n": 1}}}, {"name": "b", "filter": true, "action": {"$set": {"n": 2}}}]}`)))
	e.must(err)
	var m message
	m.split(value.MustJSON(`{"_id": 1}`))
	made, enough := 0, errors.New("enough")
	if _, err := c.Rules.eachCopy(&m, t0, e.broker.Changes(), func(*message) error { made++; return enough }); !errors.Is(err, enough) || made != 1 {
		t.Errorf("%d copies, %v", made, err)
	}
}
