package compat

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// dumpAndRestore copies the database from one server to another, and compares
// a dump of the copy.
func dumpAndRestore(t *testing.T, from, to *mongo.Client) {
	names, err := from.ListDatabaseNames(t.Context(), bson.D{})
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	command(t, from.Database("admin"), d("buildInfo", 1))
	dump1 := dump(t, from.Database("app"))
	if len(dump1) != 6 {
		t.Errorf("dumped %d collections", len(dump1))
	}
	app := to.Database("app")
	for name, data := range dump1 {
		restoreCollection(t, app, name, data)
	}
	dump2 := dump(t, app)
	for name, data := range dump1 {
		if got, want := dump2[name].info.Lookup("options").String(), data.info.Lookup("options").String(); got != want {
			t.Errorf("restored\n%s\nof %s", got, want)
		}
		if diff := cmp.Diff(data.indexes, dump2[name].indexes); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(data.docs, dump2[name].docs); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if n, err := app.Collection("series").CountDocuments(t.Context(), bson.D{}); n != 3 || err != nil {
		t.Errorf("%d measurements, %v", n, err)
	}
	restoreUsers(t, from.Database("admin"), to.Database("admin"))
}

// restoreCollection makes a collection, fills it and then builds its indexes,
// whose version is left to the server.
func restoreCollection(t *testing.T, db *mongo.Database, name string, data dumped) {
	t.Helper()
	create := bson.D{{Key: "create", Value: name}}
	var opts bson.D
	if err := bson.Unmarshal(data.info.Lookup("options").Document(), &opts); err != nil {
		t.Fatal(err)
	}
	create = append(create, opts...)
	command(t, db, create)
	target := db.Collection(name)
	if data.info.Lookup("type").StringValue() == "timeseries" {
		target = db.Collection("system.buckets." + name)
	}
	if len(data.docs) > 0 {
		if _, err := target.InsertMany(t.Context(), data.docs, options.InsertMany().SetOrdered(false).SetBypassDocumentValidation(true)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var indexes bson.A
	for _, x := range data.indexes {
		index := bson.D{}
		for _, e := range x {
			if e.Key != "v" {
				index = append(index, e)
			}
		}
		if key := x[1]; key.Key != "key" || len(key.Value.(bson.D)) != 1 || key.Value.(bson.D)[0].Key != "_id" {
			indexes = append(indexes, append(index, bson.E{Key: "ns", Value: db.Name() + "." + name}))
		}
	}
	if len(indexes) > 0 {
		command(t, db, d("createIndexes", name, "indexes", indexes, "ignoreUnknownIndexOptions", true))
	}
}

// restoreUsers copies users and roles through collections for the purpose.
func restoreUsers(t *testing.T, from, to *mongo.Database) {
	t.Helper()
	for name, temporary := range map[string]string{"system.users": "tempusers", "system.roles": "temproles"} {
		docs := dumpDocuments(t, from.Collection(name))
		if len(docs) == 0 {
			t.Fatalf("%s is empty", name)
		}
		if _, err := to.Collection(temporary).InsertMany(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
	}
	var version struct{ CurrentVersion int }
	if err := from.Collection("system.version").FindOne(t.Context(), d("_id", "authSchema")).Decode(&version); err != nil || version.CurrentVersion != 5 {
		t.Errorf("schema of users: %+v, %v", version, err)
	}
	command(t, to, d("_mergeAuthzCollections", 1, "tempUsersCollection", "admin.tempusers", "tempRolesCollection", "admin.temproles",
		"drop", true, "db", "", "writeConcern", d("w", "majority")))
	var reply struct {
		Users []struct {
			ID    string `bson:"_id"`
			Roles []struct{ Role, DB string }
		}
	}
	if err := to.Client().Database("app").RunCommand(t.Context(), d("usersInfo", "ada")).Decode(&reply); err != nil || len(reply.Users) != 1 ||
		reply.Users[0].ID != "app.ada" || len(reply.Users[0].Roles) != 1 || reply.Users[0].Roles[0].Role != "reader" {
		t.Errorf("%+v, %v", reply, err)
	}
}

// dumpOplog reads what happened while a dump was made, as --oplog does, and
// replays it.
func dumpOplog(t *testing.T, c *mongo.Client, member bool) {
	var hello bson.M
	if err := c.Database("admin").RunCommand(t.Context(), d("isMaster", 1)).Decode(&hello); err != nil || hello["ismaster"] != true {
		t.Fatal(hello, err)
	}
	if _, hosts := hello["hosts"]; hosts != member {
		t.Fatalf("hosts of a member: %v", hello["hosts"])
	}
	if !member {
		return // the tool says that there is no oplog
	}
	err := c.Database("config").Collection("transactions").FindOne(t.Context(), d("state", d("$in", bson.A{"prepared", "inProgress"})),
		options.FindOne().SetSort(d("startOpTime", 1))).Err()
	if !errors.Is(err, mongo.ErrNoDocuments) {
		t.Errorf("transactions: %v", err)
	}
	oplog := c.Database("local").Collection("oplog.rs")
	end := func(order int) (at bson.Timestamp) {
		t.Helper()
		var entry struct{ TS bson.Timestamp }
		if err := oplog.FindOne(t.Context(), bson.D{}, options.FindOne().SetSort(d("$natural", order))).Decode(&entry); err != nil {
			t.Fatal(err)
		}
		return entry.TS
	}
	// A client that reads the oplog makes the server keep it from here on.
	first := end(-1)
	moving := c.Database("app").Collection("moving")
	if _, err := moving.InsertOne(t.Context(), d("_id", 1, "n", 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := moving.UpdateByID(t.Context(), 1, d("$inc", d("n", 1))); err != nil {
		t.Fatal(err)
	}
	last := end(-1)
	if oldest := end(1); oldest.After(first) {
		t.Errorf("the oplog begins at %v, after %v", oldest, first)
	}
	//nolint:staticcheck // SA1019: mongodump sets it
	cursor, err := oplog.Find(t.Context(), d("$and", bson.A{d("ts", d("$gte", first)), d("ts", d("$lte", last))}), options.Find().SetOplogReplay(true))
	if err != nil {
		t.Fatal(err)
	}
	var entries []bson.D
	if err := cursor.All(t.Context(), &entries); err != nil || len(entries) < 3 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	if err := moving.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries[1:] {
		command(t, c.Database("admin"), d("applyOps", bson.A{replayed(e)}))
	}
	var doc struct{ N int }
	if err := moving.FindOne(t.Context(), d("_id", 1)).Decode(&doc); err != nil || doc.N != 2 {
		t.Errorf("replayed: %+v, %v", doc, err)
	}
}

// replayed is an entry without the UUID of its collection, which may be
// another one now.
func replayed(entry bson.D) bson.D {
	out := bson.D{}
	for _, e := range entry {
		if e.Key != "ui" {
			out = append(out, e)
		}
	}
	return out
}
