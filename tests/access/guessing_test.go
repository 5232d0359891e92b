package access

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/internal/proc"
)

// TestGuessingKeepsNobodyOut guesses the passwords of an existing and of a missing user
// over many connections from this machine, while others log in from it.
func TestGuessingKeepsNobodyOut(t *testing.T) {
	p := start(t, t.TempDir())
	root := p.root()
	root.must("admin", `{"createUser": "ann", "pwd": "p", "roles": []}`)
	ctx, cancel := context.WithCancel(context.Background())
	var guessing sync.WaitGroup
	for i := range 24 {
		name := []string{"root", "nobody"}[i%2]
		guessing.Add(1)
		go func() {
			defer guessing.Done()
			for ctx.Err() == nil {
				o := options.Client().ApplyURI(p.URI).SetServerMonitoringMode(options.ServerMonitoringModePoll)
				c, err := mongo.Connect(o.SetAuth(options.Credential{Username: name, Password: "wrong", AuthSource: "admin"}))
				if err != nil {
					return
				}
				_ = c.Database("admin").RunCommand(ctx, bson.D{{Key: "connectionStatus", Value: 1}}).Err()
				_ = c.Disconnect(context.Background())
			}
		}()
	}
	defer guessing.Wait()
	defer cancel()
	// Once each name has failed often, all guessers wait, and would delay other logins if
	// the delay applied to these.
	failures := func() (n int) {
		status := root.must("admin", `{"serverStatus": 1}`)
		for _, e := range status["asserts"].(bson.D) {
			if e.Key == "user" {
				n = int(e.Value.(int32))
			}
		}
		return n
	}
	for failures() < 20 {
		proc.Pause(20 * time.Millisecond)
	}
	// A wrong login is delayed by up to 5 s. If right ones were, each of them would be, and so
	// would the fastest; the machine delays some.
	for name, password := range map[string]string{"root": "secret", "ann": "p"} {
		fastest := time.Hour
		for range 4 {
			began := time.Now()
			p.login(name, password).must("admin", `{"connectionStatus": 1}`)
			fastest = min(fastest, time.Since(began))
		}
		if fastest > 4*time.Second {
			t.Errorf("%s logged in after %v at best", name, fastest)
		}
	}
}
