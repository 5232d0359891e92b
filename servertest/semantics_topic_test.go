package servertest_test

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// topicCases are cases 81-97: topics, forwarding, sessions, duplicates and transactions.
var topicCases = []semanticsCase{
	{81, "rules", func(s *scene) {
		s.ok(`{create: "t", messageTopic: {}}`)
		s.ok(`{create: "all", messageSubscription: {topic: "t"}}`)
		s.ok(`{create: "red", messageSubscription: {topic: "t", rules: [{name: "red", correlationFilter: {a: "red"}}]}}`)
		s.ok(`{create: "big", messageSubscription: {topic: "t", rules: [{name: "big", filter: {b: {$gt: 5}}, action: {$mul: {b: 2}}}]}}`)
		s.ok(`{mqSend: "t", messages: [{_id: 1, a: "red", b: 1}]}`)
		s.ok(`{insert: "t", documents: [{_id: 2, a: "blue", b: 9}]}`)
		s.sees("1 2", "all")
		s.sees("1", "red")
		s.sees("2", "big")
		s.sees("", "t")
		m := s.messages(`{mqReceive: "big"}`)[0]
		is(s, "b", number(m.Lookup("b")), 18)
		is(s, "ruleName", m.Lookup("_mq", "ruleName").StringValue(), "big")
		is(s, "number in the topic", number(m.Lookup("_mq", "enqueuedSequenceNumber")), 2)
		is(s, "subscriptions", ejson(s.ok(`{mqStats: "t"}`).Lookup("subscriptions")), `["all","red","big"]`)
	}},
	{82, "time to live in a topic", func(s *scene) {
		s.ok(`{create: "t", messageTopic: {defaultMessageTimeToLive: 60}}`)
		s.ok(`{create: "s", messageSubscription: {topic: "t", defaultMessageTimeToLive: 30, deadLetteringOnMessageExpiration: true}}`)
		s.ok(`{mqSend: "t", messages: [{_id: 1, _mq: {timeToLive: 45}}]}`)
		is(s, "timeToLive", number(s.messages(`{mqPeek: "s"}`)[0].Lookup("_mq", "timeToLive")), 30000)
		s.to(30)
		s.pass()
		is(s, "reason", s.messages(`{mqPeek: "s", subQueue: "deadLetter"}`)[0].Lookup("_mq", "deadLetterReason").StringValue(), expiredReason)
	}},
	{83, "scheduled in a topic", func(s *scene) {
		s.ok(`{create: "t", messageTopic: {}}`)
		s.ok(`{create: "s", messageSubscription: {topic: "t"}}`)
		s.ok(`{mqSend: "t", messages: [{_id: 1, _mq: {scheduledEnqueueTimeUtc: d(100), timeToLive: 10}}]}`)
		s.to(99)
		s.pass()
		s.sees("1", "t")
		s.sees("", "s")
		s.to(100)
		s.pass()
		s.sees("", "t")
		s.sees("1", "s")
		s.to(110)
		s.pass()
		s.sees("", "s")
	}},
	{84, "a rule fails", func(s *scene) {
		s.ok(`{create: "t", messageTopic: {}}`)
		s.ok(`{create: "s", messageSubscription: {topic: "t", rules: [{name: "r", filter: {$expr: {$divide: [1, "$b"]}}}]}}`)
		s.ok(`{mqSend: "t", messages: [{_id: 1, b: 0}, {_id: 2, b: 1}]}`)
		s.sees("2", "s")
		d := s.messages(`{mqPeek: "s", subQueue: "deadLetter"}`)[0]
		is(s, "reason", d.Lookup("_mq", "deadLetterReason").StringValue(), "FilterEvaluationException")
		is(s, "description", strings.Contains(d.Lookup("_mq", "deadLetterErrorDescription").StringValue(), "divide by zero"), true)
	}},
	{85, "topics refuse", func(s *scene) {
		s.queue(`{}`)
		s.ok(`{create: "t", messageTopic: {}}`)
		s.ok(`{create: "s", messageSubscription: {topic: "t"}}`)
		s.fails(26, "", `{create: "x", messageSubscription: {topic: "none"}}`)
		s.fails(20, "is not a message topic", `{create: "x", messageSubscription: {topic: "q"}}`)
		s.fails(72, "SQL", `{create: "x", messageSubscription: {topic: "t", rules: [{name: "r", filter: "a > 5"}]}}`)
		s.fails(20, "send them to its topic 't'", `{mqSend: "s", messages: [{}]}`)
		s.fails(20, "send them to its topic 't'", `{insert: "s", documents: [{}]}`)
		s.fails(20, "receive from its subscriptions", `{mqReceive: "t"}`)
		s.fails(20, "cannot modify the messages", `{update: "t", updates: [{q: {}, u: {$set: {a: 1}}}]}`)
	}},
	{86, "topics are dropped with their subscriptions", func(s *scene) {
		s.ok(`{create: "t", messageTopic: {}}`)
		s.ok(`{create: "a", messageSubscription: {topic: "t"}}`)
		s.ok(`{create: "b", messageSubscription: {topic: "t", requiresSession: true}}`)
		s.ok(`{drop: "t"}`)
		is(s, "collections", len(s.batch(`{listCollections: 1}`)), 0)
	}},
	{87, "hops", func(s *scene) {
		s.ok(`{create: "q5", messageQueue: {}}`)
		for i := 4; i >= 0; i-- {
			s.ok(`{create: "q%d", messageQueue: {forwardTo: "q%d"}}`, i, i+1)
		}
		s.ok(`{mqSend: "q1", messages: [{_id: 1}]}`)
		s.ok(`{mqSend: "q0", messages: [{_id: 2}]}`)
		s.sees("1", "q5")
		is(s, "reason", s.messages(`{mqPeek: "q4", subQueue: "deadLetter"}`)[0].Lookup("_mq", "deadLetterReason").StringValue(), "MaxTransferHopCountExceeded")
	}},
	{88, "dead letters are forwarded", func(s *scene) {
		s.ok(`{create: "dead", messageQueue: {}}`)
		s.queue(`{forwardDeadLetteredMessagesTo: "dead", defaultMessageTimeToLive: 10, deadLetteringOnMessageExpiration: true}`)
		s.ok(`{mqSend: "q", messages: [{_id: 1}]}`)
		s.to(10)
		s.pass()
		s.to(1e6)
		s.pass()
		is(s, "kept", len(s.dead()), 0)
		d := s.messages(`{mqReceive: "dead"}`)[0]
		is(s, "reason", d.Lookup("_mq", "deadLetterReason").StringValue(), expiredReason)
		is(s, "source", d.Lookup("_mq", "deadLetterSource").StringValue(), "q")
	}},
	{89, "forwarding refuses", func(s *scene) {
		s.fails(26, "", `{create: "q", messageQueue: {forwardTo: "p"}}`)
		s.queue(`{}`)
		s.ok(`{create: "p", messageQueue: {forwardTo: "q"}}`)
		s.fails(72, "would come back", `{collMod: "q", messageQueue: {forwardTo: "p"}}`)
		s.fails(20, "which forwards its messages to 'q'", `{mqReceive: "p"}`)
	}},
	{90, "sessions", func(s *scene) {
		b, a := s.session("b"), ""
		is(s, "first", number(s.messages(`{mqReceive: "q", sessionToken: %s}`, b)[0].Lookup("_id")), 1)
		is(s, "second", number(s.messages(`{mqReceive: "q", sessionToken: %s}`, b)[0].Lookup("_id")), 3)
		a = s.accept(`{mqAcceptSession: "q"}`)
		is(s, "of a", number(s.messages(`{mqReceive: "q", sessionToken: %s}`, a)[0].Lookup("_id")), 2)
		is(s, "no more", s.ok(`{mqAcceptSession: "q"}`).Lookup("session").Type, bson.TypeNull)
		s.fails(90423, "The session 'b' is locked", `{mqAcceptSession: "q", sessionId: "b"}`)
	}},
	{91, "the lock of a session", func(s *scene) {
		b := s.session("b")
		s.messages(`{mqReceive: "q", sessionToken: %s}`, b)
		s.to(20)
		is(s, "until", s.ok(`{mqRenewSession: "q", sessionToken: %s}`, b).Lookup("lockedUntilUtc").Time().UTC(), at(50))
		s.to(49)
		s.messages(`{mqReceive: "q", sessionToken: %s}`, b)
		s.to(50)
		s.fails(90411, "The session lock has expired or was released.", `{mqReceive: "q", sessionToken: %s}`, b)
		b = s.accept(`{mqAcceptSession: "q", sessionId: "b"}`)
		is(s, "deliveryCount", number(s.messages(`{mqReceive: "q", sessionToken: %s}`, b)[0].Lookup("_mq", "deliveryCount")), 2)
	}},
	{92, "the state of a session", func(s *scene) {
		b := s.session("b")
		s.ok(`{mqSetSessionState: "q", sessionToken: %s, state: {step: 3}}`, b)
		is(s, "state", ejson(s.ok(`{mqGetSessionState: "q", sessionToken: %s}`, b).Lookup("state")), `{"step": {"$numberInt":"3"}}`)
		s.ok(`{mqReleaseSession: "q", sessionToken: %s}`, b)
		s.fails(90411, "", `{mqGetSessionState: "q", sessionToken: %s}`, b)
		r := s.ok(`{mqAcceptSession: "q", sessionId: "b"}`)
		is(s, "state again", ejson(r.Lookup("session", "state")), `{"step": {"$numberInt":"3"}}`)
		b = r.Lookup("session", "sessionToken").String()
		s.ok(`{mqSetSessionState: "q", sessionToken: %s, state: null}`, b)
		is(s, "removed", s.ok(`{mqGetSessionState: "q", sessionToken: %s}`, b).Lookup("state").Type, bson.TypeNull)
		is(s, "sessions", ejson(s.ok(`{mqSessions: "q", maxSessions: 1}`).Lookup("sessions")), `[{"sessionId": "a","active": {"$numberLong":"1"},"hasState": false}]`)
	}},
	{93, "sessions refuse", func(s *scene) {
		s.queue(`{requiresSession: true}`)
		s.fails(2, "requires sessions", `{mqSend: "q", messages: [{}]}`)
		s.fails(20, "mqAcceptSession", `{mqReceive: "q"}`)
		s.ok(`{create: "p", messageQueue: {}}`)
		s.fails(2, "1 to 128 bytes", `{mqAcceptSession: "q", sessionId: ""}`)
		s.fails(2, "1 to 128 bytes", `{mqAcceptSession: "q", sessionId: "%s"}`, strings.Repeat("x", 129))
		s.fails(20, "does not have sessions", `{mqAcceptSession: "p"}`)
		s.fails(72, "'forwardTo' is not allowed with 'requiresSession'", `{create: "x", messageQueue: {requiresSession: true, forwardTo: "p"}}`)
	}},
	{94, "duplicates", func(s *scene) {
		s.queue(`{requiresDuplicateDetection: true, duplicateDetectionHistoryTimeWindow: 20}`)
		send := func() int64 {
			return number(elementsOf(s.ok(`{mqSend: "q", messages: [{_mq: {messageId: "a"}}]}`).Lookup("sequenceNumbers"))[0])
		}
		is(s, "first", send(), 1)
		is(s, "duplicate", send(), 0)
		is(s, "inserted", number(s.ok(`{insert: "q", documents: [{_mq: {messageId: "a"}}]}`).Lookup("n")), 1)
		s.to(20)
		is(s, "after the window", send(), 2)
		is(s, "stored", len(s.batch(`{find: "q"}`)), 2)
	}},
	{95, "expiry on receive only", func(s *scene) {
		s.queue(`{expireOnReceiveOnly: true, deadLetteringOnMessageExpiration: true, defaultMessageTimeToLive: 10}`)
		s.ok(`{mqSend: "q", messages: [{_id: 1}]}`)
		s.to(20)
		s.pass()
		s.sees("1", "q")
		is(s, "removedBy", strings.Contains(ejson(s.ok(`{explainExpiry: "q", _id: 1}`).Lookup("policies")), "the next receiver"), true)
		is(s, "received", len(s.messages(`{mqReceive: "q"}`)), 0)
		is(s, "dead letters", len(s.dead()), 1)
	}},
	{96, "transactions", func(s *scene) {
		s.queue(`{}`)
		s.ok(`{create: "done", messageQueue: {}}`)
		s.ok(`{mqSend: "q", messages: [{_id: 1}]}`)
		session, err := s.client.StartSession()
		if err != nil {
			s.Fatal(err)
		}
		defer session.EndSession(s.Context())
		for _, commit := range []bool{false, true} {
			s.move(session, commit)
			is(s, "in q", len(s.messages(`{mqPeek: "q"}`)), map[bool]int{false: 1, true: 0}[commit])
			is(s, "in done", len(s.messages(`{mqPeek: "done"}`)), map[bool]int{false: 0, true: 1}[commit])
			is(s, "documents", len(s.batch(`{find: "log"}`)), map[bool]int{false: 0, true: 1}[commit])
		}
		is(s, "number", number(s.messages(`{mqReceive: "done"}`)[0].Lookup("_mq", "sequenceNumber")), 1)
	}},
	{97, "several tokens", func(s *scene) {
		s.queue(`{}`)
		s.ok(`{mqSend: "q", messages: [{_id: 1}, {_id: 2}, {_id: 3}]}`)
		var tokens []string
		for _, m := range s.messages(`{mqReceive: "q", maxMessages: 3}`) {
			tokens = append(tokens, token(m))
		}
		s.ok(`{mqComplete: "q", lockToken: %s}`, tokens[1])
		r := s.ok(`{mqRenewLock: "q", lockTokens: [%s]}`, strings.Join(tokens, ", "))
		is(s, "renewed", len(elementsOf(r.Lookup("results"))), 3)
		r = s.ok(`{mqComplete: "q", lockTokens: [%s]}`, strings.Join(tokens, ", "))
		got := ""
		for _, v := range elementsOf(r.Lookup("results")) {
			got += fmt.Sprint(v.Document().Lookup("ok").AsInt64()) + " "
			if code, err := v.Document().LookupErr("code"); err == nil {
				got += fmt.Sprint(number(code)) + " "
			}
		}
		is(s, "results", got, "1 0 90410 1 ")
		is(s, "left", len(s.messages(`{mqPeek: "q"}`)), 0)
		s.fails(40414, "lockToken", `{mqComplete: "q"}`)
		s.fails(9, "not both", `{mqComplete: "q", lockToken: %s, lockTokens: [%s]}`, tokens[0], tokens[0])
		s.fails(2, "lockTokens", `{mqComplete: "q", lockTokens: []}`)
	}},
}

