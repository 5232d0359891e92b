package main

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/value"
)

// The workload of message queues, which only DuskDB has: a message is sent,
// received under a lock, and completed. Each of the three is a request.

const queueName = "queue"

// queueState is the step of a worker in its round.
type queueState struct {
	step  queueStep
	token value.Value // lock token of the message that was received
}

type queueStep int

const (
	sending queueStep = iota
	receiving
	completing
	queueSteps
)

// makeQueue makes an empty queue.
func makeQueue(l *loader) error {
	_, _ = l.command(value.NewDoc("drop", value.String(queueName), "$db", value.String(database)))
	_, err := l.command(value.NewDoc("create", value.String(queueName), "messageQueue", value.Document(value.EmptyDoc), "$db", value.String(database)))
	return err
}

func buildQueue(r *request) {
	b := r.begin()
	switch r.queue.step {
	case sending:
		b.String("mqSend", queueName).StartArray("messages").StartDocument("").Int32("n", r.rnd.Int32()).String("pad", r.docs.pad).End().End()
	case receiving:
		b.String("mqReceive", queueName).String("mode", "peekLock")
	case completing:
		b.String("mqComplete", queueName).Append("lockToken", r.queue.token)
	}
}

var errNoMessage = errors.New("no message was received")

// noteQueue goes on to the next step. Each worker has sent a message before
// it receives one, so there is one for it.
func noteQueue(r *request, reply value.Doc) error {
	if r.queue.step == receiving {
		r.queue.token = reply.Lookup("messages").Doc().Index(0).Doc().Lookup("_mq").Doc().Lookup("lockToken").Clone()
		if r.queue.token.IsMissing() {
			return errNoMessage
		}
	}
	r.queue.step = (r.queue.step + 1) % queueSteps
	return nil
}

func callQueue(ctx context.Context, r *request) error {
	buildQueue(r)
	body := r.b.Doc()
	r.buf = r.b.Bytes()
	reply, err := r.db.RunCommand(ctx, bson.Raw(body)).Raw()
	if err != nil {
		return err
	}
	return noteQueue(r, value.Doc(reply))
}
