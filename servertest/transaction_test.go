package servertest_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A transaction sees documents that had not expired when it began; writing one that has
// been purged since is a conflict.
func TestDocumentTTLInTransaction(t *testing.T) {
	s := newScene(t)
	s.ttl(`{default: 10}`, `{_id: 1}, {_id: 2}`)
	session, err := s.client.StartSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.EndSession(t.Context())
	if err := session.StartTransaction(); err != nil {
		t.Fatal(err)
	}
	ctx := mongo.NewSessionContext(t.Context(), session)
	c := s.db.Collection("c")
	count := func() int64 {
		n, err := c.CountDocuments(ctx, bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	is(s, "before", count(), 2)
	s.to(10)
	is(s, "in the transaction", count(), 2)
	s.sees("", "c")
	s.pass()
	is(s, "after the purge", count(), 2)
	_, err = c.UpdateOne(ctx, bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "$set", Value: bson.D{{Key: "a", Value: 1}}}})
	s.failed(112, "", "update in the transaction", err)
}

// A pass skips a document that an open transaction has written, and removes the others.
func TestPassMeetsTransaction(t *testing.T) {
	s := newScene(t)
	s.expiring(10, `{_id: 1, x: d(0)}, {_id: 2, x: d(0)}, {_id: 3, x: d(0)}`)
	session, err := s.client.StartSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.EndSession(t.Context())
	if err := session.StartTransaction(); err != nil {
		t.Fatal(err)
	}
	ctx := mongo.NewSessionContext(t.Context(), session)
	if _, err := s.db.Collection("c").UpdateOne(ctx, bson.D{{Key: "_id", Value: 2}}, bson.D{{Key: "$set", Value: bson.D{{Key: "a", Value: 1}}}}); err != nil {
		t.Fatal(err)
	}
	s.to(10)
	s.pass()
	s.sees("2", "c")
	if err := session.AbortTransaction(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.pass()
	s.sees("", "c")
}
