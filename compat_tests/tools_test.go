package compat

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// What MongoDB's database tools send, in their order and with their options,
// and what they read of the replies: mongodump with --oplog, mongorestore with
// users, mongostat, mongotop, mongoimport, mongoexport, and Compass.
func TestTools(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"standalone": nil, "member": {"--replSet", "rs0"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := toolClient(t, start(t, flags...).URI), toolClient(t, start(t, flags...).URI)
			fillApp(t, from)
			t.Run("dump and restore", func(t *testing.T) { dumpAndRestore(t, from, to) })
			t.Run("oplog", func(t *testing.T) { dumpOplog(t, from, flags != nil) })
			t.Run("stat", func(t *testing.T) { readStatus(t, from, flags != nil) })
			t.Run("top", func(t *testing.T) { readTop(t, from) })
			t.Run("export", func(t *testing.T) { exportApp(t, from) })
			t.Run("import", func(t *testing.T) { importModes(t, to) })
			t.Run("Compass", func(t *testing.T) { browse(t, from) })
		})
	}
}

// toolClient connects as the tools do.
func toolClient(t *testing.T, uri string) *mongo.Client {
	t.Helper()
	return connect(t, uri, options.Client().SetAppName("mongodump").SetWriteConcern(writeconcern.Majority()))
}

// d is a document of names and values, in turns.
func d(pairs ...any) bson.D {
	out := bson.D{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return out
}

// fillApp makes a database with collections of all kinds, and users.
func fillApp(t *testing.T, c *mongo.Client) {
	t.Helper()
	app := c.Database("app")
	for _, cmd := range []bson.D{
		d("create", "plain"),
		d("create", "capped", "capped", true, "size", 4096, "max", 3),
		d("create", "clustered", "clusteredIndex", d("key", d("_id", 1), "unique", true), "expireAfterSeconds", int64(3600)),
		d("create", "checked", "validator", d("n", d("$gt", 0)), "validationLevel", "moderate", "collation", d("locale", "en", "strength", 2)),
		d("create", "series", "timeseries", d("timeField", "t", "metaField", "m", "granularity", "minutes"), "expireAfterSeconds", int64(1<<30)),
		d("create", "some", "viewOn", "plain", "pipeline", bson.A{d("$match", d("_id", d("$lt", 10)))}),
		d("createIndexes", "plain", "indexes", bson.A{
			d("key", d("$**", 1), "name", "$**_1"), d("key", d("at", 1), "name", "at_1", "expireAfterSeconds", 1<<30),
			d("key", d("s", "text"), "name", "s_text"), d("key", d("n", -1), "name", "n_-1", "unique", true, "partialFilterExpression", d("n", d("$gt", 5))),
		}),
		d("createRole", "reader", "privileges", bson.A{}, "roles", bson.A{"read"}),
		d("createUser", "ada", "pwd", "secret", "roles", bson.A{"reader"}),
	} {
		command(t, app, cmd)
	}
	var plain []any
	for i := range 2500 {
		plain = append(plain, d("_id", i, "n", i, "s", "text"))
	}
	for name, docs := range map[string][]any{
		"plain": plain, "capped": {d("_id", 1), d("_id", 2)}, "clustered": {d("_id", "x")}, "checked": {d("_id", 1, "n", 1)},
		"series": {d("t", bson.DateTime(1.8e12), "m", "a", "v", 1), d("t", bson.DateTime(1.8e12+1000), "m", "a", "v", 2), d("t", bson.DateTime(1.8e12), "m", "b", "v", 3)},
	} {
		if _, err := app.Collection(name).InsertMany(t.Context(), docs); err != nil {
			t.Fatal(name, err)
		}
	}
}

// dumped is what a dump has of a collection.
type dumped struct {
	info    bson.Raw
	indexes []bson.D
	docs    []any
}

// dump reads a database as mongodump does. Of a view nothing is read but its
// options, of a time series its buckets.
func dump(t *testing.T, db *mongo.Database) map[string]dumped {
	t.Helper()
	out := map[string]dumped{}
	infos, err := db.ListCollections(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	for infos.Next(t.Context()) {
		info := slices.Clone(infos.Current)
		name := info.Lookup("name").StringValue()
		if len(name) > 7 && name[:7] == "system." {
			continue
		}
		data := dumped{info: info}
		if kind := info.Lookup("type").StringValue(); kind != "view" {
			cursor, err := db.Collection(name).Indexes().List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := cursor.All(t.Context(), &data.indexes); err != nil {
				t.Fatal(err)
			}
			source := db.Collection(name)
			if kind == "timeseries" {
				source = db.Collection("system.buckets." + name)
			}
			data.docs = dumpDocuments(t, source)
		}
		out[name] = data
	}
	return out
}

// dumpDocuments counts, which shows how far the tool is, and reads all.
func dumpDocuments(t *testing.T, c *mongo.Collection) (docs []any) {
	t.Helper()
	command(t, c.Database(), d("collStats", c.Name()))
	n, err := c.EstimatedDocumentCount(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cursor, err := c.Find(t.Context(), bson.D{}, options.Find().SetNoCursorTimeout(true))
	if err != nil {
		t.Fatal(err)
	}
	for cursor.Next(t.Context()) {
		docs = append(docs, slices.Clone(cursor.Current))
	}
	if err := cursor.Err(); err != nil || int(n) != len(docs) {
		t.Errorf("%s: %d documents, %d counted, %v", c.Name(), len(docs), n, err)
	}
	return docs
}
