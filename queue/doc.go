// Package queue gives a collection the semantics of an Azure Service Bus
// message queue: messages are sent, handed to one receiver at a time under a
// lock, and settled; they expire, can be deferred or scheduled, and
// undeliverable ones are moved to a dead-letter queue.
//
// There are three kinds of such collections ([Kind]). A queue has messages of
// its own. A topic hands each message to its subscriptions (pass.go, rules.go).
// A subscription is a queue that gets its messages from a topic. Queues and
// subscriptions may forward messages, and dead letters, to a queue or topic;
// they may require sessions (sessions.go). Queues and topics may find
// duplicates (history.go).
//
// # Where things are kept
//
// A queue is a collection with the option messageQueue, its [Config]. Next to
// it stands the dead-letter queue, a collection of its own. A message is one
// record: the fields of the sender and, last, the root field _mq that belongs
// to the server. The whole state of a message is in the record, so that a
// restart changes nothing: locks, schedules and delivery counts stay.
//
// The indexes of [Indexes] order the messages for the different searches: by
// number, ready to be received, by expiry, by the end of the lock, by the time
// they are scheduled for. Their names begin with "$mq.", which marks them as
// the server's own. Each index contains only the messages it concerns: an
// entry exists while the message has a hidden field of _mq. Receiving the next
// message reads the first entry of an index, however many messages wait, and
// the cost of finding due messages depends on the number of due ones alone.
//
// Sequence numbers must have no gaps and must not be reused after their
// messages are deleted. So each queue has a record in the collection $mq (state.go) with
// the next number and the instant of the last activity, from which the time to
// idle deletion counts; that of a topic also has its subscriptions. Sessions and
// the ids of messages have collections beside a queue, whose names have its UUID.
//
// # Time
//
// Whether a message has expired or a lock has lapsed follows from the record
// and the instant of the command; no background work is needed for that. The
// consequence (a removal, a move to the dead-letter queue, one more failed
// delivery) is stored by the next receive or by the sweep. A command processes
// only a limited share, so that it does not take longer after a long downtime;
// a [readyHead] saves receivers from reading the rest again (head.go).
//
// # Pieces
//
// A [Broker] holds the state that is not stored: waiting receivers, the last
// use of each queue, counters. Its methods are the commands.
// [Broker.Begin], [Broker.Modify], [Broker.Drop] and [Broker.Rename] change the catalog, the Check functions
// restrict ordinary commands on a queue, and [Present] converts a record to
// the form that readers see.
//
// The package is for the rest of DuskDB: it may change with any version.
package queue
