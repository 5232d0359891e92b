package compat

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func TestGoV2(t *testing.T) {
	t.Parallel()
	c := connect(t, start(t).URI)
	for name, test := range map[string]func(*testing.T, *mongo.Database){
		"crud": v2CRUD, "errors": v2Errors, "indexes": v2Indexes, "cursors": v2Cursors, "sessions": v2Sessions,
		"bulkWrite": v2BulkWrite, "clientBulkWrite": v2ClientBulkWrite, "clientBulkWriteErrors": v2ClientBulkWriteErrors, "collation": v2Collation,
		"gridfs": v2GridFS, "inventory": v2Inventory,
	} {
		t.Run(name, func(t *testing.T) { test(t, c.Database("v2_"+name)) })
	}
}

func v2CRUD(t *testing.T, db *mongo.Database) {
	ctx, c := t.Context(), db.Collection("c")
	one, err := c.InsertOne(ctx, bson.D{{Key: "n", Value: 1}})
	if _, ok := one.InsertedID.(bson.ObjectID); err != nil || !ok {
		t.Fatal(one, err)
	}
	up, err := c.UpdateOne(ctx, bson.D{{Key: "_id", Value: 7}}, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 5}}}}, options.UpdateOne().SetUpsert(true))
	if err != nil || up.UpsertedID != int32(7) {
		t.Fatal(up, err)
	}
	var after struct{ N int }
	err = c.FindOneAndUpdate(ctx, bson.D{{Key: "_id", Value: 7}}, mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: "n", Value: bson.D{{Key: "$multiply", Value: bson.A{"$n", 2}}}}}}}},
		options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&after)
	if err != nil || after.N != 10 {
		t.Fatal(after, err)
	}
	rep, err := c.ReplaceOne(ctx, bson.D{{Key: "n", Value: 10}}, bson.D{{Key: "n", Value: 11}}, options.Replace().SetSort(bson.D{{Key: "_id", Value: 1}}))
	if err != nil || rep.ModifiedCount != 1 {
		t.Fatal(rep, err)
	}
	del, err := c.DeleteMany(ctx, bson.D{{Key: "n", Value: bson.D{{Key: "$in", Value: bson.A{1, 11}}}}})
	if err != nil || del.DeletedCount != 2 {
		t.Fatal(del, err)
	}
	if err := c.FindOne(ctx, bson.D{}).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
		t.Fatal(err)
	}
}

func v2Errors(t *testing.T, db *mongo.Database) {
	ctx, c := t.Context(), db.Collection("c")
	if _, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	_, err := c.InsertMany(ctx, []any{bson.D{{Key: "_id", Value: 2}}, bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "_id", Value: 3}}}, options.InsertMany().SetOrdered(false))
	var bulk mongo.BulkWriteException
	if !mongo.IsDuplicateKeyError(err) || !errors.As(err, &bulk) || len(bulk.WriteErrors) != 1 || bulk.WriteErrors[0].Index != 1 {
		t.Errorf("unordered insert with a duplicate: %v", err)
	}
	if n := count(t, c); n != 3 {
		t.Errorf("%d documents, want 3", n)
	}
	var ce mongo.CommandError
	if err := db.RunCommand(ctx, bson.D{{Key: "nope", Value: 1}}).Err(); !errors.As(err, &ce) || ce.Code != 59 || ce.Name != "CommandNotFound" {
		t.Errorf("unknown command: %v", err)
	}
	big := bson.D{{Key: "b", Value: bytes.Repeat([]byte{1}, 17<<20)}}
	if _, err := c.InsertOne(ctx, big); err == nil {
		t.Error("a document of 17 MiB was accepted")
	}
	if n := count(t, c); n != 3 {
		t.Errorf("%d documents after a refused one, want 3", n)
	}
}

