// Package queue gives a collection the semantics of a message queue, as
// Azure Service Bus has them: messages are sent, handed to one receiver at a
// time under a lock, and settled; they expire, can be deferred or scheduled,
// and those that cannot be delivered end in a dead-letter queue.
//
// # Where things are kept
//
// A queue is a collection with the option messageQueue, its [Config]. Next
// to it stands the dead-letter queue, a collection of its own. A message is
// one record: the fields of the sender and, last, the root field _mq that
// belongs to the server. Everything that decides a message's fate is in the
// record, so that a restart changes nothing: locks, schedules and counts
// simply go on.
//
// The indexes of [Indexes] keep the messages in the orders in which they are
// looked for: by number, ready to be received, by expiry, by the end of the
// lock, by the time they are scheduled for. Their names begin with "$mq.", which
// marks them as the server's own. Each order holds only the messages it
// concerns, so that an index entry appears and disappears with a hidden field
// of _mq. Receiving the next message costs one look at the head of an index,
// however many wait, and looking for what is due costs what is due.
//
// Sequence numbers must have no gaps and must survive the messages that had
// them, so each queue has a record in [StateNamespace] with the next number
// and the instant of the last activity, which is what idle deletion counts
// from.
//
// # Time
//
// Whether a message has expired or a lock has lapsed follows from the record
// and the instant of the command; nothing has to run for that. What follows
// from it, a removal, a move to the dead-letter queue, one more failed
// delivery, is written down by the next receive or by the sweep. A command
// does no more than a share of it, so that it takes no longer after a long
// downtime; a [front] keeps receivers from looking at the rest twice.
//
// # Pieces
//
// A [Broker] holds what is not worth keeping: who waits for messages, when a
// queue was last used, counters. Its methods are the commands. [Create],
// [Modify], [Drop] and [Rename] do the catalog's part, the Check functions
// say what ordinary commands may do to a queue, and [Present] turns a record
// into what a reader sees.
package queue
