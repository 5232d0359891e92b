package servertest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// mqStep is one command of a client on a queue, with its result.
type mqStep struct {
	kind    string  // send, receive, remove, complete, abandon, defer, recall, dead
	numbers []int64 // messages that it got or worked on; none: the queue was empty
	max     int     // maximum number of a receive
}

// mqModel is a queue that is used by one client at a time: a receive gets the
// first messages that are not locked, and only the holder of a lock can settle
// its message.
var mqModel = porcupine.Model{
	Init: func() any { return mqState{} },
	Step: func(state, _, output any) (bool, any) {
		s, o := state.(mqState), output.(mqStep)
		next := mqState{slices.Clone(s.ready), maps.Clone(s.aside)}
		if next.aside == nil {
			next.aside = map[int64]string{}
		}
		ok := next.play(o)
		slices.Sort(next.ready)
		return ok, next
	},
	Equal: func(a, b any) bool {
		x, y := a.(mqState), b.(mqState)
		return slices.Equal(x.ready, y.ready) && maps.Equal(x.aside, y.aside)
	},
	DescribeOperation: func(_, output any) string { return fmt.Sprintf("%+v", output) },
}

type mqState struct {
	ready []int64
	aside map[int64]string // held, deferred or held while deferred
}

func (s *mqState) play(o mqStep) bool {
	switch o.kind {
	case "send":
		s.ready = append(s.ready, o.numbers...)
		return true
	case "receive", "remove":
		n := min(o.max, len(s.ready))
		if !slices.Equal(s.ready[:n], o.numbers) {
			return false
		}
		s.ready = slices.Clone(s.ready[n:])
		for _, m := range o.numbers {
			if o.kind == "receive" {
				s.aside[m] = "held"
			}
		}
		return true
	}
	m := o.numbers[0]
	was := s.aside[m]
	delete(s.aside, m)
	switch {
	case o.kind == "recall":
		s.aside[m] = "recalled"
		return was == "deferred"
	case o.kind == "defer", o.kind == "abandon" && was == "recalled":
		s.aside[m] = "deferred"
	case o.kind == "abandon":
		s.ready = append(s.ready, m)
	}
	return was == "held" || was == "recalled"
}

