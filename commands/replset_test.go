package commands

import (
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/replication"
	"github.com/duskdb/duskdb/commands/session"
)

// asMember makes the harness's server the member of a replica set.
func (h *harness) asMember() *harness {
	h.Helper()
	h.svc.Options.ReplSet = "rs"
	if err := replication.JoinSet(h.svc); err != nil {
		h.Fatal(err)
	}
	return h
}

func TestReplicaSetFace(t *testing.T) {
	h := newHarness(t)
	if r := h.admin(`{"hello": 1}`); r.Has("setName") || r.Has("$clusterTime") {
		t.Errorf("a standalone says %s", r)
	}
	if r := h.admin(`{"replSetGetStatus": 1}`); r.Lookup("code").Int32() != 76 {
		t.Errorf("a standalone says %s", r)
	}
	h.asMember()
	r := h.admin(`{"hello": 1}`)
	for _, field := range []string{"hosts", "setName", "setVersion", "me", "primary", "electionId", "lastWrite", "topologyVersion", "$clusterTime", "operationTime"} {
		if !r.Has(field) {
			t.Errorf("hello has no %s", field)
		}
	}
	if me := r.Lookup("me").Str(); me != "127.0.0.1:27017" {
		t.Errorf("me is %s", me)
	}
	if s := h.admin(`{"replSetGetStatus": 1}`); s.Lookup("members").Doc().Index(0).Doc().Lookup("stateStr").Str() != "PRIMARY" {
		t.Errorf("status %s", s)
	}
	if r := h.admin(`{"replSetStepDown": 10}`); r.Lookup("code").Int32() != 262 {
		t.Error(r)
	}
}

func TestOperationTimeGrows(t *testing.T) {
	h := newHarness(t).asMember()
	before := clustertime.Of(h.ok(`{"insert": "c", "documents": [{"_id": 1}]}`).Lookup("operationTime"))
	after := clustertime.Of(h.ok(`{"insert": "c", "documents": [{"_id": 2}]}`).Lookup("operationTime"))
	if after <= before {
		t.Errorf("operationTime %d after %d", after, before)
	}
	at := `{"$timestamp": {"t": 1767225600, "i": 2}}`
	h.ok(`{"find": "c", "readConcern": {"afterClusterTime": ` + at + `}}`)
	h.fails(72, `{"find": "c", "readConcern": {"level": "local", "atClusterTime": `+at+`}}`)
}

// A getMore may say the read concern of its cursor again. It reads the state of
// the cursor, and does not wait for itself.
func TestSnapshotGetMore(t *testing.T) {
	h := newHarness(t).asMember()
	h.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]}`)
	cursor := h.ok(`{"find": "c", "batchSize": 1, "readConcern": {"level": "snapshot"}}`).Lookup("cursor").Doc()
	h.ok(`{"insert": "c", "documents": [{"_id": 3}]}`)
	concern := `{"level": "snapshot", "atClusterTime": ` + cursor.Lookup("atClusterTime").JSON() + `}`
	more := fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "readConcern": %s}`, cursor.Lookup("id").Int64(), concern)
	if got := h.ok(more).Lookup("cursor").Doc().Lookup("nextBatch").Doc(); got.Len() != 1 {
		t.Errorf("the rest of two is %s", got)
	}
	h.fails(43, more)
}

// Who waits for the turn at a state gives up when its time is over, and a
// state that is too old is refused.
func TestSnapshotTurn(t *testing.T) {
	h := newHarness(t).asMember()
	h.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]}`)
	cursor := h.ok(`{"find": "c", "batchSize": 1, "readConcern": {"level": "snapshot"}}`).Lookup("cursor").Doc()
	at := cursor.Lookup("atClusterTime").JSON()
	held := h.svc.Snapshots.List[0]
	held.Turn <- struct{}{}
	h.fails(50, `{"find": "c", "maxTimeMS": 1, "readConcern": {"level": "snapshot", "atClusterTime": `+at+`}}`)
	<-held.Turn
	h.svc.Snapshots.Mu.Lock()
	h.svc.Snapshots.Expire(held.Made.Add(2 * session.SnapshotKeep))
	h.svc.Snapshots.Mu.Unlock()
	h.fails(239, fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c"}`, cursor.Lookup("id").Int64()))
}

func TestSnapshotReads(t *testing.T) {
	h := newHarness(t).asMember()
	h.ok(`{"insert": "c", "documents": [{"_id": 1}]}`)
	first := h.ok(`{"find": "c", "readConcern": {"level": "snapshot"}}`)
	at := first.Lookup("cursor").Doc().Lookup("atClusterTime").JSON()
	h.ok(`{"insert": "c", "documents": [{"_id": 2}]}`)
	if n := len(docs(h.ok(`{"find": "c", "readConcern": {"level": "snapshot", "atClusterTime": ` + at + `}}`))); n != 1 {
		t.Errorf("%d documents at %s", n, at)
	}
	if n := len(docs(h.ok(`{"find": "c", "readConcern": {"level": "snapshot"}}`))); n != 2 {
		t.Errorf("%d documents now", n)
	}
	for _, read := range []string{`"find": "c", "filter": {"_id": 2}`, `"distinct": "c", "key": "_id"`, `"aggregate": "c", "pipeline": [], "cursor": {}`} {
		first := h.ok(`{` + read + `, "readConcern": {"level": "snapshot"}}`)
		at := first.Lookup("atClusterTime")
		if cursor := first.Lookup("cursor"); !cursor.IsMissing() {
			at = cursor.Doc().Lookup("atClusterTime")
		}
		if at.IsMissing() {
			t.Errorf("%s: answered %s", read, first)
		}
	}
	h.fails(239, `{"find": "c", "readConcern": {"level": "snapshot", "atClusterTime": {"$timestamp": {"t": 1, "i": 1}}}}`)
}
