//go:build unix

package crash

import (
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// accepted is the reply of mqAcceptSession.
type accepted struct {
	Session *struct {
		ID    string        `bson:"sessionId"`
		Token bson.RawValue `bson:"sessionToken"`
	}
}

// testClusterSessions: of several servers that are asked for a session one gives it, and a
// receiver that waits on one server gets what is sent, or released, on another.
func testClusterSessions(t *testing.T, c *cluster) {
	db := func(i int) func(cmd bson.D, reply any) error {
		return func(cmd bson.D, reply any) error {
			return c.only(i).Database("sessions").RunCommand(background, cmd).Decode(reply)
		}
	}
	must(t, db(0)(bson.D{{Key: "create", Value: "t"}, {Key: "messageTopic", Value: bson.M{"requiresDuplicateDetection": true}}}, &bson.M{}))
	must(t, db(1)(bson.D{{Key: "create", Value: "s"}, {Key: "messageSubscription", Value: bson.M{"topic": "t", "requiresSession": true}}}, &bson.M{}))
	var wg sync.WaitGroup
	got := make([]accepted, len(c.servers))
	wait := bson.D{{Key: "mqAcceptSession", Value: "s"}, {Key: "maxWaitTimeMS", Value: 20_000}}
	for i := range c.servers {
		wg.Go(func() {
			if err := db(i)(wait, &got[i]); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range c.servers { // the same message from each: one is stored
		send := bson.D{{Key: "mqSend", Value: "t"}, {Key: "messages", Value: bson.A{bson.M{"n": 1, "_mq": bson.M{"sessionId": "a", "messageId": "m"}}}}}
		must(t, db(i)(send, &bson.M{}))
	}
	winner := -1
	took := eventually(t, "a server gives the session", func() bool {
		var list struct {
			Sessions []struct {
				Until *time.Time `bson:"lockedUntilUtc"`
			}
		}
		must(t, db(0)(bson.D{{Key: "mqSessions", Value: "s"}}, &list))
		return len(list.Sessions) == 1 && list.Sessions[0].Until != nil
	})
	t.Logf("a session was accepted after %v", took.Round(time.Millisecond))
	for _, id := range []string{"b", "c"} { // for the others
		send := bson.D{{Key: "mqSend", Value: "t"}, {Key: "messages", Value: bson.A{bson.M{"n": 1, "_mq": bson.M{"sessionId": id}}}}}
		must(t, db(0)(send, &bson.M{}))
	}
	wg.Wait()
	seen := map[string]bool{}
	for i, a := range got {
		if a.Session == nil || seen[a.Session.ID] {
			t.Fatalf("server %d gave %+v", i, a.Session)
		}
		seen[a.Session.ID] = true
		if a.Session.ID == "a" {
			winner = i
		}
		other := (i + 1) % len(c.servers)
		var reply struct{ Messages []bson.M }
		must(t, db(other)(bson.D{{Key: "mqReceive", Value: "s"}, {Key: "sessionToken", Value: a.Session.Token}, {Key: "maxMessages", Value: 10}}, &reply))
		if len(reply.Messages) != 1 {
			t.Errorf("session %s has %d messages", a.Session.ID, len(reply.Messages))
		}
	}
	if winner < 0 {
		t.Errorf("nobody got session a: %v", seen)
	}
}
