package queue

import "github.com/duskdb/duskdb/storage"

// Changes are what an engine transaction does to queues besides its writes: counters and
// wake-ups of every queue that it touches, and queues that it drops. They take effect when
// the transaction has been committed, and are collected anew when it runs again. The zero
// value has nothing to do; a nil Changes does nothing.
type Changes struct {
	broker  *Broker
	first   effects               // on the first queue; most transactions have one
	more    map[[16]byte]*effects // on the others, by their UUID
	dropped []*storage.Info
}

// Changes starts the record of a transaction.
func (b *Broker) Changes() *Changes { return &Changes{broker: b} }

// Begin forgets the changes, because the transaction begins, or begins again.
func (c *Changes) Begin() {
	if c != nil {
		c.first, c.more, c.dropped = effects{}, nil, nil
	}
}

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
