package compat

import (
	"bytes"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/gridfs"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// connectV1 opens a client of the Go driver v1 for the length of a test.
func connectV1(t *testing.T, uri string) *mongo.Client {
	t.Helper()
	c, err := mongo.Connect(t.Context(), options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(t.Context()) })
	return c
}

func TestGoV1(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, o := range []string{"appName=v1", "compressors=snappy", "compressors=zlib&zlibCompressionLevel=9", "compressors=zstd"} {
		t.Run(o, func(t *testing.T) {
			db := connectV1(t, s.with(o)).Database("v1")
			v1CRUD(t, db.Collection("crud"))
			v1Bulk(t, db.Collection("bulk"))
			v1GridFS(t, db)
			if err := db.Drop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func v1CRUD(t *testing.T, c *mongo.Collection) {
	t.Helper()
	ctx := t.Context()
	var docs []any
	for i := range 500 {
		docs = append(docs, bson.M{"_id": i, "even": i%2 == 0})
	}
	if _, err := c.InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
	cur, err := c.Find(ctx, bson.M{"even": true}, options.Find().SetBatchSize(33).SetSort(bson.M{"_id": -1}).SetLimit(200))
	if err != nil {
		t.Fatal(err)
	}
	var got []struct {
		ID int `bson:"_id"`
	}
	if err := cur.All(ctx, &got); err != nil || len(got) != 200 || got[0].ID != 498 || got[199].ID != 100 {
		t.Errorf("%d documents: %v", len(got), err)
	}
	up, err := c.UpdateMany(ctx, bson.M{"even": true}, bson.M{"$currentDate": bson.M{"at": true}})
	if err != nil || up.ModifiedCount != 250 {
		t.Error(up, err)
	}
	if n, err := c.EstimatedDocumentCount(ctx); err != nil || n != 500 {
		t.Error(n, err)
	}
	if _, err := c.InsertOne(ctx, bson.M{"_id": 1}); !mongo.IsDuplicateKeyError(err) {
		t.Errorf("duplicate: %v", err)
	}
	if r := c.FindOneAndDelete(ctx, bson.M{"_id": 1}); r.Err() != nil {
		t.Error(r.Err())
	}
}

func v1Bulk(t *testing.T, c *mongo.Collection) {
	t.Helper()
	r, err := c.BulkWrite(t.Context(), []mongo.WriteModel{
		mongo.NewInsertOneModel().SetDocument(bson.M{"_id": 1}),
		mongo.NewUpdateManyModel().SetFilter(bson.M{}).SetUpdate(bson.M{"$set": bson.M{"a": 1}}),
		mongo.NewDeleteManyModel().SetFilter(bson.M{}),
	}, options.BulkWrite().SetOrdered(true))
	if err != nil || r.InsertedCount != 1 || r.ModifiedCount != 1 || r.DeletedCount != 1 {
		t.Error(r, err)
	}
}

func v1GridFS(t *testing.T, db *mongo.Database) {
	t.Helper()
	bucket, err := gridfs.NewBucket(db)
	if err != nil {
		t.Fatal(err)
	}
	content := bytes.Repeat([]byte("dusk"), 200_000)
	id, err := bucket.UploadFromStream("f", bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	var back bytes.Buffer
	if _, err := bucket.DownloadToStream(id, &back); err != nil || !bytes.Equal(back.Bytes(), content) {
		t.Errorf("%d bytes came back: %v", back.Len(), err)
	}
}

// A TTL index, with the clock moved by the client.
func TestGoV1Expiry(t *testing.T) {
	t.Parallel()
	c := connectV1(t, start(t, "--test-clock").URI)
	coll := c.Database("v1").Collection("expiry")
	index := mongo.IndexModel{Keys: bson.M{"at": 1}, Options: options.Index().SetExpireAfterSeconds(3600)}
	if _, err := coll.Indexes().CreateOne(t.Context(), index); err != nil {
		t.Fatal(err)
	}
	if _, err := coll.InsertMany(t.Context(), []any{bson.M{"at": time.Now()}, bson.M{"at": time.Now().Add(24 * time.Hour)}}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		seconds int
		left    int64
	}{{3000, 2}, {601, 1}, {24 * 3600, 0}} {
		cmd := bson.D{{Key: "testClock", Value: 1}, {Key: "advanceSeconds", Value: step.seconds}}
		if err := c.Database("admin").RunCommand(t.Context(), cmd).Err(); err != nil {
			t.Fatal(err)
		}
		if n, err := coll.CountDocuments(t.Context(), bson.M{}); err != nil || n != step.left {
			t.Errorf("%d left (%v), want %d", n, err, step.left)
		}
	}
}
