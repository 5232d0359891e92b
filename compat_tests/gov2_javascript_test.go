package compat

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// JavaScript through a driver and a process with data on disk: what is stored
// in system.js is there after a restart, a script that does not end is killed
// from another connection or by a limit of time, and --noscripting refuses all.
func TestGoV2JavaScript(t *testing.T) {
	t.Parallel()
	p := start(t)
	db := connect(t, p.URI).Database("js")
	c := db.Collection("c")
	var docs []any
	for i := range 3000 {
		docs = append(docs, bson.D{{Key: "_id", Value: i}, {Key: "k", Value: i % 3}, {Key: "n", Value: bson.D{{Key: "v", Value: i}}}})
	}
	if _, err := c.InsertMany(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	command(t, db, bson.D{{Key: "insert", Value: "system.js"}, {Key: "documents", Value: bson.A{
		bson.D{{Key: "_id", Value: "even"}, {Key: "value", Value: bson.JavaScript("function(x) { return x % 2 == 0 }")}},
	}}})
	v2Where(t, c)
	v2MapReduce(t, db)
	v2Kill(t, db)
	v2ScriptsRefused(t, db)

	p.Stop(t)
	p = startIn(t, p.dir)
	c = connect(t, p.URI).Database("js").Collection("c")
	v2Where(t, c)
	p.Stop(t)
	p = startIn(t, p.dir, "--noscripting")
	db = connect(t, p.URI).Database("js")
	failsWith(t, db, 6108304, bson.D{{Key: "count", Value: "c"}, {Key: "query", Value: bson.D{{Key: "$where", Value: "true"}}}})
	failsWith(t, db, 31264, bson.D{{Key: "mapReduce", Value: "c"}, {Key: "map", Value: "function() {}"}, {Key: "reduce", Value: "function() {}"}, {Key: "out", Value: bson.D{{Key: "inline", Value: 1}}}})
	if got := command(t, db, bson.D{{Key: "buildInfo", Value: 1}}); got["javascriptEngine"] != "none" {
		t.Error(got["javascriptEngine"])
	}
}

// v2Where reads through batches, each of which has a scope of its own.
func v2Where(t *testing.T, c *mongo.Collection) {
	t.Helper()
	cur, err := c.Find(t.Context(), bson.D{{Key: "$where", Value: bson.JavaScript("function() { return even(this.n.v) && obj.k == 0 }")}}, options.Find().SetBatchSize(100))
	if err != nil {
		t.Fatal(err)
	}
	var got []bson.M
	if err := cur.All(t.Context(), &got); err != nil || len(got) != 500 {
		t.Fatal(len(got), err)
	}
}

func v2MapReduce(t *testing.T, db *mongo.Database) {
	t.Helper()
	body := bson.D{
		{Key: "mapReduce", Value: "c"}, {Key: "map", Value: bson.JavaScript("function() { if (even(this.n.v)) emit(this.k, 1) }")},
		{Key: "reduce", Value: bson.JavaScript("function(k, v) { return Array.sum(v) }")},
	}
	reply := command(t, db, append(body, bson.E{Key: "out", Value: bson.D{{Key: "inline", Value: 1}}}))
	if results, ok := reply["results"].(bson.A); !ok || len(results) != 3 {
		t.Error(reply)
	}
	command(t, db, append(body, bson.E{Key: "out", Value: "reduced"}))
	if n, err := db.Collection("reduced").CountDocuments(t.Context(), bson.D{}); n != 3 || err != nil {
		t.Error(n, err)
	}
}

// v2Kill ends endless scripts.
func v2Kill(t *testing.T, db *mongo.Database) {
	t.Helper()
	endless := bson.D{{Key: "count", Value: "c"}, {Key: "comment", Value: "endless"}, {Key: "query", Value: bson.D{{Key: "$where", Value: "for (;;) {}"}}}}
	failsWith(t, db, 50, append(endless, bson.E{Key: "maxTimeMS", Value: 100}))
	done := make(chan error, 1)
	go func() { done <- db.RunCommand(context.Background(), endless).Err() }()
	admin := db.Client().Database("admin")
	for killed := false; !killed; {
		cur, err := admin.Aggregate(t.Context(), bson.A{bson.D{{Key: "$currentOp", Value: bson.D{}}}, bson.D{{Key: "$match", Value: bson.D{{Key: "command.comment", Value: "endless"}}}}})
		if err != nil {
			t.Fatal(err)
		}
		for cur.Next(t.Context()) {
			command(t, admin, bson.D{{Key: "killOp", Value: 1}, {Key: "op", Value: cur.Current.Lookup("opid")}})
			killed = true
		}
	}
	select {
	case err := <-done:
		var failed mongo.CommandError
		if !errors.As(err, &failed) || failed.Code != 11601 {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the script goes on")
	}
}

func v2ScriptsRefused(t *testing.T, db *mongo.Database) {
	t.Helper()
	function := bson.D{{Key: "$function", Value: bson.D{{Key: "body", Value: "function() { return 1 }"}, {Key: "args", Value: bson.A{}}, {Key: "lang", Value: "js"}}}}
	failsWith(t, db, 323, bson.D{
		{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$project", Value: bson.D{{Key: "x", Value: function}}}}}},
		{Key: "cursor", Value: bson.D{}}, {Key: "apiVersion", Value: "1"}, {Key: "apiStrict", Value: true},
	})
	err := db.RunCommand(t.Context(), bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: bson.D{{Key: "$where", Value: "this.n.v.x.y"}}}}).Err()
	var failed mongo.CommandError
	if !errors.As(err, &failed) || failed.Code != 139 || !strings.HasPrefix(failed.Message, "Executor error during find command: "+db.Name()+".c :: caused by :: TypeError: ") {
		t.Error(err)
	}
}

func failsWith(t *testing.T, db *mongo.Database, code int32, body bson.D) {
	t.Helper()
	var failed mongo.CommandError
	if err := db.RunCommand(t.Context(), body).Err(); !errors.As(err, &failed) || failed.Code != code {
		t.Errorf("%v: %v, want %d", body, err, code)
	}
}
