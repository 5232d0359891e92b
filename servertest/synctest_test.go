package servertest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/servertest"
)

// In a bubble, the code under test and the server have one clock, and no pass is left out
// on the way.
func TestBubble(t *testing.T) {
	if engines.Remote(engines.ForTests()) {
		t.Skip("a bubble's time stands still while a goroutine waits for a network")
	}
	synctest.Test(t, func(t *testing.T) {
		srv := servertest.Run(t, servertest.Bubble())
		carts := srv.Client(t).Database("shop").Collection("carts")
		if _, err := carts.Indexes().CreateOne(t.Context(), mongo.IndexModel{
			Keys: bson.D{{Key: "touched", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(3600),
		}); err != nil {
			t.Fatal(err)
		}
		count := func() int64 {
			n, err := carts.CountDocuments(t.Context(), bson.D{})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		started := time.Now()
		if _, err := carts.InsertOne(t.Context(), bson.D{{Key: "touched", Value: started}}); err != nil {
			t.Fatal(err)
		}
		var left []int64 // counted by the code under test, by its own timer
		ticker := time.NewTicker(30 * time.Minute)
		defer ticker.Stop()
		go func() {
			for range 3 {
				<-ticker.C
				left = append(left, count())
			}
		}()
		srv.Advance(59 * time.Minute)
		if n := count(); n != 1 {
			t.Errorf("%d carts after 59 minutes", n)
		}
		srv.Advance(36 * time.Minute)
		if len(left) != 3 || left[0] != 1 || left[2] != 0 {
			t.Errorf("counted %v after 30, 60 and 90 minutes", left)
		}
		if now := srv.Clock.Now(); !now.Equal(time.Now()) || now.Sub(started) != 95*time.Minute {
			t.Errorf("the server's clock shows %v, ours %v", now, time.Now())
		}
	})
}

// Advance without a bubble moves the server's clock alone.
func TestAdvance(t *testing.T) {
	srv := servertest.Run(t, servertest.At(servertest.Start), servertest.NoPort())
	srv.Advance(61 * time.Minute)
	if got := srv.Clock.Now().Sub(servertest.Start); got != 61*time.Minute {
		t.Errorf("moved by %v", got)
	}
}
