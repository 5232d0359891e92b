package crash

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// Properties of the queues that the workers use.
const (
	queueLock       = 60_000    // lockDuration, milliseconds
	queueIdle       = 3_600_000 // autoDeleteOnIdle
	queueDeliveries = 3         // maxDeliveryCount
)

// letter is a message as a naive model of a queue keeps it. Instants are
// milliseconds since the epoch.
type letter struct {
	id, number int64
	state      string
	deliveries int32
	enqueued   int64
	ttl        int64 // 0: lives for ever
	due        int64 // when a scheduled message is due
	reason     string

	until int64       // end of the lock, 0: not locked
	token value.Value // missing if the reply that had it was lost
}

func (l *letter) expires() int64 {
	if l.ttl == 0 {
		return math.MaxInt64
	}
	return l.enqueued + l.ttl
}

func (l *letter) ready() bool { return l.state == "active" && l.until == 0 }

// mailbox is a queue with its dead letters, as they were acknowledged.
type mailbox struct {
	main, dead []letter
	next       int64 // sequence number
	activity   int64
}

func (b *mailbox) clone() *mailbox {
	c := *b
	c.main, c.dead = slices.Clone(b.main), slices.Clone(b.dead)
	return &c
}

// send stores messages whose ids and settings are in them.
func (b *mailbox) send(now int64, letters []letter) {
	for _, l := range letters {
		l.number, l.enqueued, l.state = b.next, now, "active"
		if l.due > now {
			l.enqueued, l.state = l.due, "scheduled"
		}
		b.next++
		b.main = append(b.main, l)
	}
	b.activity = now
}

// lock hands out the message at an index of a list.
func (l *letter) lock(now int64) {
	l.until, l.token = now+queueLock, value.Value{}
	l.deliveries = max(l.deliveries, 1)
}

// bury moves the message at an index of the queue to the dead letters.
func (b *mailbox) bury(i int, reason string) {
	l := b.main[i]
	b.main = slices.Delete(b.main, i, i+1)
	l.state, l.reason, l.until, l.due = "active", reason, 0, 0
	b.dead = append(b.dead, l)
}

// fail ends a lock at an instant without the message being consumed, which
// then is deferred or not.
func (b *mailbox) fail(i int, at int64, state string) {
	l := &b.main[i]
	l.until = 0
	if state != "deferred" && l.expires() <= at {
		b.bury(i, "TTLExpiredException")
		return
	}
	if state != "" {
		l.state = state
	}
	if l.deliveries++; l.deliveries > queueDeliveries {
		b.bury(i, "MaxDeliveryCountExceeded")
	}
}

// settle applies the effects of time until an instant; gone reports whether the queue was
// dropped because it was idle.
func (b *mailbox) settle(now int64) (gone bool) {
	var due []*letter
	for i := range b.main {
		if l := &b.main[i]; l.state == "scheduled" && l.due <= now {
			due = append(due, l)
		}
	}
	slices.SortStableFunc(due, func(x, y *letter) int { return cmp.Compare(x.due, y.due) })
	for _, l := range due {
		l.number, l.state, l.enqueued, l.due = b.next, "active", l.due, 0
		b.next++
		b.activity = max(b.activity, l.enqueued)
	}
	for i := len(b.main) - 1; i >= 0; i-- {
		if l := &b.main[i]; l.until != 0 && l.until <= now {
			b.fail(i, l.until, "")
		}
	}
	for i := len(b.main) - 1; i >= 0; i-- {
		if l := &b.main[i]; l.ready() && l.expires() <= now {
			b.bury(i, "TTLExpiredException")
		}
	}
	for i := range b.dead {
		if l := &b.dead[i]; l.until <= now {
			l.until = 0
		}
	}
	waiting := slices.ContainsFunc(b.main, func(l letter) bool { return l.state == "scheduled" })
	return !waiting && now >= b.activity+queueIdle
}

// String returns the visible state of the queue.
func (b *mailbox) String() string {
	var t strings.Builder
	n := map[string]int{}
	for _, l := range b.main {
		if l.until != 0 {
			n["locked"]++
		} else {
			n[l.state]++
		}
	}
	for _, l := range b.dead {
		if l.until != 0 {
			n["dead"]++
		}
	}
	fmt.Fprintf(&t, "active %d, locked %d, deferred %d, scheduled %d, dead %d, %d of them locked, activity %d\n",
		n["active"], n["locked"], n["deferred"], n["scheduled"], len(b.dead), n["dead"], b.activity)
	for _, list := range [][]letter{b.main, b.dead} {
		list = slices.Clone(list)
		slices.SortFunc(list, func(x, y letter) int { return cmp.Compare(x.number, y.number) })
		for i := range list {
			fmt.Fprintln(&t, list[i].String())
		}
	}
	return t.String()
}

func (l *letter) String() string {
	expires := int64(0)
	if l.ttl != 0 {
		expires = l.expires()
	}
	return fmt.Sprintf("%d: %d %s, delivery %d, enqueued %d, expires %d, due %d, %s", l.number, l.id, l.state, l.deliveries, l.enqueued, expires, l.due, l.reason)
}

// shown returns the text of a queue on a server. It reads the time of the last activity
// first, because browsing is an activity.
func shown(c *client, q string) (text string, err error) {
	stats, err := c.run("mqStats", value.String(q))
	if err != nil {
		return "", err
	}
	dead, err := c.run("mqStats", value.String(q), "subQueue", value.String("deadLetter"))
	if err != nil {
		return "", err
	}
	field := func(name string) int64 { return stats.Lookup(name).Int64() }
	var t strings.Builder
	fmt.Fprintf(&t, "active %d, locked %d, deferred %d, scheduled %d, dead %d, %d of them locked, activity %d\n",
		field("active"), field("locked"), field("deferred"), field("scheduled"), field("deadLettered"), dead.Lookup("locked").Int64(), stats.Lookup("lastActivityUtc").DateTime())
	for _, path := range []string{q, q + "/$deadletterqueue"} {
		reply, err := c.run("mqPeek", value.String(path), "maxMessages", value.Int32(1000))
		if err != nil {
			return "", err
		}
		for v := range reply.Lookup("messages").Doc().Values() {
			mq := v.Doc().Lookup("_mq").Doc()
			fmt.Fprintf(&t, "%d: %d %s, delivery %d, enqueued %d, expires %d, due %d, %s\n", mq.Lookup("sequenceNumber").Int64(), v.Doc().Lookup("_id").Int64(),
				mq.Lookup("state").Str(), mq.Lookup("deliveryCount").Int32(), mq.Lookup("enqueuedTimeUtc").DateTime(),
				mq.Lookup("expiresAtUtc").DateTime(), mq.Lookup("scheduledEnqueueTimeUtc").DateTime(), mq.Lookup("deadLetterReason").Str())
		}
	}
	return t.String(), nil
}
