package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/internal/needs"
)

// TestMovingBack runs the dump of the page with MongoDB's own tools, where they are
// installed: from one server to another.
func TestMovingBack(t *testing.T) {
	for _, program := range []string{"mongodump", "mongorestore"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("MongoDB's tools are not installed") // they are in no registry
		}
	}
	needs.Program(t, "sh")
	text, err := os.ReadFile("moving-back.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?ms)^```sh with mongodump\n(.*?)^```$").FindSubmatch(text)
	from, to := start(t), start(t)
	connect := func(uri string) *mongo.Collection {
		client, err := mongo.Connect(options.Client().ApplyURI(uri))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Disconnect(t.Context()) })
		return client.Database("app").Collection("log")
	}
	c := connect(from.URI())
	if _, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "at", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(3600)}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.InsertOne(t.Context(), bson.D{{Key: "at", Value: time.Now()}}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", string(block[1]))
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "DUSKDB_URI="+from.URI(), "MONGODB_URI="+to.URI(), "TMPDIR="+filepath.Clean(cmd.Dir))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	restored := connect(to.URI())
	specs, err := restored.Indexes().ListSpecifications(t.Context())
	if n, _ := restored.CountDocuments(t.Context(), bson.D{}); err != nil || n != 1 || len(specs) != 2 || specs[1].ExpireAfterSeconds == nil {
		t.Errorf("%d documents, indexes %v: %v", n, specs, err)
	}
}