func v2Indexes(t *testing.T, db *mongo.Database) {
	ctx, view := t.Context(), db.Collection("c").Indexes()
	names, err := view.CreateMany(ctx, []mongo.IndexModel{
		{Keys: bson.D{{Key: "a", Value: 1}, {Key: "b", Value: -1}}, Options: options.Index().SetUnique(true)},
		{Keys: bson.D{{Key: "at", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(3600)},
		{Keys: bson.D{{Key: "h", Value: 1}}, Options: options.Index().SetHidden(true).SetSparse(true).SetName("mine")},
	})
	if err != nil || names[0] != "a_1_b_-1" || names[2] != "mine" {
		t.Fatal(names, err)
	}
	specs, err := view.ListSpecifications(ctx)
	if err != nil || len(specs) != 4 || *specs[2].ExpireAfterSeconds != 3600 || !*specs[1].Unique || !*specs[3].Sparse {
		t.Fatal(specs, err)
	}
	if err := view.DropOne(ctx, "mine"); err != nil {
		t.Error(err)
	}
	if err := view.DropAll(ctx); err != nil {
		t.Error(err)
	}
}

func v2Cursors(t *testing.T, db *mongo.Database) {
	ctx, c := t.Context(), db.Collection("c")
	docs := make([]bson.D, 1000)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i}}
	}
	insertAll(t, c, docs)
	cur, err := c.Find(ctx, bson.D{}, options.Find().SetBatchSize(100))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 250 {
		if !cur.Next(ctx) || int(cur.Current.Lookup("_id").Int32()) != i {
			t.Fatal(i, cur.Err(), cur.Current)
		}
	}
	id := cur.ID()
	if err := cur.Close(ctx); err != nil {
		t.Error(err)
	}
	err = db.RunCommand(ctx, bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}}).Err()
	var ce mongo.CommandError
	if !errors.As(err, &ce) || ce.Code != 43 {
		t.Errorf("getMore on a killed cursor: %v, want CursorNotFound", err)
	}
	var all []bson.Raw
	cur, err = db.RunCommandCursor(ctx, bson.D{{Key: "find", Value: "c"}, {Key: "batchSize", Value: 0}})
	if err != nil {
		t.Fatal(err)
	}
	for cur.Next(ctx) {
		all = append(all, cur.Current)
	}
	if cur.Err() != nil || len(all) != 1000 {
		t.Errorf("%d documents with an empty first batch: %v", len(all), cur.Err())
	}
}

func v2Sessions(t *testing.T, db *mongo.Database) {
	err := db.Client().UseSession(t.Context(), func(ctx context.Context) error {
		if _, err := db.Collection("c").InsertOne(ctx, bson.D{{Key: "_id", Value: 1}}); err != nil {
			return err
		}
		return db.Collection("c").FindOne(ctx, bson.D{{Key: "_id", Value: 1}}).Err()
	})
	if err != nil {
		t.Error(err)
	}
}

func v2BulkWrite(t *testing.T, db *mongo.Database) {
	one := bson.D{{Key: "_id", Value: 1}}
	r, err := db.Collection("c").BulkWrite(t.Context(), []mongo.WriteModel{
		mongo.NewInsertOneModel().SetDocument(one),
		mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: 2}}).SetUpdate(bson.D{{Key: "$set", Value: bson.D{{Key: "a", Value: 1}}}}).SetUpsert(true),
		mongo.NewReplaceOneModel().SetFilter(one).SetReplacement(bson.D{{Key: "a", Value: 2}}),
		mongo.NewDeleteOneModel().SetFilter(one),
	})
	if err != nil || r.InsertedCount != 1 || r.UpsertedCount != 1 || r.ModifiedCount != 1 || r.DeletedCount != 1 {
		t.Error(r, err)
	}
}

