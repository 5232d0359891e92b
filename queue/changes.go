package queue

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// Changes are what an engine transaction does to queues besides its writes: counters and
// wake-ups of every queue that it touches, and queues that it drops. They take effect when
// the transaction has been committed, and are collected anew when it runs again. The zero
// value has nothing to do; a nil Changes does nothing.
type Changes struct {
	broker  *Broker
	first   effects               // on the first queue; most transactions have one
	more    map[[16]byte]*effects // on the others, by their UUID
	dropped []*storage.Info

	copies, bytes int // messages that were handed on, and their sizes
	steps         int // number of steps that rules have taken

	processed bool // whether messages that are due were processed
	leaveDue  bool // whether they are left to the next pass
}

// Changes starts the record of a transaction.
func (b *Broker) Changes() *Changes { return &Changes{broker: b} }

// Begin forgets the changes, because the transaction begins, or begins again.
func (c *Changes) Begin() {
	if c != nil {
		*c = Changes{broker: c.broker, leaveDue: c.leaveDue}
	}
}

// LeaveDue has the transactions that follow leave the messages that are due to the next
// pass, because a sender's own need all the copies that a transaction may make.
func (c *Changes) LeaveDue(leave bool) { c.leaveDue = leave }

// of returns the effects on a queue.
func (c *Changes) of(uuid [16]byte) *effects {
	if c.first.queue == uuid || c.first.queue == ([16]byte{}) {
		c.first.queue = uuid
		return &c.first
	}
	out := c.more[uuid]
	if out == nil {
		if c.more == nil {
			c.more = map[[16]byte]*effects{}
		}
		out = &effects{queue: uuid}
		c.more[uuid] = out
	}
	return out
}

// The copies that topics make of the messages of one transaction are bounded: their number is
// a product of subscriptions, rules and forwarding.
const (
	maxCopies    = 100_000
	maxCopyBytes = 256 << 20
)

// copied counts a message that is handed on.
func (c *Changes) copied(m *message) error {
	c.copies++
	c.bytes += len(m.head) + len(m.tail)
	if c.steps > maxAllSteps {
		return errTooManySteps
	}
	if c.copies > c.broker.MaxCopies || c.bytes > maxCopyBytes {
		return mongoerr.Newf(mongoerr.TransactionTooLarge, "The messages of one command or transaction may have at most %d copies of together %d bytes in subscriptions and other queues: send fewer at once", c.broker.MaxCopies, maxCopyBytes)
	}
	return nil
}

// room reports whether a transaction may process another message that is due. It may not if it
// has done so much that the message may be too much for it.
func (c *Changes) room() bool {
	c.processed = true
	return c.copies <= c.broker.MaxCopies/4 && c.bytes <= maxCopyBytes/4 && c.steps <= maxAllSteps/4
}

// Drop records that a queue is dropped: its receivers end.
func (c *Changes) Drop(info *storage.Info) { c.dropped = append(c.dropped, info) }

// Committed applies the changes. It must be called after the transaction has committed.
func (c *Changes) Committed() {
	if c == nil {
		return
	}
	if c.first.queue != ([16]byte{}) {
		c.broker.apply(&c.first)
	}
	for _, out := range c.more {
		c.broker.apply(out)
	}
	for _, info := range c.dropped {
		c.broker.forget(info.UUID)
	}
	c.Begin()
}
