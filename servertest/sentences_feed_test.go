package servertest_test

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// feedSentences are the articles on modes of the change feed and on change streams.
var feedSentences = []sentence{
	{"F1", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1}`)
		events := s.watch(options.ChangeStream().SetShowExpandedEvents(true))
		s.to(10)
		s.pass()
		e := s.event(events)
		is(s, "event", e.Lookup("operationType").StringValue(), "delete")
		is(s, "key", ejson(e.Lookup("documentKey")), `{"_id": {"$numberInt":"1"}}`)
		is(s, "policy", e.Lookup("expiration", "policy").StringValue(), "documentTtl")
		is(s, "dueAt", e.Lookup("expiration", "dueAt").Time().UTC(), at(10))
		s.ok(`{insert: "c", documents: [{_id: 2}]}`)
		s.ok(`{delete: "c", deletes: [{q: {_id: 2}, limit: 1}]}`)
		s.event(events)
		is(s, "a client's delete", s.event(events).Lookup("expiration").Type, bson.Type(0))
	}},
	{"F2", func(s *scene) {
		s.ttl(`{default: 10}`, `{_id: 1}`)
		events := s.watch(options.ChangeStream())
		s.to(100)
		s.sees("", "c")
		s.ok(`{insert: "c", documents: [{_id: 2, ttl: -1}]}`)
		is(s, "before the purge", s.event(events).Lookup("operationType").StringValue(), "insert")
		s.pass()
		is(s, "by the purge", s.event(events).Lookup("operationType").StringValue(), "delete")
	}},
	{"F3", func(s *scene) { // soft deletes
		s.ttl(`{default: -1}`, `{_id: 1, a: 1}`)
		events := s.watch(options.ChangeStream().SetFullDocument(options.UpdateLookup))
		s.ok(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {deleted: true, ttl: 10}}}]}`)
		e := s.event(events)
		is(s, "event", e.Lookup("operationType").StringValue(), "update")
		is(s, "document", ejson(e.Lookup("fullDocument")), `{"_id": {"$numberInt":"1"},"a": {"$numberInt":"1"},"deleted": true,"ttl": {"$numberInt":"10"}}`)
		s.to(10)
		s.sees("", "c")
		s.pass()
		is(s, "event", s.event(events).Lookup("operationType").StringValue(), "delete")
	}},
	{"F4", func(s *scene) { // the whole document after a patch; none if it has expired
		s.ttl(`{default: 10}`, `{_id: 1, a: 1}`)
		events := s.watch(options.ChangeStream().SetFullDocument(options.UpdateLookup))
		s.ok(`{update: "c", updates: [{q: {_id: 1}, u: {$inc: {a: 1}}}]}`)
		is(s, "document", ejson(s.event(events).Lookup("fullDocument")), `{"_id": {"$numberInt":"1"},"a": {"$numberInt":"2"}}`)
		s.ok(`{update: "c", updates: [{q: {_id: 1}, u: {$inc: {a: 1}}}]}`)
		s.to(10)
		is(s, "of an expired one", s.event(events).Lookup("fullDocument").Type, bson.TypeNull)
	}},
	{"F5", func(s *scene) { // what was there before it was deleted
		s.ok(`{create: "c", documentTtl: {default: 10}, changeStreamPreAndPostImages: {enabled: true}}`)
		s.ok(`{insert: "c", documents: [{_id: 1, a: 1}]}`)
		events := s.watch(options.ChangeStream().SetFullDocumentBeforeChange(options.Required))
		s.to(10)
		s.pass()
		is(s, "before", ejson(s.event(events).Lookup("fullDocumentBeforeChange")), `{"_id": {"$numberInt":"1"},"a": {"$numberInt":"1"}}`)
	}},
	{"F6", func(s *scene) { // the pipeline that Cosmos DB for MongoDB asks for
		s.ttl(`{default: 10}`, `{_id: 1}`)
		events := s.watch(options.ChangeStream().SetFullDocument(options.UpdateLookup),
			bson.D{{Key: "$match", Value: bson.D{{Key: "operationType", Value: bson.D{{Key: "$in", Value: bson.A{"insert", "update", "replace"}}}}}}},
			bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}, {Key: "fullDocument", Value: 1}, {Key: "ns", Value: 1}, {Key: "documentKey", Value: 1}}}})
		s.to(10)
		s.pass()
		s.ok(`{insert: "c", documents: [{_id: 2}]}`)
		e := s.event(events)
		is(s, "the first event", ejson(e.Lookup("documentKey")), `{"_id": {"$numberInt":"2"}}`)
		is(s, "the type", e.Lookup("operationType").Type, bson.Type(0))
	}},
}

// watch opens a change stream of the collection c.
func (s *scene) watch(o *options.ChangeStreamOptionsBuilder, stages ...bson.D) *mongo.ChangeStream {
	s.Helper()
	if stages == nil {
		stages = []bson.D{}
	}
	stream, err := s.db.Collection("c").Watch(s.Context(), stages, o)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = stream.Close(s.Context()) })
	return stream
}

// event waits for the next event.
func (s *scene) event(stream *mongo.ChangeStream) bson.Raw {
	s.Helper()
	if !stream.Next(s.Context()) {
		s.Fatal(stream.Err())
	}
	return stream.Current
}