func v2ClientBulkWrite(t *testing.T, db *mongo.Database) {
	write := func(coll string, m mongo.ClientWriteModel) mongo.ClientBulkWrite {
		return mongo.ClientBulkWrite{Database: db.Name(), Collection: coll, Model: m}
	}
	r, err := db.Client().BulkWrite(t.Context(), []mongo.ClientBulkWrite{
		write("a", mongo.NewClientInsertOneModel().SetDocument(bson.D{{Key: "_id", Value: 1}})),
		write("b", mongo.NewClientInsertOneModel().SetDocument(bson.D{{Key: "_id", Value: 1}})),
		write("a", mongo.NewClientUpdateOneModel().SetFilter(bson.D{}).SetUpdate(bson.D{{Key: "$set", Value: bson.D{{Key: "x", Value: 1}}}})),
		write("b", mongo.NewClientDeleteManyModel().SetFilter(bson.D{})),
	}, options.ClientBulkWrite().SetVerboseResults(true))
	if err != nil || r.InsertedCount != 2 || r.ModifiedCount != 1 || r.DeletedCount != 1 || len(r.UpdateResults) != 1 {
		t.Error(r, err)
	}
}

// v2ClientBulkWriteErrors has some operations of a bulk fail, with and without
// the results of the others and an order to keep.
func v2ClientBulkWriteErrors(t *testing.T, db *mongo.Database) {
	ctx := t.Context()
	valid := bson.D{{Key: "a", Value: bson.D{{Key: "$exists", Value: true}}}}
	if err := db.CreateCollection(ctx, "strict", options.CreateCollection().SetValidator(valid)); err != nil {
		t.Fatal(err)
	}
	write := func(coll string, m mongo.ClientWriteModel) mongo.ClientBulkWrite {
		return mongo.ClientBulkWrite{Database: db.Name(), Collection: coll, Model: m}
	}
	id := func(n int) bson.D { return bson.D{{Key: "_id", Value: n}} }
	run := func(first int, ordered, verbose bool) mongo.ClientBulkWriteException {
		_, err := db.Client().BulkWrite(ctx, []mongo.ClientBulkWrite{
			write("c", mongo.NewClientInsertOneModel().SetDocument(id(first))),
			write("c", mongo.NewClientInsertOneModel().SetDocument(id(first))),
			write("c", mongo.NewClientUpdateManyModel().SetFilter(id(first+1)).SetUpdate(bson.D{{Key: "$set", Value: bson.D{{Key: "x", Value: 1}}}}).SetUpsert(true)),
			write("strict", mongo.NewClientInsertOneModel().SetDocument(id(1))),
			write("c", mongo.NewClientDeleteOneModel().SetFilter(id(99))),
		}, options.ClientBulkWrite().SetVerboseResults(verbose).SetOrdered(ordered))
		var e mongo.ClientBulkWriteException
		if !errors.As(err, &e) || e.WriteError != nil || e.WriteErrors[1].Code != 11000 || e.PartialResult == nil {
			t.Fatalf("%+v", err)
		}
		return e
	}
	e := run(1, false, true)
	if len(e.WriteErrors) != 2 || e.WriteErrors[3].Code != 121 || e.WriteErrors[3].Details.Lookup("details").Type == 0 {
		t.Errorf("errors %+v", e.WriteErrors)
	}
	r := e.PartialResult
	if r.InsertedCount != 1 || r.UpsertedCount != 1 || r.UpdateResults[2].UpsertedID != int32(2) || r.DeleteResults[4].DeletedCount != 0 || len(r.InsertResults) != 1 {
		t.Errorf("partial result %+v", r)
	}
	if e = run(11, false, false); len(e.WriteErrors) != 2 || e.PartialResult.UpsertedCount != 1 || e.PartialResult.HasVerboseResults {
		t.Errorf("without results: %+v", e)
	}
	if e = run(21, true, true); len(e.WriteErrors) != 1 || e.PartialResult.InsertedCount != 1 || e.PartialResult.UpsertedCount != 0 {
		t.Errorf("in order: %+v", e)
	}
}