// session makes a queue with messages of the sessions b, a and b, accepts the next session,
// which must have the id, and returns its token.
func (s *scene) session(id string) string {
	s.Helper()
	s.queue(`{requiresSession: true, lockDuration: 30}`)
	s.ok(`{mqSend: "q", messages: [{_id: 1, _mq: {sessionId: "b"}}, {_id: 2, _mq: {sessionId: "a"}}, {_id: 3, _mq: {sessionId: "b"}}]}`)
	r := s.ok(`{mqAcceptSession: "q"}`)
	is(s, "session", r.Lookup("session", "sessionId").StringValue(), id)
	return r.Lookup("session", "sessionToken").String()
}

// accept accepts a session and returns its token.
func (s *scene) accept(command string) string {
	s.Helper()
	return s.ok(command).Lookup("session", "sessionToken").String()
}

// move takes the message of q to done, and writes about it, in one transaction.
func (s *scene) move(session *mongo.Session, commit bool) {
	s.Helper()
	if err := session.StartTransaction(); err != nil {
		s.Fatal(err)
	}
	ctx := mongo.NewSessionContext(s.Context(), session)
	run := func(text string, args ...any) bson.Raw {
		s.Helper()
		r, err := s.db.RunCommand(ctx, s.parse(text, args...)).Raw()
		if err != nil {
			s.Fatalf("%s: %v", text, err)
		}
		return r
	}
	m := elements(run(`{mqReceive: "q"}`).Lookup("messages"))[0]
	run(`{mqSend: "done", messages: [{_id: 1}]}`)
	run(`{insert: "log", documents: [{_id: 1}]}`)
	run(`{mqComplete: "q", lockToken: %s}`, token(m))
	end := session.AbortTransaction
	if commit {
		end = session.CommitTransaction
	}
	if err := end(s.Context()); err != nil {
		s.Fatal(err)
	}
}

// elementsOf are the elements of an array.
func elementsOf(v bson.RawValue) []bson.RawValue {
	list, _ := v.Array().Values()
	return list
}
