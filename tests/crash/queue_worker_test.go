package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// queueWorker is the only client of a queue. It has the state of the queue after each
// command with a reply, and the state that a command without a reply would lead to.
type queueWorker struct {
	name    string
	rnd     *rand.Rand
	now     int64 // on the server's clock, which stands still under load
	box     *mailbox
	pending *mailbox // after the command that was not answered
	next    int64    // _id
	acks    map[string]int
	err     error
}

func newQueueWorker(id int, seed uint64) *queueWorker {
	return &queueWorker{name: fmt.Sprintf("q%d", id), rnd: rand.New(rand.NewPCG(seed, uint64(id))), acks: map[string]int{}}
}

// create makes the queue anew.
func (w *queueWorker) create(tb testing.TB, c *client, now int64) {
	tb.Helper()
	w.now = now
	c.must(tb, "create", value.String(w.name), "messageQueue", value.Document(value.NewDoc(
		"lockDuration", value.Int32(queueLock/1000), "maxDeliveryCount", value.Int32(queueDeliveries),
		"deadLetteringOnMessageExpiration", value.Bool(true), "autoDeleteOnIdle", value.Int32(queueIdle/1000))))
	w.box, w.pending = &mailbox{next: 1, activity: now}, nil
}

// work sends, receives and settles until the server is killed.
func (w *queueWorker) work(addr string) {
	c, err := dial(addr)
	if err != nil {
		return
	}
	defer c.Close()
	for {
		after := w.box.clone()
		name, command, check := w.step(after)
		reply, err := c.run(command...)
		if errors.Is(err, errRefused) && reply.Lookup("code").SafeInt64() == 90404 && name == "expired" {
			err = nil
		}
		switch {
		case errors.Is(err, errRefused):
			w.err = fmt.Errorf("%s: %s: %w, in\n%s", w.name, name, err, w.box)
			return
		case err != nil:
			w.pending = after
			return
		}
		if err := check(reply); err != nil {
			w.err = fmt.Errorf("%s: %s: %w: %s, in\n%s", w.name, name, err, reply, w.box)
			return
		}
		after.activity = max(after.activity, w.now)
		w.box = after
		w.acks[name]++
	}
}

// step draws a command and applies it to the model. check checks the reply and adds the
// values that the server has chosen to the model.
func (w *queueWorker) step(b *mailbox) (name string, command []any, check func(value.Doc) error) {
	held, _ := w.pick(b, func(l *letter) bool { return l.until > w.now && !l.token.IsMissing() })
	switch n := w.rnd.IntN(12); {
	case held >= 0 && n < 6:
		return w.settle(b, held)
	case n < 8 && len(b.main) < 200:
		return w.send(b)
	case n < 10:
		return w.receive(b)
	case n < 11:
		if name, command, check = w.aside(b); name != "" {
			return name, command, check
		}
	}
	return w.receiveDead(b)
}