func v2Collation(t *testing.T, db *mongo.Database) {
	ctx, c := t.Context(), db.Collection("c")
	if _, err := c.InsertMany(ctx, []any{bson.D{{Key: "s", Value: "côte"}}, bson.D{{Key: "s", Value: "COTE"}}, bson.D{{Key: "s", Value: "zebra"}}}); err != nil {
		t.Fatal(err)
	}
	base := &options.Collation{Locale: "fr", Strength: 1}
	n, err := c.CountDocuments(ctx, bson.D{{Key: "s", Value: "cote"}}, options.Count().SetCollation(base))
	if err != nil || n != 2 {
		t.Errorf("%d at strength 1 (%v), want 2", n, err)
	}
	n, err = c.CountDocuments(ctx, bson.D{{Key: "s", Value: "cote"}}, options.Count().SetCollation(&options.Collation{Locale: "fr", Strength: 2}))
	if err != nil || n != 1 {
		t.Errorf("%d at strength 2 (%v), want 1", n, err)
	}
}

func v2GridFS(t *testing.T, db *mongo.Database) {
	ctx := t.Context()
	content := make([]byte, 700_000)
	_, _ = rand.Read(content)
	bucket := db.GridFSBucket(options.GridFSBucket().SetChunkSizeBytes(100_000))
	id, err := bucket.UploadFromStream(ctx, "noise", bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	stream, err := bucket.OpenDownloadStreamByName(ctx, "noise")
	if err != nil {
		t.Fatal(err)
	}
	back, err := io.ReadAll(stream)
	if err != nil || !bytes.Equal(back, content) {
		t.Errorf("%d bytes came back: %v", len(back), err)
	}
	if n := count(t, db.Collection("fs.chunks")); n != 7 {
		t.Errorf("%d chunks, want 7", n)
	}
	if err := bucket.Delete(ctx, id); err != nil {
		t.Error(err)
	}
	if n := count(t, db.Collection("fs.chunks")); n != 0 {
		t.Errorf("%d chunks after the file was deleted", n)
	}
}

func v2Inventory(t *testing.T, db *mongo.Database) {
	ctx := t.Context()
	if err := db.CreateCollection(ctx, "capped", options.CreateCollection().SetCapped(true).SetSizeInBytes(4096)); err != nil {
		t.Error(err)
	}
	if err := db.CreateView(ctx, "view", "capped", mongo.Pipeline{}); err != nil {
		t.Error(err)
	}
	names, err := db.ListCollectionNames(ctx, bson.D{{Key: "type", Value: "collection"}})
	if err != nil || len(names) != 2 { // capped and system.views
		t.Error(names, err)
	}
	var view struct {
		ID string `bson:"_id"`
		On string `bson:"viewOn"`
	}
	if err := db.Collection("system.views").FindOne(ctx, bson.D{}).Decode(&view); err != nil || view.ID != db.Name()+".view" || view.On != "capped" {
		t.Error(view, err)
	}
	v2NaturalSort(t, db)
	dbs, err := db.Client().ListDatabases(ctx, bson.D{{Key: "name", Value: db.Name()}})
	if err != nil || len(dbs.Databases) != 1 || dbs.Databases[0].Empty {
		t.Error(dbs, err)
	}
	if err := db.Drop(ctx); err != nil {
		t.Error(err)
	}
}

// v2NaturalSort reads a collection and a view of it from both ends.
func v2NaturalSort(t *testing.T, db *mongo.Database) {
	ctx := t.Context()
	if _, err := db.Collection("capped").InsertMany(ctx, []any{bson.D{{Key: "_id", Value: 3}}, bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "_id", Value: 2}}}); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"capped", "view"} {
		for direction, want := range map[int]int{1: 3, -1: 2} {
			var first struct {
				ID int `bson:"_id"`
			}
			err := db.Collection(name).FindOne(ctx, bson.D{}, options.FindOne().SetSort(bson.D{{Key: "$natural", Value: direction}})).Decode(&first)
			if err != nil || first.ID != want {
				t.Errorf("%s by $natural %d: first %d, %v; want %d", name, direction, first.ID, err, want)
			}
		}
	}
}
