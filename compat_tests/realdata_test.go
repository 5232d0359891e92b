package compat

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Real data sets, and figures that the tests compute from the files.

func TestGoFlights(t *testing.T) {
	t.Parallel()
	var flights []flight
	readJSON(t, "flights-5k.json", &flights)
	coll := connect(t, start(t).URI).Database("air").Collection("flights")
	insertAll(t, coll, flights)
	t.Run("group", func(t *testing.T) { checkDelays(t, coll, flights) })
	t.Run("count with an index and without", func(t *testing.T) { checkLate(t, coll, flights) })
	t.Run("distinct", func(t *testing.T) { checkDestinations(t, coll, flights) })
	t.Run("update and delete", func(t *testing.T) { checkRename(t, coll, flights) })
}

func insertAll[T any](t *testing.T, coll *mongo.Collection, docs []T) {
	t.Helper()
	if _, err := coll.InsertMany(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	if n := count(t, coll); n != len(docs) {
		t.Fatalf("%d documents, want %d", n, len(docs))
	}
}

// aggregate runs a pipeline, given in extended JSON, and decodes the result.
func aggregate[T any](t *testing.T, coll *mongo.Collection, pipeline string) []T {
	t.Helper()
	var stages []bson.D
	if err := bson.UnmarshalExtJSON([]byte(pipeline), false, &stages); err != nil {
		t.Fatal(err)
	}
	cur, err := coll.Aggregate(t.Context(), stages)
	if err != nil {
		t.Fatal(err)
	}
	var out []T
	if err := cur.All(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func checkDelays(t *testing.T, coll *mongo.Collection, flights []flight) {
	type airport struct {
		ID      string `bson:"_id"`
		N, Sum  int
		Longest int
	}
	want := map[string]airport{}
	for _, f := range flights {
		a := want[f.Origin]
		want[f.Origin] = airport{ID: f.Origin, N: a.N + 1, Sum: a.Sum + f.Delay, Longest: max(a.Longest, f.Distance)}
	}
	got := map[string]airport{}
	for _, a := range aggregate[airport](t, coll, `[{"$group": {"_id": "$origin", "n": {"$sum": 1}, "sum": {"$sum": "$delay"}, "longest": {"$max": "$distance"}}}]`) {
		got[a.ID] = a
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func checkLate(t *testing.T, coll *mongo.Collection, flights []flight) {
	late := 0
	for _, f := range flights {
		if f.Delay > 60 && f.Distance < 1000 {
			late++
		}
	}
	filter := bson.D{{Key: "delay", Value: bson.D{{Key: "$gt", Value: 60}}}, {Key: "distance", Value: bson.D{{Key: "$lt", Value: 1000}}}}
	look := func(how string) {
		if n, err := coll.CountDocuments(t.Context(), filter); err != nil || int(n) != late {
			t.Errorf("%s: %d late flights (%v), want %d", how, n, err, late)
		}
	}
	look("by scan")
	if _, err := coll.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "delay", Value: 1}, {Key: "distance", Value: -1}}}); err != nil {
		t.Fatal(err)
	}
	look("by index")
}

func checkDestinations(t *testing.T, coll *mongo.Collection, flights []flight) {
	want := map[string]bool{}
	for _, f := range flights {
		if f.Origin == "SEA" {
			want[f.Destination] = true
		}
	}
	var names []string
	if err := coll.Distinct(t.Context(), "destination", bson.D{{Key: "origin", Value: "SEA"}}).Decode(&names); err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, n := range names {
		got[n] = true
	}
	if diff := cmp.Diff(want, got); diff != "" || len(names) != len(want) {
		t.Errorf("%d names: %s", len(names), diff)
	}
}

func checkRename(t *testing.T, coll *mongo.Collection, flights []flight) {
	from, to := 0, 0
	for _, f := range flights {
		if f.Origin == "SFO" {
			from++
		}
		if f.Origin == "SFO" || f.Destination == "SFO" {
			to++
		}
	}
	up, err := coll.UpdateMany(t.Context(), bson.D{{Key: "origin", Value: "SFO"}}, bson.D{{Key: "$set", Value: bson.D{{Key: "bay", Value: true}}}})
	if err != nil || int(up.ModifiedCount) != from {
		t.Errorf("%+v %v, want %d modified", up, err, from)
	}
	del, err := coll.DeleteMany(t.Context(), bson.D{{Key: "$or", Value: bson.A{bson.D{{Key: "bay", Value: true}}, bson.D{{Key: "destination", Value: "SFO"}}}}})
	if err != nil || int(del.DeletedCount) != to {
		t.Errorf("%+v %v, want %d deleted", del, err, to)
	}
	if n := count(t, coll); n != len(flights)-to {
		t.Errorf("%d left, want %d", n, len(flights)-to)
	}
}

func TestGoMovies(t *testing.T) {
	t.Parallel()
	var movies []movie
	readJSON(t, "movies.json", &movies)
	coll := connect(t, start(t).URI).Database("art").Collection("movies")
	insertAll(t, coll, movies)
	t.Run("genres by facet", func(t *testing.T) { checkGenres(t, coll, movies) })
	t.Run("best rated, in pages", func(t *testing.T) { checkBest(t, coll, movies) })
}

func checkGenres(t *testing.T, coll *mongo.Collection, movies []movie) {
	type genre struct {
		ID *string `bson:"_id"`
		N  int
	}
	type facets struct {
		Genres []genre
		Rated  []struct{ N int }
	}
	want, rated := map[string]int{}, 0
	for _, m := range movies {
		if m.Genre != nil {
			want[*m.Genre]++
		}
		if m.Rating != nil && *m.Rating == "R" {
			rated++
		}
	}
	got := aggregate[facets](t, coll, `[{"$facet": {
		"genres": [{"$match": {"Major Genre": {"$ne": null}}}, {"$sortByCount": "$Major Genre"}, {"$project": {"n": "$count"}}],
		"rated": [{"$match": {"MPAA Rating": "R"}}, {"$count": "n"}]}}]`)[0]
	counts, last := map[string]int{}, 1<<30
	for _, g := range got.Genres {
		if g.N > last {
			t.Errorf("%v stands behind a smaller count", *g.ID)
		}
		counts[*g.ID], last = g.N, g.N
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Error(diff)
	}
	if got.Rated[0].N != rated {
		t.Errorf("%d rated R, want %d", got.Rated[0].N, rated)
	}
}

func checkBest(t *testing.T, coll *mongo.Collection, movies []movie) {
	good := 0
	for _, m := range movies {
		if m.IMDB != nil && *m.IMDB >= 8 {
			good++
		}
	}
	opts := options.Find().SetSort(bson.D{{Key: "IMDB Rating", Value: -1}, {Key: "_id", Value: 1}}).SetBatchSize(7)
	cur, err := coll.Find(t.Context(), bson.D{{Key: "IMDB Rating", Value: bson.D{{Key: "$gte", Value: 8}}}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	n, last := 0, 11.0
	for cur.Next(t.Context()) {
		var m movie
		if err := cur.Decode(&m); err != nil {
			t.Fatal(err)
		}
		if *m.IMDB > last {
			t.Errorf("%v after %v", *m.IMDB, last)
		}
		n, last = n+1, *m.IMDB
	}
	if cur.Err() != nil || n != good {
		t.Errorf("%d movies (%v), want %d", n, cur.Err(), good)
	}
}
