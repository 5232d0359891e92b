//go:build unix

package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// lockSeconds is how long a message is locked in seconds.
const lockSeconds = 3

// deliveries are what consumers got, guarded by the mutex of the load.
type deliveries struct {
	input     string               // the collection into which messages are put
	until     map[int64][]lockTime // by sequence number
	completed map[string]int       // by _id: how often the completion was acknowledged
}

// lockTime is when a lock ends, by the clock of the servers.
type lockTime struct {
	mark  string
	until time.Time
	got   time.Time // when the consumer had the message
	after bool      // the message had been completed when this receive began
}

// clockSkew is how far the clocks of the servers may be apart.
const clockSkew = 100 * time.Millisecond

// createQueue makes a topic with two subscriptions; or one queue, if servers are of the earlier
// version, which has no topics.
func (l *bank) createQueue() {
	l.Helper()
	l.queue.input = "work"
	list := []bson.D{
		{{Key: "create", Value: "work"}, {Key: "messageTopic", Value: bson.M{}}},
		{{Key: "create", Value: "jobs"}, {Key: "messageSubscription", Value: bson.M{"topic": "work", "lockDuration": lockSeconds, "maxDeliveryCount": 1000}}},
		{{Key: "create", Value: "copies"}, {Key: "messageQueue", Value: bson.M{}}},
		{{Key: "create", Value: "copier"}, {Key: "messageSubscription", Value: bson.M{"topic": "work", "forwardTo": "copies"}}},
	}
	if l.programs[0] != "" {
		l.queue.input = "jobs"
		list = []bson.D{{{Key: "create", Value: "jobs"}, {Key: "messageQueue", Value: bson.M{"lockDuration": lockSeconds, "maxDeliveryCount": 1000}}}}
	}
	for _, options := range list {
		if err := l.db.RunCommand(l.ctx, options).Err(); err != nil {
			l.Fatal(err)
		}
	}
}

// send puts a message into the topic, which hands it to two subscriptions: that of the
// consumers, and one that forwards its copies to a queue.
func (l *bank) send(client, n int, _ *rand.Rand) error {
	mark := fmt.Sprintf("m%d-%d", client, n)
	_, err := l.db.Collection(l.queue.input).InsertOne(l.ctx, bson.M{"_id": mark})
	if err == nil {
		l.acknowledge(sends, mark)
	}
	return err
}

// message is one as it was received.
type message struct {
	ID string `bson:"_id"`
	MQ struct {
		SequenceNumber int64         `bson:"sequenceNumber"`
		LockToken      bson.RawValue `bson:"lockToken"`
		LockedUntil    time.Time     `bson:"lockedUntilUtc"`
	} `bson:"_mq"`
}

// receive receives a message and completes it, mostly.
func (l *bank) receive(_, _ int, rnd *rand.Rand) error {
	ctx, end := context.WithTimeout(l.ctx, patience)
	defer end()
	completed := map[string]bool{}
	l.mu.Lock()
	for mark := range l.queue.completed {
		completed[mark] = true
	}
	l.mu.Unlock()
	var reply struct{ Messages []message }
	if err := l.db.RunCommand(ctx, bson.D{{Key: "mqReceive", Value: "jobs"}, {Key: "maxWaitTimeMS", Value: 300}}).Decode(&reply); err != nil {
		return unrepeated{err}
	}
	got := time.Now()
	for _, m := range reply.Messages {
		l.mu.Lock()
		l.queue.until[m.MQ.SequenceNumber] = append(l.queue.until[m.MQ.SequenceNumber], lockTime{m.ID, m.MQ.LockedUntil, got, completed[m.ID]})
		l.mu.Unlock()
		if rnd.IntN(20) == 0 {
			continue // the consumer has died
		}
		err := l.db.RunCommand(ctx, bson.D{{Key: "mqComplete", Value: "jobs"}, {Key: "lockToken", Value: m.MQ.LockToken}}).Err()
		if isLockLost(err) {
			continue
		}
		if err != nil {
			return unrepeated{err}
		}
		l.mu.Lock()
		l.queue.completed[m.ID]++
		l.mu.Unlock()
		l.done[receipts].Add(1)
	}
	return nil
}

// checkQueue receives what is left, and then judges: everything that was sent has been
// delivered, and nothing to two consumers while it was locked, nor after it was
// completed.
func (l *bank) checkQueue() {
	l.Helper()
	rnd := rand.New(rand.NewPCG(1, 1))
	eventually(l, "the queue is emptied", func() bool {
		if err := l.receive(0, 0, rnd); err != nil {
			l.report(err)
		}
		n, err := l.db.Collection("jobs").CountDocuments(l.ctx, bson.M{})
		return err == nil && n == 0
	})
	delivered := map[string]bool{}
	for number, locks := range l.queue.until {
		slices.SortFunc(locks, func(a, b lockTime) int { return a.until.Compare(b.until) })
		for i, lock := range locks {
			delivered[lock.mark] = true
			if lock.after {
				l.Errorf("message %d, %s, was delivered after it was completed", number, lock.mark)
			}
			if i > 0 && lock.got.Before(locks[i-1].until.Add(-clockSkew)) {
				l.Errorf("message %d, %s, was locked until %v, and delivered again at %v", number, lock.mark, locks[i-1].until, lock.got)
			}
		}
	}
	for mark, n := range l.queue.completed {
		if n > 1 {
			l.Errorf("%s was completed %d times", mark, n)
		}
	}
	l.wantAcknowledged('m', delivered)
	if l.queue.input != "jobs" {
		l.checkCopies(delivered)
	}
}

// checkCopies: what one subscription has got, the other has got too, once.
func (l *bank) checkCopies(delivered map[string]bool) {
	l.Helper()
	cursor, err := l.db.Collection("copies").Find(l.ctx, bson.M{})
	if err != nil {
		l.Fatal(err)
	}
	var copies []struct {
		ID any `bson:"_id"` // an ObjectId if another message with the mark was there
	}
	if err := cursor.All(l.ctx, &copies); err != nil {
		l.Fatal(err)
	}
	for _, c := range copies {
		if mark, ok := c.ID.(string); !ok || !delivered[mark] {
			l.Errorf("%v was copied and not delivered, or stored twice", c.ID)
		}
	}
	if len(copies) != len(delivered) {
		l.Errorf("%d messages were copied, and %d delivered", len(copies), len(delivered))
	}
}

// isLockLost reports whether a message could not be completed because it is locked no
// more by the one who tries.
func isLockLost(err error) bool {
	var server mongo.ServerError
	return errors.As(err, &server) && server.HasErrorCode(90410)
}
