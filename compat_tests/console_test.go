package compat

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/internal/freeport"
	"github.com/duskdb/duskdb/internal/needs"
)

// TestConsole uses every page of the web console in Chromium: what expires by the slider,
// queues, expirations as they happen, and axe's rules of accessibility in both colours and
// at three widths. Set DUSKDB_COMPAT_PICTURES to a directory to see the pages.
func TestConsole(t *testing.T) {
	t.Parallel()
	pages := consolePages(t, "console.js")
	pages.env = append(pages.env, "CONSOLE="+start(t, "--test-clock").Console)
	pages.reports(t)
}

// TestConsoleFormat: prettier formats the console's scripts and styles
// (server/console/.prettierrc.json). To do it by hand: npx prettier@VERSION --write, with the
// version in pages/package.json.
func TestConsoleFormat(t *testing.T) {
	t.Parallel()
	needs.Client(t, "node", "npm")
	prettier := filepath.Join(pageClients.path(t), "node_modules", "prettier", "bin", "prettier.cjs")
	cmd := exec.CommandContext(t.Context(), "node", prettier, "--check", "web/*.js", "web/*.css")
	cmd.Dir = filepath.Join("..", "server", "console")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// consoleLimit is the limit of a script, which opens each page several times on a machine where
// other tests run.
const consoleLimit = 5 * time.Minute

// consolePages is what the scripts of the console's tests need.
func consolePages(t *testing.T, script string, env ...string) client {
	t.Helper()
	needs.Client(t, "node", "npm")
	return client{args: []string{"node", folder(t, "pages", script)}, limit: consoleLimit, env: append(env,
		"BROWSER="+browser(t), "PROFILE="+t.TempDir(), "HOME="+t.TempDir(), "PICTURES="+os.Getenv("DUSKDB_COMPAT_PICTURES"),
		"NODE_PATH="+filepath.Join(pageClients.path(t), "node_modules"))}
}

// TestConsoleAccess logs in and out, in several tabs and on two consoles of one host, reads
// as a user who may not write, and tries from pages of other sites and ports and by DNS rebinding
// what must be refused.
func TestConsoleAccess(t *testing.T) {
	t.Parallel()
	pages := consolePages(t, "console_access.js")
	root := []string{"DUSKDB_ROOT_USERNAME=ada", "DUSKDB_ROOT_PASSWORD=s3cret"}
	s := startWith(t, root, t.TempDir(), "--test-clock")
	_, address, _ := strings.Cut(s.URI, "//")
	c := connect(t, "mongodb://ada:s3cret@"+address)
	for db, coll := range map[string]string{"shop": "carts", "secret": "plans"} {
		index := mongo.IndexModel{Keys: bson.D{{Key: "at", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(3600)}
		if _, err := c.Database(db).Collection(coll).Indexes().CreateOne(t.Context(), index); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Database(db).Collection(coll).InsertOne(t.Context(), bson.D{{Key: "_id", Value: "anna"}, {Key: "at", Value: time.Now()}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, topic := range []bson.D{
		{{Key: "create", Value: "orders"}, {Key: "messageTopic", Value: bson.D{}}},
		{{Key: "create", Value: "talks"}, {Key: "messageSubscription", Value: bson.D{{Key: "topic", Value: "orders"}, {Key: "requiresSession", Value: true}}}},
		{{Key: "insert", Value: "orders"}, {Key: "documents", Value: bson.A{bson.D{{Key: "_mq", Value: bson.D{{Key: "sessionId", Value: "anna"}}}}}}},
	} {
		if err := c.Database("shop").RunCommand(t.Context(), topic).Err(); err != nil {
			t.Fatal(err)
		}
	}
	rita := bson.D{{Key: "createUser", Value: "rita"}, {Key: "pwd", Value: "pw"}, {Key: "roles", Value: bson.A{bson.D{{Key: "role", Value: "read"}, {Key: "db", Value: "shop"}}}}}
	if err := c.Database("admin").RunCommand(t.Context(), rita).Err(); err != nil {
		t.Fatal(err)
	}
	pages.env = append(pages.env, "CONSOLE="+s.Console, "NEIGHBOUR="+startWith(t, root, t.TempDir(), "--test-clock").Console, "READONLY="+start(t, "--test-clock", "--consoleReadOnly").Console,
		"REALTIME="+start(t, "--consolePort", strconv.Itoa(freeport.For(t))).Console)
	pages.reports(t)
}

// TestConsoleDocuments finds, reads and changes documents in the web console, lists the
// collections without a policy, and creates collections by forms that show their commands.
func TestConsoleDocuments(t *testing.T) {
	t.Parallel()
	s := start(t, "--test-clock", "--setParameter", "testClockStart=2026-01-01T00:00:00Z")
	consolePages(t, "console_documents.js", "CONSOLE="+s.Console).reports(t)
}

// TestConsoleLoad measures in the browser what an update takes with ten thousand
// collections, and while thousands of documents a second expire. An update must be as much
// work as with a hundred collections.
func TestConsoleLoad(t *testing.T) {
	t.Parallel()
	const collections, events = 10_000, 5000
	pages := consolePages(t, "console_load.js", fmt.Sprintf("COLLECTIONS=%d", collections), fmt.Sprintf("EVENTS=%d", events))
	for name, n := range map[string]int{"CONSOLE": collections, "SMALL": 100} {
		s := start(t, "--test-clock", "--setParameter", "testClockStart=2026-01-01T00:00:00Z")
		fillForecasts(t, connect(t, s.URI).Database("load"), n)
		pages.env = append(pages.env, name+"="+s.Console)
	}
	pages.reports(t)
}

// TestConsoleLarge looks at a collection of a million documents beside two hundred without a
// policy: what a page asks for and draws must not grow with their number. Set
// DUSKDB_CONSOLE_DOCUMENTS to another number of documents.
func TestConsoleLarge(t *testing.T) {
	t.Parallel()
	documents := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("DUSKDB_CONSOLE_DOCUMENTS")); err == nil {
		documents = n
	}
	pages := consolePages(t, "console_large.js", fmt.Sprintf("DOCUMENTS=%d", documents))
	s := start(t, "--test-clock", "--setParameter", "testClockStart=2026-01-01T00:00:00Z")
	pages.env = append(pages.env, "CONSOLE="+s.Console)
	c := connect(t, s.URI)
	fillLarge(t, c.Database("load").Collection("events"), documents)
	for i := range 200 {
		if _, err := c.Database("many").Collection(fmt.Sprintf("plain%d", i)).InsertOne(t.Context(), bson.D{{Key: "i", Value: i}}); err != nil {
			t.Fatal(err)
		}
	}
	pages.reports(t)
}

// fillLarge makes a collection with a TTL index, and an index on the users of its documents.
func fillLarge(t *testing.T, coll *mongo.Collection, documents int) {
	t.Helper()
	const batch = 10_000
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for from := 0; from < documents; from += batch {
		docs := make([]any, 0, batch)
		for i := from; i < min(from+batch, documents); i++ {
			docs = append(docs, bson.D{{Key: "_id", Value: i}, {Key: "user", Value: fmt.Sprintf("user%d", i%5000)}, {Key: "total", Value: i % 977},
				{Key: "touched", Value: begin.Add(time.Duration(i) * 100 * time.Millisecond)}})
		}
		if _, err := coll.InsertMany(t.Context(), docs, options.InsertMany().SetOrdered(false)); err != nil {
			t.Fatal(err)
		}
	}
	for _, index := range []mongo.IndexModel{
		{Keys: bson.D{{Key: "touched", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(3600)},
		{Keys: bson.D{{Key: "user", Value: 1}}},
	} {
		if _, err := coll.Indexes().CreateOne(t.Context(), index); err != nil {
			t.Fatal(err)
		}
	}
}

// fillForecasts makes a number of collections with a TTL index; documents expire in all but
// one of them, events.
func fillForecasts(t *testing.T, db *mongo.Database, collections int) {
	t.Helper()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ttl := func(name string) {
		index := mongo.IndexModel{Keys: bson.D{{Key: "at", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(0)}
		if _, err := db.Collection(name).Indexes().CreateOne(t.Context(), index); err != nil {
			t.Fatal(err)
		}
	}
	for i := range collections - 1 {
		name := fmt.Sprintf("c%d", i+1)
		ttl(name)
		var docs []any
		for k := range 5 {
			docs = append(docs, bson.D{{Key: "at", Value: begin.Add(time.Duration(i+k*7000+60) * time.Second)}})
		}
		if _, err := db.Collection(name).InsertMany(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
	}
	ttl("events")
}
