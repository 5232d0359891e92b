//go:build unix

package crash

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// testClusterSnapshots: a client that opens one session with snapshot reads after the other,
// more than a server has places, does not keep anybody from transactions, and its snapshots
// end when their sessions have.
func testClusterSnapshots(t *testing.T, c *cluster) {
	client := c.only(0)
	coll := client.Database("snapshots").Collection("c")
	for i := range 40 {
		_, err := coll.InsertOne(background, bson.M{"_id": i})
		must(t, err)
		s, err := client.StartSession(options.Session().SetSnapshot(true))
		must(t, err)
		must(t, mongo.WithSession(background, s, func(ctx context.Context) error {
			n, err := coll.CountDocuments(ctx, bson.M{})
			if n != int64(i+1) {
				t.Errorf("the snapshot has %d documents, want %d", n, i+1)
			}
			return err
		}))
		s.EndSession(background)
	}
	for range 3 {
		s, err := client.StartSession()
		must(t, err)
		_, err = s.WithTransaction(background, func(ctx context.Context) (any, error) {
			return coll.CountDocuments(ctx, bson.M{})
		})
		must(t, err)
		s.EndSession(background)
	}
	eventually(t, "the snapshots end", func() bool {
		var status struct {
			Cluster struct {
				Pool struct {
					Transactions int64 `bson:"transactions"`
				}
			}
		}
		must(t, client.Database("admin").RunCommand(background, bson.D{{Key: "serverStatus", Value: 1}}).Decode(&status))
		return status.Cluster.Pool.Transactions == 0
	})
}
