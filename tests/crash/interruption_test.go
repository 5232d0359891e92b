package crash

import (
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/value"
)

// endless is an aggregation that would take minutes in one evaluation of an expression.
const endless = `{"aggregate": "one", "pipeline": [{"$project": {"r": {"$size": {"$regexFindAll": {"input": "$s", "regex": "(a*)(a*)(a*)b|a"}}}}}], "cursor": {}, "comment": "endless"}`

// promptly is how long an interrupted command may take to end on a machine that is busy; else
// it is some milliseconds.
const promptly = 8 * time.Second

// TestInterruption: a single evaluation that would take minutes ends at once by maxTimeMS, by
// killOp, when its client leaves, and when the server stops.
func TestInterruption(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	c := connect(t, p)
	c.must(t, "insert", value.String("one"), "documents", value.NewArray(value.Document(value.NewDoc(
		"_id", value.Int32(1), "s", value.String(strings.Repeat("a", 400_000))))))
	ends := func(what string, began time.Time, reply value.Doc, code int32) {
		t.Helper()
		if got := reply.Lookup("code").Int32(); got != code || time.Since(began) > promptly {
			t.Errorf("%s: code %d after %v", what, got, time.Since(began))
		}
	}
	send := func(command value.Doc) (*client, chan value.Doc) {
		other, replies := connect(t, p), make(chan value.Doc, 1)
		go func() {
			b := value.NewBuilder()
			it := command.Iter()
			m, err := other.RoundTrip(b.Raw(it.Rest()).String("$db", "crash").Doc())
			if err != nil {
				close(replies)
				return
			}
			replies <- m.Body.Clone()
		}()
		return other, replies
	}
	running := func() (opid value.Value) {
		reply := c.must(t, "currentOp", value.Int32(1), "command.comment", value.String("endless"), "$db", value.String("admin"))
		return reply.Lookup("inprog").Doc().Index(0).Doc().Lookup("opid")
	}
	begun := func() { eventually(t, "the command runs", func() bool { return !running().IsMissing() }) }
	over := func() { eventually(t, "the command has ended", func() bool { return running().IsMissing() }) }

	began := time.Now()
	_, replies := send(value.MustJSON(strings.Replace(endless, `"cursor"`, `"maxTimeMS": 500, "cursor"`, 1)))
	ends("maxTimeMS", began, <-replies, 50)

	_, replies = send(value.MustJSON(endless))
	begun()
	began = time.Now()
	c.must(t, "killOp", value.Int32(1), "op", running(), "$db", value.String("admin"))
	ends("killOp", began, <-replies, 11601)

	leaving, _ := send(value.MustJSON(endless))
	begun()
	_ = leaving.Close()
	over()

	send(value.MustJSON(endless))
	begun()
	began = time.Now()
	p.Stop(t)
	if took := time.Since(began); took > promptly {
		t.Errorf("the server took %v to stop", took)
	}
}
