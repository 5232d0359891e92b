package compat

import (
	"context"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// status is what mongostat reads. What is a pointer here it follows without
// looking, or leaves its column empty for want of it.
type status struct {
	Host         string
	Process      string
	UptimeMillis int64
	Asserts      map[string]int64
	Connections  *struct{ Current int64 }
	GlobalLock   *struct {
		CurrentQueue, ActiveClients *struct{ Readers, Writers int64 }
	}
	Network    *struct{ BytesIn, BytesOut, NumRequests int64 }
	Opcounters *struct{ Insert, Query, Update, Delete, Getmore, Command int64 }
	Mem        *struct {
		Bits, Resident, Virtual int64
		Supported               bool
	}
	StorageEngine *struct{ Name string }
	Repl          *struct {
		SetName           string
		IsWritablePrimary bool `bson:"isWritablePrimary"`
		Hosts             []string
		Me                string
	}
}

func readStatus(t *testing.T, c *mongo.Client, member bool) {
	sample := func() (s status) {
		t.Helper()
		if err := c.Database("admin").RunCommand(t.Context(), d("serverStatus", 1, "recordStats", 0)).Decode(&s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := sample()
	insertAll(t, c.Database("app").Collection("stat"), []bson.D{d("_id", 1), d("_id", 2)})
	_ = c.Database("app").Collection("stat").FindOne(t.Context(), bson.D{})
	after := sample()
	if after.Connections == nil || after.Network == nil || after.Opcounters == nil || after.Mem == nil || after.GlobalLock == nil ||
		after.GlobalLock.CurrentQueue == nil || after.GlobalLock.ActiveClients == nil || after.StorageEngine == nil {
		t.Fatalf("the status lacks a part: %+v", after)
	}
	if n := after.Opcounters.Insert - before.Opcounters.Insert; n != 2 {
		t.Errorf("%d inserts", n)
	}
	if n := after.Opcounters.Query - before.Opcounters.Query; n != 1 {
		t.Errorf("%d queries", n)
	}
	if after.Network.BytesIn <= before.Network.BytesIn || after.Network.BytesOut <= before.Network.BytesOut || after.Opcounters.Command <= before.Opcounters.Command {
		t.Errorf("nothing came or went: %+v, %+v", before.Network, after.Network)
	}
	if after.Connections.Current < 1 || !after.Mem.Supported || after.Mem.Resident < 1 || after.Host == "" || after.Process == "" {
		t.Errorf("%+v", after)
	}
	if member && (after.Repl == nil || after.Repl.SetName != "rs0" || !after.Repl.IsWritablePrimary || len(after.Repl.Hosts) != 1) || !member && after.Repl != nil {
		t.Errorf("repl: %+v", after.Repl)
	}
}

// readTop takes two samples and shows the difference, as mongotop does.
func readTop(t *testing.T, c *mongo.Client) {
	type field struct{ Time, Count int }
	type usage struct{ Total, ReadLock, WriteLock field }
	sample := func() usage {
		t.Helper()
		var reply struct{ Totals bson.Raw }
		if err := c.Database("admin").RunCommand(t.Context(), d("top", 1)).Decode(&reply); err != nil {
			t.Fatal(err)
		}
		elements, err := reply.Totals.Elements()
		if err != nil {
			t.Fatal(err)
		}
		var found usage
		for _, e := range elements {
			if e.Key() == "note" {
				continue
			}
			var u usage
			if err := bson.Unmarshal(e.Value().Document(), &u); err != nil {
				t.Errorf("%s: %v", e.Key(), err)
			}
			if e.Key() == "app.top" {
				found = u
			}
		}
		return found
	}
	top := c.Database("app").Collection("top")
	insertAll(t, top, []bson.D{d("_id", 1)})
	before := sample()
	if _, err := top.InsertOne(t.Context(), d("_id", 2)); err != nil {
		t.Fatal(err)
	}
	_ = top.FindOne(t.Context(), bson.D{})
	after := sample()
	if after.Total.Count-before.Total.Count != 2 || after.ReadLock.Count-before.ReadLock.Count != 1 || after.WriteLock.Count-before.WriteLock.Count != 1 || after.Total.Time < before.Total.Time {
		t.Errorf("from %+v to %+v", before, after)
	}
}

// exportApp reads as mongoexport does.
func exportApp(t *testing.T, c *mongo.Client) {
	plain := c.Database("app").Collection("plain")
	command(t, plain.Database(), d("listCollections", 1, "filter", d("name", "plain")))
	if n, err := plain.CountDocuments(t.Context(), bson.D{}, options.Count().SetSkip(3).SetLimit(4)); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	cursor, err := plain.Find(t.Context(), d("n", d("$gt", 10)), options.Find().SetSort(d("n", -1)).SetSkip(1).SetLimit(2).SetProjection(d("n", 1, "_id", 1)))
	if err != nil {
		t.Fatal(err)
	}
	var docs []struct{ N int }
	if err := cursor.All(t.Context(), &docs); err != nil || len(docs) != 2 || docs[0].N != 2498 {
		t.Errorf("%v, %v", docs, err)
	}
	if n, err := c.Database("app").Collection("some").CountDocuments(t.Context(), bson.D{}); n != 10 || err != nil {
		t.Errorf("%d in the view, %v", n, err)
	}
}

// importModes writes as mongoimport does in its modes.
func importModes(t *testing.T, c *mongo.Client) {
	goods := c.Database("app").Collection("goods")
	command(t, goods.Database(), d("drop", "goods"))
	write := func(models ...mongo.WriteModel) *mongo.BulkWriteResult {
		t.Helper()
		res, err := goods.BulkWrite(t.Context(), models, options.BulkWrite().SetOrdered(false).SetBypassDocumentValidation(true))
		if err != nil && !mongo.IsDuplicateKeyError(err) {
			t.Fatal(err)
		}
		return res
	}
	a, b := d("_id", 1, "sku", "a", "n", 1), d("_id", 2, "sku", "b", "n", 1)
	if res := write(mongo.NewInsertOneModel().SetDocument(a), mongo.NewInsertOneModel().SetDocument(a), mongo.NewInsertOneModel().SetDocument(b)); res.InsertedCount != 2 {
		t.Errorf("insert: %+v", res)
	}
	res := write(
		mongo.NewReplaceOneModel().SetFilter(d("sku", "a")).SetReplacement(d("sku", "a", "n", 2)).SetUpsert(true),
		mongo.NewReplaceOneModel().SetFilter(d("sku", "c")).SetReplacement(d("sku", "c", "n", 2)).SetUpsert(true))
	if res.MatchedCount != 1 || res.UpsertedCount != 1 {
		t.Errorf("upsert: %+v", res)
	}
	if res := write(mongo.NewUpdateOneModel().SetFilter(d("_id", 2)).SetUpdate(d("$set", d("_id", 2, "more", true))).SetUpsert(true)); res.ModifiedCount != 1 {
		t.Errorf("merge: %+v", res)
	}
	if res := write(mongo.NewDeleteOneModel().SetFilter(d("sku", "a"))); res.DeletedCount != 1 {
		t.Errorf("delete: %+v", res)
	}
}

// browse asks what Compass does when it connects, and opens a collection.
func browse(t *testing.T, c *mongo.Client) {
	admin, app := c.Database("admin"), c.Database("app")
	var instance struct {
		AuthInfo struct {
			AuthenticatedUsers, AuthenticatedUserRoles, AuthenticatedUserPrivileges []bson.D
		}
		OS     struct{ Name, Type, Version string }
		System struct {
			CPUArch             string
			MemSizeMB, NumCores int
		}
		Version                     string
		FeatureCompatibilityVersion struct{ Version string }
	}
	for _, cmd := range []bson.D{d("connectionStatus", 1, "showPrivileges", true), d("hostInfo", 1), d("buildInfo", 1), d("getParameter", 1, "featureCompatibilityVersion", 1)} {
		if err := admin.RunCommand(t.Context(), cmd).Decode(&instance); err != nil {
			t.Errorf("%v: %v", cmd, err)
		}
	}
	if instance.AuthInfo.AuthenticatedUsers == nil || instance.AuthInfo.AuthenticatedUserPrivileges == nil || instance.OS.Type == "" ||
		instance.System.NumCores < 1 || instance.System.CPUArch == "" || !strings.HasPrefix(instance.Version, "8.2.") || instance.FeatureCompatibilityVersion.Version != "8.2" {
		t.Errorf("%+v", instance)
	}
	if err := admin.RunCommand(t.Context(), d("atlasVersion", 1)).Err(); err == nil {
		t.Error("this is no Atlas")
	}
	if n, err := admin.Collection("atlascli").CountDocuments(t.Context(), d("managedClusterType", "atlasCliLocalDevCluster")); n != 0 || err != nil {
		t.Error(n, err)
	}
	command(t, admin, d("listDatabases", 1, "nameOnly", true))
	var stats struct{ Collections, Objects, Indexes, StorageSize, DataSize, IndexSize int64 }
	if err := app.RunCommand(t.Context(), d("dbStats", 1)).Decode(&stats); err != nil || stats.Objects < 2500 || stats.Indexes < 6 || stats.DataSize == 0 {
		t.Errorf("%+v, %v", stats, err)
	}
	aggregates(t, app.Collection("plain"), d("$collStats", d("storageStats", bson.D{})), "storageStats", "count")
	var sizes []struct{ Count, Nindexes, AvgObjSize float64 }
	cursor, err := app.Collection("plain").Aggregate(t.Context(), bson.A{
		d("$collStats", d("storageStats", bson.D{})),
		d("$group", d("_id", nil, "count", d("$sum", "$storageStats.count"), "nindexes", d("$max", "$storageStats.nindexes"), "unscaled",
			d("$sum", d("$multiply", bson.A{d("$toDouble", "$storageStats.avgObjSize"), d("$toDouble", "$storageStats.count")})))),
		d("$addFields", d("avgObjSize", d("$cond", d("if", d("$ne", bson.A{"$count", 0}), "then", d("$divide", bson.A{"$unscaled", d("$toDouble", "$count")}), "else", 0)))),
	})
	if err == nil {
		err = cursor.All(t.Context(), &sizes)
	}
	if err != nil || len(sizes) != 1 || sizes[0].Count != 2500 || sizes[0].Nindexes != 5 || sizes[0].AvgObjSize < 30 {
		t.Errorf("sizes %+v, %v", sizes, err)
	}
	aggregates(t, app.Collection("plain"), d("$indexStats", bson.D{}), "accesses", "ops")
	aggregates(t, app.Collection("plain"), d("$sample", d("size", 5)), "n")
	aggregates(t, app.Collection("series"), d("$collStats", d("storageStats", bson.D{})), "storageStats", "timeseries", "bucketCount")
	aggregates(t, admin, d("$currentOp", d("allUsers", true)), "ns")
	command(t, app, d("explain", d("find", "plain", "filter", d("n", 7)), "verbosity", "allPlansExecution"))
	command(t, admin, d("top", 1))
}

// aggregates runs one stage and looks for a field of the first result.
func aggregates(t *testing.T, on interface {
	Aggregate(ctx context.Context, pipeline any, opts ...options.Lister[options.AggregateOptions]) (*mongo.Cursor, error)
}, stage bson.D, path ...string) {
	t.Helper()
	cursor, err := on.Aggregate(t.Context(), bson.A{stage})
	if err != nil {
		t.Errorf("%v: %v", stage, err)
		return
	}
	defer cursor.Close(t.Context())
	if !cursor.Next(t.Context()) {
		t.Errorf("%v: no result, %v", stage, cursor.Err())
	} else if _, err := cursor.Current.LookupErr(path...); err != nil {
		t.Errorf("%v: %v in %v", stage, err, cursor.Current)
	}
}
