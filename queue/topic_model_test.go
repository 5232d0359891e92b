package queue

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// topicModel counts the copies of each message of a topic: they are received and completed, or
// in one place each, however they are forwarded.
type topicModel struct {
	*env
	sent int
	late map[int]bool // messages that were sent for later, which the topic may still have
	done map[int]int  // completed copies
}

// topicPlaces are the collections that may have copies, with their dead-letter queues.
var topicPlaces = []string{"all", "even", "two", "first", "end", "dead"}

// Random histories of a topic whose subscriptions forward.
func TestTopicModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &topicModel{env: newEnv(t), late: map[int]bool{}, done: map[int]int{}}
		defer func() { _ = m.engine.Close() }()
		m.create("end", `{"lockDuration": 10, "maxDeliveryCount": 2}`)
		m.create("dead", `{"lockDuration": 10, "maxDeliveryCount": 2}`)
		m.create("first", `{"lockDuration": 10, "maxDeliveryCount": 1, "forwardDeadLetteredMessagesTo": "dead"}`)
		m.createAs(Topic, "t", `{}`)
		m.createAs(Subscription, "all", `{"topic": "t", "lockDuration": 10, "maxDeliveryCount": 2, "forwardTo": "first"}`)
		m.createAs(Subscription, "even", `{"topic": "t", "lockDuration": 10, "maxDeliveryCount": 1, "forwardDeadLetteredMessagesTo": "dead", "rules": [{"name": "even", "filter": {"n": {"$mod": [2, 0]}}}]}`)
		m.createAs(Subscription, "two", `{"topic": "t", "lockDuration": 10, "maxDeliveryCount": 1, "rules": [
			{"name": "fails", "filter": {"$expr": {"$eq": [{"$divide": [1, {"$mod": ["$n", 3]}]}, 100]}}}, {"name": "copy", "filter": true, "action": {"$set": {"copy": true}}}]}`)
		rt.Repeat(map[string]func(*rapid.T){
			"send": m.sendOne, "receive": m.receiveAny, "forward": m.forwardAnew, "clock": m.pause,
			"sweep": func(*rapid.T) { m.sweep() }, "": m.check,
		})
	})
}

func (m *topicModel) sendOne(rt *rapid.T) {
	m.sent++
	later := rapid.SampledFrom([]int64{0, 0, 5, 20}).Draw(rt, "seconds later")
	m.send("t", fmt.Sprintf(`{"_id": %d, "n": %[1]d, "_mq": {"scheduledEnqueueTimeUtc": {"$date": %d}}}`, m.sent, m.now()+later*1000))
	m.late[m.sent] = later > 0
}

func (m *topicModel) receiveAny(rt *rapid.T) {
	name := rapid.SampledFrom([]string{"even", "two", "first", "end", "dead"}).Draw(rt, "queue")
	if to, _ := m.options(name).Get(Option); to.Doc().Has("forwardTo") {
		return
	}
	for _, d := range m.receive(name, rapid.IntRange(1, 3).Draw(rt, "messages")) {
		switch rapid.SampledFrom([]string{"complete", "abandon", "defer", "leave"}).Draw(rt, "settle") {
		case "complete":
			m.must(m.complete(name, d))
			m.done[int(d.Lookup("n").SafeInt64())]++
		case "abandon":
			m.abandon(name, d)
		case "defer":
			m.deferIt(name, d)
		}
	}
}

// forwardAnew changes where messages of the first queue go.
func (m *topicModel) forwardAnew(rt *rapid.T) {
	m.must(m.modify("first", rapid.SampledFrom([]string{`{"forwardTo": "end"}`, `{"forwardTo": null}`,
		`{"forwardDeadLetteredMessagesTo": null}`, `{"forwardDeadLetteredMessagesTo": "end"}`}).Draw(rt, "change")))
}

func (m *topicModel) pause(rt *rapid.T) {
	m.must(m.clock.AdvanceMillis(rapid.SampledFrom([]int64{1, 9, 10, 60}).Draw(rt, "seconds") * 1000))
}

// check counts the copies of each message.
func (m *topicModel) check(rt *rapid.T) {
	found := map[int]int{}
	for _, name := range topicPlaces {
		for _, coll := range []string{name, DeadLetterName(name)} {
			for _, d := range m.peek(coll) {
				found[int(d.Lookup("n").SafeInt64())]++
			}
		}
	}
	waiting := map[int]bool{}
	for _, d := range m.peek("t") {
		waiting[int(d.Lookup("n").SafeInt64())] = true
	}
	for n := 1; n <= m.sent; n++ {
		want := 2 // all and two
		if n%2 == 0 {
			want++
		}
		if n%3 == 0 {
			want++ // a rule has failed
		}
		if waiting[n] {
			want = 0
			if !m.late[n] {
				rt.Fatalf("message %d waits", n)
			}
		}
		if got := found[n] + m.done[n]; got != want {
			rt.Fatalf("message %d has %d copies, %d of them completed, want %d", n, got, m.done[n], want)
		}
	}
}