// Many consumers, each with connections of its own, send, receive, complete,
// abandon, defer and dead-letter over the wire. Their results must be possible for
// commands that run one after the other (semantics.md 9.3): no message has two holders,
// no message is lost or returns, and they are received in order.
func TestConsumersAreLinearizable(t *testing.T) {
	clients, steps := 6, 60
	if testing.Short() {
		steps = 25
	}
	first := newScene(t)
	first.queue(`{maxDeliveryCount: 1000000}`)
	var h mqHistory
	var wg sync.WaitGroup
	consumers := make([]*mqConsumer, clients)
	for i := range consumers {
		consumers[i] = &mqConsumer{s: connect(t, first.srv), id: i, r: rand.New(rand.NewPCG(uint64(i), 3)), held: map[int64]bson.RawValue{}}
		wg.Go(func() {
			for range steps {
				if err := h.record(i, consumers[i].step); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	left := 0
	for _, c := range consumers {
		left += len(c.held)
	}
	is(first, "locked", number(first.ok(`{mqStats: "q"}`).Lookup("locked")), int64(left))
	switch porcupine.CheckOperationsTimeout(mqModel, h.operations, 60*time.Second) {
	case porcupine.Illegal:
		t.Error("the history is not linearizable")
	case porcupine.Unknown:
		t.Log("no verdict within the time")
	}
}

// mqHistory has the commands of all clients, with their times.
type mqHistory struct {
	mu         sync.Mutex
	instant    atomic.Int64
	operations []porcupine.Operation
}

func (h *mqHistory) record(client int, step func() (mqStep, error)) error {
	call := h.instant.Add(1)
	o, err := step()
	end := h.instant.Add(1)
	if err != nil || o.kind == "" {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.operations = append(h.operations, porcupine.Operation{ClientId: client, Output: o, Call: call, Return: end})
	return nil
}

// mqConsumer sends and receives, and settles what it holds.
type mqConsumer struct {
	s        *scene
	id       int
	r        *rand.Rand
	n        int
	held     map[int64]bson.RawValue // tokens
	deferred []int64
}

func (c *mqConsumer) command(d bson.D) (bson.Raw, error) {
	return c.s.db.RunCommand(context.Background(), d).Raw()
}

func (c *mqConsumer) step() (mqStep, error) {
	switch n := c.r.IntN(10); {
	case len(c.held) > 0 && n < 6:
		return c.settle()
	case n < 8:
		return c.send()
	case len(c.deferred) > 0 && n < 9:
		return c.recall()
	}
	return c.receive()
}

func (c *mqConsumer) send() (mqStep, error) {
	var docs bson.A
	for range 1 + c.r.IntN(2) {
		c.n++
		docs = append(docs, bson.D{{Key: "_id", Value: fmt.Sprint(c.id, "-", c.n)}})
	}
	reply, err := c.command(bson.D{{Key: "mqSend", Value: "q"}, {Key: "messages", Value: docs}})
	if err != nil {
		return mqStep{}, err
	}
	o := mqStep{kind: "send"}
	values, err := reply.Lookup("sequenceNumbers").Array().Values()
	for _, v := range values {
		o.numbers = append(o.numbers, number(v))
	}
	return o, err
}

func (c *mqConsumer) receive() (mqStep, error) {
	o := mqStep{kind: "receive", max: 1 + c.r.IntN(3)}
	mode := "peekLock"
	if c.r.IntN(4) == 0 {
		o.kind, mode = "remove", "receiveAndDelete"
	}
	reply, err := c.command(bson.D{{Key: "mqReceive", Value: "q"}, {Key: "mode", Value: mode}, {Key: "maxMessages", Value: o.max}})
	if err != nil {
		return o, err
	}
	o.numbers = c.got(reply, mode == "peekLock")
	return o, nil
}

// got records the messages of a reply.
func (c *mqConsumer) got(reply bson.Raw, locked bool) (numbers []int64) {
	for _, m := range elements(reply.Lookup("messages")) {
		n := number(m.Lookup("_mq", "sequenceNumber"))
		numbers = append(numbers, n)
		if locked {
			c.held[n] = m.Lookup("_mq", "lockToken")
		}
	}
	return numbers
}

func (c *mqConsumer) settle() (mqStep, error) {
	for n, token := range c.held {
		delete(c.held, n)
		name := []string{"mqComplete", "mqComplete", "mqAbandon", "mqDefer", "mqDeadLetter"}[c.r.IntN(5)]
		_, err := c.command(bson.D{{Key: name, Value: "q"}, {Key: "lockToken", Value: token}})
		kind := map[string]string{"mqComplete": "complete", "mqAbandon": "abandon", "mqDefer": "defer", "mqDeadLetter": "dead"}[name]
		if kind == "defer" {
			c.deferred = append(c.deferred, n)
		}
		return mqStep{kind: kind, numbers: []int64{n}}, err
	}
	return mqStep{}, nil
}

// recall receives a message by its number. Only this consumer can have deferred it.
func (c *mqConsumer) recall() (mqStep, error) {
	n := c.deferred[0]
	c.deferred = c.deferred[1:]
	reply, err := c.command(bson.D{{Key: "mqReceive", Value: "q"}, {Key: "mode", Value: "peekLock"}, {Key: "sequenceNumbers", Value: bson.A{n}}})
	var e mongo.ServerError
	if errors.As(err, &e) {
		return mqStep{}, fmt.Errorf("message %d was deferred: %w", n, err)
	}
	if err != nil {
		return mqStep{}, err
	}
	return mqStep{kind: "recall", numbers: c.got(reply, true)}, nil
}

// Consumers wait for messages and do not settle some of them, while the clock moves and
// passes run: each message is completed once, and two consumers never hold it at the
// same time (semantics.md 9.3, 9.4).
func TestWaitingConsumers(t *testing.T) {
	messages, consumers := 120, 8
	if testing.Short() {
		messages = 40
	}
	s := newScene(t)
	s.queue(`{lockDuration: 5, maxDeliveryCount: 1000000}`)
	turns := mqTurns{completed: map[int64]int{}, until: map[int64]int64{}}
	left := func() int { turns.mu.Lock(); defer turns.mu.Unlock(); return messages - len(turns.completed) }
	var wg sync.WaitGroup
	for i := range consumers {
		c := &mqConsumer{s: connect(t, s.srv), id: i, r: rand.New(rand.NewPCG(uint64(i), 4)), held: map[int64]bson.RawValue{}}
		wg.Go(func() {
			for left() > 0 && !t.Failed() {
				if err := c.takeTurn(&turns); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	sender := connect(t, s.srv)
	for i := range messages {
		sender.ok(`{mqSend: "q", messages: [{_id: %d}]}`, i)
	}
	for left() > 0 && !t.Failed() {
		turns.still.Lock()
		_ = s.srv.Clock.Advance(1700 * time.Millisecond)
		turns.still.Unlock()
		s.pass()
	}
	wg.Wait()
	for n, times := range turns.completed {
		if times != 1 {
			t.Errorf("message %d was completed %d times", n, times)
		}
	}
	is(s, "left", number(s.ok(`{mqStats: "q"}`).Lookup("active")), 0)
}

// mqTurns is the state that the consumers share.
type mqTurns struct {
	still     sync.RWMutex // the clock does not move while a message is handed out
	mu        sync.Mutex
	completed map[int64]int
	until     map[int64]int64 // end of the last lock
}

// takeTurn receives messages and completes them, except for some.
func (c *mqConsumer) takeTurn(t *mqTurns) error {
	t.still.RLock()
	now := c.s.srv.Clock.NowMillis()
	reply, err := c.command(bson.D{{Key: "mqReceive", Value: "q"}, {Key: "maxMessages", Value: 1 + c.r.IntN(2)}, {Key: "maxWaitTimeMS", Value: c.r.IntN(2) * 3}})
	if err == nil {
		t.hand(c.s, reply, now)
	}
	t.still.RUnlock()
	if err != nil {
		return err
	}
	for _, m := range elements(reply.Lookup("messages")) {
		if c.r.IntN(5) == 0 {
			continue // forgotten
		}
		_, err := c.command(bson.D{{Key: "mqComplete", Value: "q"}, {Key: "lockToken", Value: m.Lookup("_mq", "lockToken")}})
		var e mongo.ServerError
		switch {
		case err == nil:
			t.mu.Lock()
			t.completed[number(m.Lookup("_mq", "sequenceNumber"))]++
			t.mu.Unlock()
		case !errors.As(err, &e) || !e.HasErrorCode(90410):
			return err
		}
	}
	return nil
}

// hand records the holders of messages.
func (t *mqTurns) hand(s *scene, reply bson.Raw, now int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range elements(reply.Lookup("messages")) {
		n := number(m.Lookup("_mq", "sequenceNumber"))
		if t.until[n] > now || t.completed[n] > 0 {
			s.Errorf("message %d was handed out at %d, and held until %d, completed %d times", n, now, t.until[n], t.completed[n])
		}
		t.until[n] = m.Lookup("_mq", "lockedUntilUtc").Time().UnixMilli()
	}
}
