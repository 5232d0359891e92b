package servertest_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/servertest"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// earlierEnd is shortly after the earlier version wrote the last record of
// testdata/earlier_version.json.
var earlierEnd = time.Date(2026, 11, 23, 2, 53, 30, 0, time.UTC)

// earlierToken is a resume token that the earlier version gave a client before it updated
// a document of shop.items.
const earlierToken = "826B03AAA5000000152B0429296E1404"

// earlierCollection is a collection of testdata/earlier_version.json: the stored form of
// everything that commit 45ec529 had in its data directory, namely users and roles, default
// concerns, cluster parameters, query settings, the configuration and the vote of a replica
// set, the change log and its reader, pre-images, retry records, and collections with TTL of
// each kind, a queue, and an offer.
type earlierCollection struct {
	NS, UUID string
	Options  json.RawMessage
	Indexes  []struct {
		Name string
		Spec json.RawMessage
	}
	Records []struct {
		TS  int64
		Doc json.RawMessage
	}
}

// earlierDir makes a data directory with the stored form of an earlier version.
func earlierDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile("testdata/earlier_version.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []earlierCollection
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	e, err := engines.Open(engines.ForTests(), engines.Options{Path: dir, Clock: clock.NewManual(earlierEnd), Indexer: catalog.NewIndexer()})
	if err != nil {
		t.Fatal(err)
	}
	err = storage.Retry(t.Context(), e, func(tx storage.Tx) error {
		for i := range list {
			if err := list[i].store(tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// store creates the collection and its records.
func (c *earlierCollection) store(tx storage.Tx) error {
	db, name, _ := strings.Cut(c.NS, ".")
	id, err := hex.DecodeString(c.UUID)
	if err != nil {
		return err
	}
	var specs []storage.IndexSpec
	for _, x := range c.Indexes {
		specs = append(specs, storage.IndexSpec{Name: x.Name, Spec: value.MustJSON(string(x.Spec))})
	}
	coll, err := tx.CreateAs(storage.Namespace{DB: db, Coll: name}, [16]byte(id), value.MustJSON(string(c.Options)), specs)
	for i := 0; i < len(c.Records) && err == nil; i++ {
		_, err = coll.Insert(value.MustJSON(string(c.Records[i].Doc)), c.Records[i].TS)
	}
	return err
}

// openEarlier starts the server on the directory and logs in.
func openEarlier(t *testing.T, dir string) *scene {
	t.Helper()
	srv := servertest.Run(t, servertest.Dir(dir), servertest.At(earlierEnd), servertest.ReplicaSet("rs"), servertest.NoPort(),
		func(c *server.Config) { c.Auth = true })
	s := &scene{TB: t, srv: srv, client: loginEarlier(t, srv, "admin", "pw")}
	s.db = s.client.Database("shop")
	return s
}

func loginEarlier(t *testing.T, srv *servertest.Server, user, password string) *mongo.Client {
	t.Helper()
	return srv.Client(t, options.Client().SetAuth(options.Credential{Username: user, Password: password, AuthSource: "admin"}))
}

// TestEarlierVersion: a server that is started on the data of an earlier version uses its
// settings, users, queues, offers, replica set and change log, goes on with them, and still
// has them after a restart.
func TestEarlierVersion(t *testing.T) {
	t.Parallel()
	if engines.Remote(engines.ForTests()) {
		t.Skip("the data of the earlier version are those of a replica set, which a cluster is not")
	}
	if storagetest.HostileByEnvironment() != nil {
		t.Skip("a lock token names the id of a record")
	}
	dir := earlierDir(t)
	for start := range int64(2) {
		s := openEarlier(t, dir)
		s.earlierUsers(t)
		s.earlierSettings()
		s.earlierSet(start)
		s.earlierQueue(start)
		s.earlierStream()
		if start == 1 {
			s.earlierExpiry()
		}
		s.leave()
		s.srv.Stop()
	}
}

// earlierUsers: users log in with their passwords only, and have the rights of their roles.
func (s *scene) earlierUsers(t *testing.T) {
	s.Helper()
	ann := loginEarlier(t, s.srv, "ann", "secret").Database("shop")
	if err := ann.RunCommand(t.Context(), bson.D{{Key: "find", Value: "items"}}).Err(); err != nil {
		s.Error(err)
	}
	s.failed(13, "not authorized on shop", "drop", ann.RunCommand(t.Context(), bson.D{{Key: "drop", Value: "items"}}).Err())
	s.failed(13, "not authorized on other", "find", ann.Client().Database("other").RunCommand(t.Context(), bson.D{{Key: "find", Value: "c"}}).Err())
	err := loginEarlier(t, s.srv, "ann", "wrong").Ping(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "AuthenticationFailed") {
		s.Errorf("a wrong password: %v", err)
	}
}

// earlierSettings: what administrators have set holds.
func (s *scene) earlierSettings() {
	s.Helper()
	concerns := s.admin(`{getDefaultRWConcern: 1}`)
	is(s, "read concern", concerns.Lookup("defaultReadConcern", "level").StringValue(), "majority")
	is(s, "write concern", number(concerns.Lookup("defaultWriteConcern", "w")), 1)
	parameters := s.admin(`{getClusterParameter: ["defaultMaxTimeMS", "changeStreamOptions"]}`).Lookup("clusterParameters").Array()
	is(s, "defaultMaxTimeMS", number(bson.Raw(parameters).Lookup("0", "readOperations")), 5000)
	is(s, "changeStreamOptions", number(bson.Raw(parameters).Lookup("1", "preAndPostImages", "expireAfterSeconds")), 1000)
	s.fails(411, "Query rejected by admin query settings", `{find: "items", filter: {bad: 7}}`)
	offer := s.ok(`{customAction: "GetCollection", collection: "offered"}`)
	is(s, "offer", number(offer.Lookup("provisionedThroughput")), 500)
}

// earlierSet: the configuration is the stored one, and each start begins another term.
func (s *scene) earlierSet(start int64) {
	s.Helper()
	config := s.admin(`{replSetGetConfig: 1}`).Lookup("config").Document()
	is(s, "version", number(config.Lookup("version")), 32134)
	is(s, "term", number(config.Lookup("term")), start+2)
	is(s, "electionTimeoutMillis", number(config.Lookup("settings", "electionTimeoutMillis")), 5000)
	is(s, "replicaSetId", config.Lookup("settings", "replicaSetId").ObjectID().Hex(), "6b03a97794fa4c2cf87d2114")
	is(s, "setVersion", number(s.admin(`{hello: 1}`).Lookup("setVersion")), 32134)
}

// earlierQueue: the numbers of messages continue, a lock that was taken before the start
// can be settled, and the dead letter is there.
func (s *scene) earlierQueue(start int64) {
	s.Helper()
	sent := s.ok(`{mqSend: "q", messages: [{}]}`)
	is(s, "sequence number", number(sent.Lookup("sequenceNumbers", "0")), start+4)
	if start == 0 {
		s.ok(`{mqComplete: "q", lockToken: {$binary: {base64: "slt5Rrkyi6y3BAAAAAAAAQ==", subType: "04"}}}`)
	}
	numbers := ""
	for _, m := range s.messages(`{mqPeek: "q", maxMessages: 10}`) {
		numbers += m.Lookup("_mq", "sequenceNumber").String() + " "
	}
	is(s, "messages", numbers, []string{`{"$numberLong":"4"} `, `{"$numberLong":"4"} {"$numberLong":"5"} `}[start])
	s.sees(`"m3"`, "q.deadletterqueue")
}

// earlierStream: a change stream goes on behind a token of the earlier version, with the
// pre-image that it has stored.
func (s *scene) earlierStream() {
	s.Helper()
	stream, err := s.db.Collection("items").Watch(s.Context(), mongo.Pipeline{}, options.ChangeStream().
		SetResumeAfter(bson.D{{Key: "_data", Value: earlierToken}}).SetFullDocumentBeforeChange(options.Required))
	if err != nil {
		s.Error(err)
		return
	}
	defer func() { _ = stream.Close(s.Context()) }()
	if !stream.TryNext(s.Context()) {
		s.Errorf("no event: %v", stream.Err())
		return
	}
	is(s, "event", stream.Current.Lookup("operationType").StringValue(), "update")
	is(s, "updated", stream.Current.Lookup("updateDescription", "updatedFields").String(), `{"x": {"$numberInt":"1"}}`)
	is(s, "before", stream.Current.Lookup("fullDocumentBeforeChange").String(), `{"_id": {"$numberInt":"2"}}`)
}

// earlierExpiry: what the earlier version stored expires when it said it would, at 04:01:00
// by an index, an hour after 02:53:25 by document TTL, at 03:00:00 in a clustered collection,
// and at 04:00:00 in a time series collection, whose bucket spans an hour from 02:00:00.
func (s *scene) earlierExpiry() {
	s.Helper()
	s.sees("1 2", "docs")
	for _, step := range []struct {
		at                time.Time
		items, docs       string
		clustered, series int64
	}{
		{time.Date(2026, 11, 23, 2, 59, 59, 0, time.UTC), "1 2", "1 2", 1, 1},
		{time.Date(2026, 11, 23, 3, 53, 24, 0, time.UTC), "1 2", "1 2", 0, 1},
		{time.Date(2026, 11, 23, 3, 53, 26, 0, time.UTC), "1 2", "2", 0, 1},
		{time.Date(2026, 11, 23, 4, 1, 0, 0, time.UTC), "2", "2", 0, 0},
	} {
		s.srv.Clock.Set(step.at)
		s.pass()
		s.sees(step.items, "items")
		s.sees(step.docs, "docs")
		is(s, "clustered", s.count("clu"), step.clustered)
		is(s, "series", s.count("ts"), step.series)
	}
	s.sees("1", "cap")
	s.sees("2", "v")
}