// pick chooses a message of the queue for which wanted is true; -1 without one.
func (w *queueWorker) pick(b *mailbox, wanted func(*letter) bool) (int, int) {
	var list []int
	for i := range b.main {
		if wanted(&b.main[i]) {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return -1, 0
	}
	return list[w.rnd.IntN(len(list))], len(list)
}

func anything(value.Doc) error { return nil }

// send sends some messages at once, of which some live for a while and some
// are for later.
func (w *queueWorker) send(b *mailbox) (string, []any, func(value.Doc) error) {
	var letters []letter
	var docs []value.Value
	for range 1 + w.rnd.IntN(4) {
		w.next++
		l := letter{id: w.next}
		var settings []any
		if w.rnd.IntN(2) == 0 {
			l.ttl = int64(1+w.rnd.IntN(200)) * 1000
			settings = append(settings, "timeToLive", value.Int64(l.ttl/1000))
		}
		if w.rnd.IntN(4) == 0 {
			l.due = w.now + int64(1+w.rnd.IntN(200))*1000
			settings = append(settings, "scheduledEnqueueTimeUtc", value.DateTime(l.due))
		}
		letters = append(letters, l)
		docs = append(docs, value.Document(value.NewDoc("_id", value.Int64(l.id), "_mq", value.Document(value.NewDoc(settings...)))))
	}
	first := b.next
	b.send(w.now, letters)
	if len(docs) == 1 && w.rnd.IntN(2) == 0 {
		return "insert", []any{"insert", value.String(w.name), "documents", value.NewArray(docs...)}, anything
	}
	return "send", []any{"mqSend", value.String(w.name), "messages", value.NewArray(docs...)}, func(reply value.Doc) error {
		if n := reply.Lookup("sequenceNumbers").Doc().Index(0).Int64(); n != first {
			return fmt.Errorf("the first number is not %d", first)
		}
		return nil
	}
}

// receive takes the first messages, for good or for a while.
func (w *queueWorker) receive(b *mailbox) (string, []any, func(value.Doc) error) {
	most := 1 + w.rnd.IntN(3)
	var taken []int64
	var numbers []int64
	for i := range b.main {
		if b.main[i].ready() {
			numbers = append(numbers, b.main[i].number)
		}
	}
	slices.Sort(numbers)
	taken = numbers[:min(most, len(numbers))]
	mode, name := "peekLock", "receive"
	if w.rnd.IntN(5) == 0 {
		mode, name = "receiveAndDelete", "take"
		b.main = slices.DeleteFunc(b.main, func(l letter) bool { return slices.Contains(taken, l.number) })
	}
	command := []any{"mqReceive", value.String(w.name), "mode", value.String(mode), "maxMessages", value.Int32(int32(most))}
	return name, command, w.handed(b.main, taken)
}

// handed locks the messages with these numbers, and returns a function that checks the
// reply and reads the tokens from it.
func (w *queueWorker) handed(list []letter, numbers []int64) func(value.Doc) error {
	for i := range list {
		if slices.Contains(numbers, list[i].number) {
			list[i].lock(w.now)
		}
	}
	return func(reply value.Doc) error {
		n := 0
		for v := range reply.Lookup("messages").Doc().Values() {
			mq := v.Doc().Lookup("_mq").Doc()
			if n++; n > len(numbers) || mq.Lookup("sequenceNumber").Int64() != numbers[n-1] {
				return fmt.Errorf("messages %v were to be received", numbers)
			}
			for i := range list {
				if list[i].number == numbers[n-1] {
					list[i].token = mq.Lookup("lockToken").Clone()
				}
			}
		}
		if n != len(numbers) {
			return fmt.Errorf("messages %v were to be received", numbers)
		}
		return nil
	}
}

// settle does something with a message that is held.
func (w *queueWorker) settle(b *mailbox, i int) (string, []any, func(value.Doc) error) {
	l := &b.main[i]
	command := func(name string, more ...any) []any {
		return append([]any{name, value.String(w.name), "lockToken", l.token}, more...)
	}
	switch w.rnd.IntN(8) {
	case 0:
		c := command("mqAbandon")
		b.fail(i, w.now, "")
		return "abandon", c, anything
	case 1:
		c := command("mqDefer")
		b.fail(i, w.now, "deferred")
		return "defer", c, anything
	case 2:
		c := command("mqDeadLetter", "reason", value.String("unwanted"))
		b.bury(i, "unwanted")
		return "deadLetter", c, anything
	case 3:
		l.until = w.now + queueLock
		return "renew", command("mqRenewLock"), anything
	}
	c := command("mqComplete")
	b.main = slices.Delete(b.main, i, i+1)
	return "complete", c, anything
}

// aside handles a message that was deferred or is not due yet.
func (w *queueWorker) aside(b *mailbox) (string, []any, func(value.Doc) error) {
	if i, _ := w.pick(b, func(l *letter) bool { return l.state == "scheduled" }); i >= 0 && w.rnd.IntN(2) == 0 {
		c := []any{"mqCancelScheduled", value.String(w.name), "sequenceNumber", value.Int64(b.main[i].number)}
		b.main = slices.Delete(b.main, i, i+1)
		return "cancel", c, anything
	}
	i, n := w.pick(b, func(l *letter) bool { return l.state == "deferred" && l.until == 0 })
	if n == 0 {
		return "", nil, nil
	}
	l := &b.main[i]
	c := []any{"mqReceive", value.String(w.name), "mode", value.String("peekLock"), "sequenceNumbers", value.NewArray(value.Int64(l.number))}
	if l.expires() <= w.now {
		b.bury(i, "TTLExpiredException")
		return "expired", c, anything
	}
	return "receive deferred", c, w.handed(b.main, []int64{l.number})
}

// receiveDead takes the first dead letter.
func (w *queueWorker) receiveDead(b *mailbox) (string, []any, func(value.Doc) error) {
	first := -1
	for i := range b.dead {
		if b.dead[i].until == 0 && (first < 0 || b.dead[i].number < b.dead[first].number) {
			first = i
		}
	}
	mode, name := "peekLock", "receive dead"
	command := func() []any {
		return []any{"mqReceive", value.String(w.name), "mode", value.String(mode), "subQueue", value.String("deadLetter")}
	}
	if first < 0 {
		return name, command(), w.handed(nil, nil)
	}
	numbers := []int64{b.dead[first].number}
	if w.rnd.IntN(2) == 0 {
		mode, name = "receiveAndDelete", "take dead"
		b.dead = slices.Delete(b.dead, first, first+1)
	}
	return name, command(), w.handed(b.dead, numbers)
}

// check compares the queue with what was acknowledged, at a later instant
// and after a pass.
func (w *queueWorker) check(tb testing.TB, c *client, now int64) {
	tb.Helper()
	if w.err != nil {
		tb.Fatal(w.err)
	}
	w.now = now
	text, err := shown(c, w.name)
	if err != nil && !strings.Contains(err.Error(), "ns does not exist") {
		tb.Fatal(err)
	}
	var want []string
	for _, b := range []*mailbox{w.pending, w.box} {
		if b == nil {
			continue
		}
		gone := b.settle(now)
		if gone && err != nil {
			w.create(tb, c, now)
			return
		}
		if want = append(want, b.String()); !gone && text == b.String() {
			unsure := w.pending != nil
			w.box, w.pending = b, nil
			w.renew(tb, c, unsure)
			return
		}
	}
	for _, t := range want {
		tb.Errorf("%s at %d (%v):\n%s", w.name, now, err, differences(text, t))
	}
	tb.FailNow()
}

// differences are the lines that only one of two texts has.
func differences(got, want string) (lines string) {
	only := func(a, b, which string) {
		for _, l := range strings.Split(a, "\n") {
			if !strings.Contains(b, l) {
				lines += which + l + "\n"
			}
		}
	}
	only(got, want, "has   ")
	only(want, got, "wants ")
	return lines
}

// renew proves that locks are still held, by renewing some of them; all, if
// one of them may have been renewed without an answer.
func (w *queueWorker) renew(tb testing.TB, c *client, all bool) {
	tb.Helper()
	w.box.activity = w.now
	for i := range w.box.main {
		if l := &w.box.main[i]; l.until > w.now && !l.token.IsMissing() && (all || w.rnd.IntN(2) == 0) {
			c.must(tb, "mqRenewLock", value.String(w.name), "lockToken", l.token)
			l.until = w.now + queueLock
		}
	}
}
