package queue

import (
	"errors"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

const (
	deadLetterSuffix = ".deadletterqueue"  // the end of the collection's name
	deadLetterPath   = "/$deadletterqueue" // of the path form of a queue's name
	subQueueDead     = "deadLetter"        // value of the subQueue argument
)

// DeadLetterName is the name of the dead-letter queue of a queue.
func DeadLetterName(coll string) string { return coll + deadLetterSuffix }

// Ref names a queue or the dead-letter queue of one.
type Ref struct {
	Namespace storage.Namespace // the queue, or the collection of a dead-letter queue
	Dead      bool              // refers to the dead-letter queue of Namespace
}

// ParseRef reads the name of a queue, which may end with the path of its
// dead-letter queue, and the subQueue argument ("" if it is not given).
func ParseRef(db, name, subQueue string) (Ref, error) {
	name, dead := strings.CutSuffix(name, deadLetterPath)
	switch subQueue {
	case "":
	case subQueueDead:
		dead = true
	default:
		return Ref{}, mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field 'subQueue' is not a valid value.", subQueue)
	}
	return Ref{Namespace: storage.Namespace{DB: db, Coll: name}, Dead: dead}, nil
}

// entity is an open queue or dead-letter queue within one transaction.
type entity struct {
	broker *Broker
	tx     storage.Tx
	now    int64
	ns     storage.Namespace  // the namespace of the queue
	dead   bool               // whether coll is the dead-letter queue
	main   storage.Collection // the collection of the queue
	coll   storage.Collection // the collection on which the command works
	uuid   [16]byte           // the UUID of the queue
	state  *runtimeState
	config *Config

	sweeping bool // whether a pass of the monitor runs, and not a command
	refusing bool // whether a pass does not hand on the message that it processes: it is too much for one transaction
	share    int  // maximum number of due messages that the command processes

	changes *Changes // the changes of the transaction
	out     *effects // those of this queue

	unit     unit               // the queues open in this transaction; nil: this one alone
	deadColl storage.Collection // the dead-letter queue, opened when needed
	ledger   *ledger            // the ledger, read when needed
}

// open finds a queue.
func (b *Broker) open(tx storage.Tx, ref Ref, now int64, changes *Changes) (*entity, error) {
	ns := ref.Namespace
	coll, err := collection(tx, ns)
	if err != nil {
		return nil, err
	}
	e := &entity{broker: b, tx: tx, now: now, ns: ns, main: coll, coll: coll, dead: ref.Dead, changes: changes}
	if owner := DeadLetterOf(coll.Info().Options); owner != "" {
		e.dead, e.ns.Coll = true, owner
		if e.main, err = collection(tx, e.ns); err != nil {
			return nil, err
		}
	}
	if !IsQueue(e.main.Info().Options) {
		return nil, mongoerr.Newf(mongoerr.IllegalOperation, "%s is not a message queue", ns)
	}
	if !changes.leaveDue {
		e.share = b.share
	}
	e.uuid = e.main.Info().UUID
	e.state, e.out = b.queue(e.uuid), changes.of(e.uuid)
	if e.config, err = e.state.configOf(e.main.Info()); err != nil || !e.dead {
		return e, err
	}
	if e.config.Kind == Topic {
		return nil, mongoerr.Newf(mongoerr.IllegalOperation, "the message topic %s has no dead-letter queue: its subscriptions have", e.ns)
	}
	e.coll, err = e.deadLetters()
	return e, err
}

func collection(tx storage.Tx, ns storage.Namespace) (storage.Collection, error) {
	coll, err := tx.Collection(ns)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, mongoerr.Newf(mongoerr.NamespaceNotFound, "ns does not exist: %s", ns).WithCause(err)
	}
	return coll, err
}

// deadLetters opens the dead-letter queue of the queue; nil for a topic, which has none.
func (e *entity) deadLetters() (storage.Collection, error) {
	if e.config.Kind == Topic {
		return nil, nil
	}
	if e.deadColl == nil {
		coll, err := collection(e.tx, storage.Namespace{DB: e.ns.DB, Coll: DeadLetterName(e.ns.Coll)})
		if err != nil {
			return nil, err
		}
		e.deadColl = coll
	}
	return e.deadColl, nil
}

// numbers opens the record with the next sequence number.
func (e *entity) numbers() (*ledger, error) {
	if e.ledger != nil {
		return e.ledger, nil
	}
	l, err := readLedger(e.tx, e.ns.DB, e.uuid)
	if err != nil {
		return nil, err
	}
	if !l.entry.Exists() {
		if l.next, err = e.lastNumber(); err != nil {
			return nil, err
		}
		l.next++
	}
	if e.config.Kind == Topic && !l.entry.Exists() {
		if l.subscriptions, err = subscriptionsOf(e.tx, e.ns); err != nil {
			return nil, err
		}
	}
	e.ledger = &l
	return e.ledger, nil
}

// lastNumber is the highest sequence number in use.
func (e *entity) lastNumber() (last int64, err error) {
	dead, err := e.deadLetters()
	if err != nil {
		return 0, err
	}
	for _, coll := range []storage.Collection{e.main, dead} {
		if coll == nil {
			continue
		}
		newest, err := heads(coll, byNumber, storage.KeyRange{Reverse: true}, 1)
		if err != nil {
			return 0, err
		}
		for _, m := range newest {
			last = max(last, m.number)
		}
	}
	return last, nil
}

// used records that the queue is in use. It is stored only for a queue with
// idle deletion.
func (e *entity) used(at int64) error {
	e.out.activity = max(e.out.activity, at)
	if !e.config.idle() {
		return nil
	}
	l, err := e.numbers()
	if err != nil || l.entry.Exists() && l.activity >= at {
		return err
	}
	l.activity = at
	return l.write(e.uuid, e.now)
}

// save writes a changed message.
func (e *entity) save(coll storage.Collection, m *message) error {
	dead := coll == e.deadColl
	e.out.note(m, dead)
	_, err := coll.Update(m.id, m.encode(stored, dead), e.now)
	return err
}
