package main

import (
	"context"
	"crypto/rand"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/value"
)

// The workloads of sessions: writes that can be retried, and transactions. They need a
// server that is a member of a replica set, or a mongos.

// sessionState is the session of a worker.
type sessionState struct {
	id      value.Doc      // lsid of the requests made here
	number  int64          // number of the last retryable write or transaction
	updates int            // updates sent in the open transaction
	client  *mongo.Session // the driver's, nil before the first transaction
}

// appendTxn appends the arguments of a retryable write or of a statement of a transaction.
func (s *sessionState) appendTxn(b *value.Builder) {
	if s.id == nil {
		id := make([]byte, 16)
		_, _ = rand.Read(id) // it never fails
		s.id = value.NewDoc("id", value.Binary(4, id))
	}
	b.Document("lsid", s.id).Int64("txnNumber", s.number)
}

// open reports whether the session has an open transaction.
func (s *sessionState) open() bool { return s.updates > 0 }

// buildInsertRetryable builds the next insert with a txnNumber.
func buildInsertRetryable(r *request) {
	buildInsertOne(r)
	r.session.number++
	r.session.appendTxn(&r.b)
}

// updatesOfTxn is the number of updates in a transaction.
const updatesOfTxn = 2

// buildTransaction builds the next request of a transaction: an update or the commit.
func buildTransaction(r *request) {
	s := &r.session
	if s.updates == updatesOfTxn {
		s.appendTxn(r.begin().Int32("commitTransaction", 1))
		r.b.Bool("autocommit", false)
		r.on = "admin"
		s.updates = 0
		return
	}
	r.update(r.ownShare())
	if s.updates == 0 {
		s.number++
		r.b.Bool("startTransaction", true)
	}
	s.appendTxn(&r.b)
	r.b.Bool("autocommit", false)
	s.updates++
}

// ownShare draws the _id of a stored document that no other worker draws, because two
// transactions that update the same document are in conflict.
func (r *request) ownShare() int32 {
	n := max(r.workers, 1)
	return int32(r.worker%n + n*r.rnd.IntN(max(r.opts.Docs/n, 1)))
}

// callTransaction sends the next request of a transaction with the driver.
func callTransaction(ctx context.Context, r *request) error {
	s := &r.session
	if s.client == nil {
		var err error
		if s.client, err = r.db.Client().StartSession(options.Session().SetCausalConsistency(false)); err != nil {
			return err
		}
	}
	if s.updates == updatesOfTxn {
		s.updates = 0
		return s.client.CommitTransaction(ctx)
	}
	if s.updates == 0 {
		if err := s.client.StartTransaction(); err != nil {
			return err
		}
	}
	s.updates++
	return r.callUpdate(mongo.NewSessionContext(ctx, s.client), r.ownShare())
}

func buildFindAndModify(r *request) {
	r.begin().String("findAndModify", r.collection()).
		StartDocument("query").Int32("_id", r.id()).End().
		StartDocument("update").StartDocument("$inc").Int32("n", 1).End().End()
}

func callFindAndModify(ctx context.Context, r *request) error {
	return r.coll().FindOneAndUpdate(ctx, idFilter(r.id()), increment).Err()
}

// wantValue fails for a findAndModify that found nothing.
func wantValue(reply value.Doc) error {
	if reply.Lookup("value").Doc().IsEmpty() {
		return errNothing
	}
	return nil
}
