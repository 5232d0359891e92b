package access

import (
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/xdg-go/scram"

	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// TestHangingUpSparesNoDelay guesses over 40 connections at once, each of which hangs up a
// quarter of a second after its guess, since the right password would be answered by then.
func TestHangingUpSparesNoDelay(t *testing.T) {
	p := start(t, t.TempDir())
	p.root().must("admin", `{"createUser": "ann", "pwd": "p", "roles": []}`)
	uri, err := url.Parse(p.URI)
	if err != nil {
		t.Fatal(err)
	}
	const threads, patience = 40, 250 * time.Millisecond
	began := time.Now()
	end := began.Add(6 * time.Second)
	var sent atomic.Int64
	var guessing sync.WaitGroup
	for range threads {
		guessing.Go(func() {
			for time.Now().Before(end) {
				if guess(uri.Host, "ann", patience) {
					sent.Add(1)
				}
			}
		})
	}
	guessing.Wait()
	took := time.Since(began)
	p.login("root", "secret").must("admin", `{"connectionStatus": 1}`) // others are not concerned
	p.stop()
	looked := 0
	for line := range strings.Lines(p.Stderr.String()) {
		if strings.Contains(line, "Failed to authenticate") && strings.Contains(line, "Authentication failed.") { // else it was not looked at
			looked++
		}
	}
	t.Logf("%d of %d guesses in %v were looked at", looked, sent.Load(), took)
	// There are 16 places, each for 5 s, but for eleven failures with short delays or none.
	if limit := 16 + 11 + 16*int(took/(5*time.Second)+1); looked > limit {
		t.Errorf("%d guesses were looked at, at most %d are possible", looked, limit)
	}
	if looked == 0 {
		t.Error("no guess was looked at")
	}
}

// guess sends a wrong password, and waits a short time for the reply. It reports whether the
// password was sent.
func guess(address, name string, patience time.Duration) bool {
	nc, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	defer nc.Close()
	client, err := scram.SHA256.NewClient(name, "wrong", "")
	if err != nil {
		return false
	}
	talk, c := client.NewConversation(), wire.NewClient(nc)
	text, _ := talk.Step("")
	m, err := c.RoundTrip(value.NewDoc("saslStart", value.Int32(1), "mechanism", value.String("SCRAM-SHA-256"), "payload", value.Binary(0, []byte(text)), "$db", value.String("admin")))
	if err != nil {
		return false
	}
	_, payload := m.Body.Lookup("payload").Binary()
	if text, err = talk.Step(string(payload)); err != nil {
		return false
	}
	_ = nc.SetReadDeadline(time.Now().Add(patience))
	_, _ = c.RoundTrip(value.NewDoc("saslContinue", value.Int32(1), "conversationId", value.Int32(1), "payload", value.Binary(0, []byte(text)), "$db", value.String("admin")))
	return true
}
