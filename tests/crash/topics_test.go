package crash

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/value"
)

// topicSender sends messages to a topic, one after the other. One whose outcome is unknown is
// sent again with the same messageId, as the topic finds duplicates.
type topicSender struct {
	number int
	sent   int64 // messages that were acknowledged; the next one may have been stored as well
}

func (s *topicSender) name(n int64) string { return fmt.Sprintf("%d-%06d", s.number, n) }

// work sends until the server is killed.
func (s *topicSender) work(addr string) {
	c, err := dial(addr)
	if err != nil {
		return
	}
	defer c.Close()
	for {
		id := value.String(s.name(s.sent))
		mq := value.NewDoc("messageId", id, "sessionId", value.String(fmt.Sprint(s.number)))
		d := value.NewDoc("_id", id, "_mq", value.Document(mq))
		if _, err := c.run("mqSend", value.String("t"), "messages", value.NewArray(value.Document(d)), "writeConcern", value.Document(value.NewDoc("j", value.Bool(true)))); err != nil {
			return
		}
		s.sent++
	}
}

// prepareTopic makes a topic with subscriptions of every kind; the messages of one end in a
// queue.
func prepareTopic(tb testing.TB, c *client) {
	tb.Helper()
	c.must(tb, "create", value.String("end"), "messageQueue", value.Document(value.EmptyDoc))
	c.must(tb, "create", value.String("t"), "messageTopic", value.Document(value.NewDoc("requiresDuplicateDetection", value.Bool(true), "duplicateDetectionHistoryTimeWindow", value.String("P7D"))))
	for name, more := range map[string]string{"a": `{}`, "b": `{"forwardTo": "end"}`, "c": `{"requiresSession": true}`} {
		b := value.NewBuilder().String("topic", "t")
		for field, v := range value.MustJSON(more).All() {
			b.Append(field, v)
		}
		c.must(tb, "create", value.String(name), "messageSubscription", value.Document(b.Doc()))
	}
}

// checkTopics looks whether each message is in all places or in none, once, and whether all
// that were acknowledged are.
func checkTopics(tb testing.TB, c *client, senders []*topicSender) {
	tb.Helper()
	ids := func(coll string) (list []string) {
		for _, d := range c.all(tb, coll) {
			list = append(list, d.Lookup("_id").Str())
		}
		slices.Sort(list)
		return list
	}
	want := ids("a")
	for _, coll := range []string{"end", "c"} {
		if got := ids(coll); !slices.Equal(got, want) {
			tb.Errorf("%s has %d messages, and a has %d", coll, len(got), len(want))
		}
	}
	for _, coll := range []string{"b", "t", "a.deadletterqueue", "b.deadletterqueue", "c.deadletterqueue"} {
		if got := ids(coll); len(got) > 0 {
			tb.Errorf("%s has %v", coll, got)
		}
	}
	for _, s := range senders {
		for n := range s.sent {
			if _, found := slices.BinarySearch(want, s.name(n)); !found {
				tb.Errorf("%s was acknowledged and is lost", s.name(n))
			}
		}
	}
	for i := 1; i < len(want); i++ {
		if want[i] == want[i-1] {
			tb.Errorf("%s is there twice", want[i])
		}
	}
}

// A message of a topic is in all of its subscriptions, and in the queue that one of them
// forwards to, or in none, whenever the server is killed; and no duplicate is stored.
func TestKillTopics(t *testing.T) {
	d, seed := crashTime(t)
	t.Logf("DUSKDB_CRASH_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	senders := []*topicSender{{number: 0}, {number: 1}, {number: 2}, {number: 3}}
	rounds := 0
	for until := time.Now().Add(d); time.Now().Before(until) && !t.Failed(); rounds++ {
		p := start(t, dir)
		c, err := dial(p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if rounds == 0 {
			prepareTopic(t, c)
		} else {
			checkTopics(t, c, senders)
		}
		_ = c.Close()
		var wg sync.WaitGroup
		for _, s := range senders {
			wg.Go(func() { s.work(p.Addr()) })
		}
		proc.Pause(time.Duration(20+rnd.IntN(300)) * time.Millisecond)
		p.Kill()
		wg.Wait()
	}
	p := start(t, dir)
	c, err := dial(p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	checkTopics(t, c, senders)
	total := int64(0)
	for _, s := range senders {
		total += s.sent
	}
	t.Logf("%d kills, %d messages acknowledged", rounds, total)
}
