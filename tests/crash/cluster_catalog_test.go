//go:build unix

package crash

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/internal/pgtest"
)

// testClusterCatalog: a command that changes a collection on one server is seen by the
// next command on the others.
func testClusterCatalog(t *testing.T, c *cluster) {
	var dbs [3]*mongo.Database
	for i := range dbs {
		dbs[i] = c.only(i).Database("catalog")
	}
	for round := range 3 {
		a, b, d := dbs[round], dbs[(round+1)%3], dbs[(round+2)%3]
		name := fmt.Sprint("c", round)
		must(t, a.CreateCollection(background, name, options.CreateCollection().SetValidator(bson.M{"n": bson.M{"$type": "number"}})))
		for _, db := range []*mongo.Database{b, d} {
			if names, err := db.ListCollectionNames(background, bson.M{}); err != nil || !slices.Contains(names, name) {
				t.Errorf("%s is not in %v (%v)", name, names, err)
			}
			if _, err := db.Collection(name).InsertOne(background, bson.M{"n": "text"}); !isCode(err, 121) {
				t.Errorf("the validator does not refuse a document: %v", err)
			}
		}
		must(t, b.RunCommand(background, bson.D{{Key: "collMod", Value: name}, {Key: "validationLevel", Value: "off"}}).Err())
		_, err := d.Collection(name).InsertOne(background, bson.M{"n": "text"})
		must(t, err)
		_, err = d.Collection(name).Indexes().CreateOne(background, mongo.IndexModel{Keys: bson.M{"n": 1}, Options: options.Index().SetUnique(true)})
		must(t, err)
		for _, db := range []*mongo.Database{a, b} {
			if _, err := db.Collection(name).InsertOne(background, bson.M{"n": "text"}); !mongo.IsDuplicateKeyError(err) {
				t.Errorf("the new unique index does not refuse a key: %v", err)
			}
		}
		must(t, a.Collection(name).Indexes().DropOne(background, "n_1"))
		_, err = b.Collection(name).InsertOne(background, bson.M{"n": "text"})
		must(t, err)
		must(t, b.Collection(name).Drop(background))
		for _, db := range []*mongo.Database{a, d} {
			if n, err := db.Collection(name).CountDocuments(background, bson.M{}); n != 0 || err != nil {
				t.Errorf("%d documents in a collection that was dropped (%v)", n, err)
			}
		}
		must(t, a.CreateCollection(background, name)) // another one of the same name
		if n, err := d.Collection(name).CountDocuments(background, bson.M{"n": "text"}); n != 0 || err != nil {
			t.Errorf("%d documents in a new collection (%v)", n, err)
		}
	}
}

func isCode(err error, code int) bool {
	e, ok := errors.AsType[mongo.ServerError](err)
	return ok && e.HasErrorCode(code)
}

// testClusterSettings: a setting of the cluster is the next command's on all servers.
func testClusterSettings(t *testing.T, c *cluster) {
	for round := range 3 {
		level := []string{"local", "majority", "available"}[round]
		must(t, c.only(round).Database("admin").RunCommand(background, bson.D{{Key: "setDefaultRWConcern", Value: 1}, {Key: "defaultReadConcern", Value: bson.M{"level": level}}}).Err())
		for i := range c.servers {
			reply, err := c.only(i).Database("admin").RunCommand(background, bson.D{{Key: "getDefaultRWConcern", Value: 1}}).Raw()
			must(t, err)
			if got, _ := reply.Lookup("defaultReadConcern", "level").StringValueOK(); got != level {
				t.Errorf("the default read concern on server %d is %q, want %q", i, got, level)
			}
		}
	}
}

// TestClusterUsers: a user can log in on every server as soon as it exists, has its
// rights everywhere as soon as they are granted or revoked, and is out everywhere as soon
// as it is dropped.
func TestClusterUsers(t *testing.T) {
	needsCluster(t)
	t.Parallel()
	c := newCluster(t, pgtest.URI(t), "--auth")
	as := func(i int, user string) *mongo.Database {
		return c.only(i, options.Client().SetAuth(options.Credential{Username: user, Password: "secret", AuthMechanism: "SCRAM-SHA-256"})).Database("rows")
	}
	create := func(db *mongo.Database, user string, roles ...any) error {
		return db.RunCommand(background, bson.D{{Key: "createUser", Value: user}, {Key: "pwd", Value: "secret"}, {Key: "roles", Value: bson.A(roles)}}).Err()
	}
	must(t, create(c.only(0).Database("admin"), "root", "root")) // nobody exists: the localhost exception
	if err := create(c.only(1).Database("admin"), "root2", "root"); !isCode(err, 13) {
		t.Errorf("there is a user, and yet another server lets a stranger make one: %v", err)
	}
	admin := [3]*mongo.Database{}
	for i := range admin {
		admin[i] = as(i, "root").Client().Database("admin")
	}
	must(t, create(admin[1], "eve", bson.M{"role": "read", "db": "rows"}))
	var eves [3]*mongo.Collection
	for i := range eves {
		eves[i] = as(i, "eve").Collection("c")
	}
	each := func(what string, reads, writes int) {
		t.Helper()
		for i, eve := range eves {
			_, err := eve.CountDocuments(background, bson.M{})
			if !isCode(err, reads) && (reads != 0 || err != nil) {
				t.Errorf("%s, server %d: a read answers %v, want code %d", what, i, err, reads)
			}
			_, err = eve.InsertOne(background, bson.M{})
			if !isCode(err, writes) && (writes != 0 || err != nil) {
				t.Errorf("%s, server %d: a write answers %v, want code %d", what, i, err, writes)
			}
		}
	}
	each("who may read", 0, 13)
	must(t, admin[2].RunCommand(background, bson.D{{Key: "grantRolesToUser", Value: "eve"}, {Key: "roles", Value: bson.A{bson.M{"role": "readWrite", "db": "rows"}}}}).Err())
	each("who may write", 0, 0)
	must(t, admin[0].RunCommand(background, bson.D{{Key: "revokeRolesFromUser", Value: "eve"}, {Key: "roles", Value: bson.A{bson.M{"role": "readWrite", "db": "rows"}}}}).Err())
	each("who may write no more", 0, 13)
	must(t, admin[1].RunCommand(background, bson.D{{Key: "dropUser", Value: "eve"}}).Err())
	each("who was dropped", 13, 13)
	if err := as(2, "eve").Client().Ping(background, nil); err == nil {
		t.Error("a user that was dropped can log in")
	}
}
