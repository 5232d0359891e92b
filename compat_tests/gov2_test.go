package compat

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// connect opens a client of the Go driver v2 for the length of a test.
func connect(t *testing.T, uri string, opts ...*options.ClientOptions) *mongo.Client {
	t.Helper()
	c, err := mongo.Connect(append([]*options.ClientOptions{options.Client().ApplyURI(uri)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(t.Context()) })
	return c
}

// syncJournal makes everything written before survive a crash.
func syncJournal(t *testing.T, uri string) {
	t.Helper()
	c := connect(t, uri, options.Client().SetWriteConcern(&writeconcern.WriteConcern{W: 1, Journal: new(true)}))
	if _, err := c.Database("compat").Collection("journal").InsertOne(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
}

// command runs a command on a database and returns its reply.
func command(t *testing.T, db *mongo.Database, cmd bson.D) bson.M {
	t.Helper()
	var reply bson.M
	if err := db.RunCommand(t.Context(), cmd).Decode(&reply); err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	return reply
}
