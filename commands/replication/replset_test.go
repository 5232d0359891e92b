package replication_test

import (
	"fmt"
	"testing"

	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/storage"
)

func TestReplicaSetFace(t *testing.T) {
	h := harness.New(t).LoneServer("the face of a member; see TestClusterHello")
	if r := h.Admin(`{"hello": 1}`); r.Has("setName") || r.Has("$clusterTime") {
		t.Errorf("a standalone says %s", r)
	}
	if r := h.Admin(`{"replSetGetStatus": 1}`); r.Lookup("code").Int32() != 76 {
		t.Errorf("a standalone says %s", r)
	}
	h.AsMember()
	r := h.Admin(`{"hello": 1}`)
	for _, field := range []string{"hosts", "setName", "setVersion", "me", "primary", "electionId", "lastWrite", "topologyVersion", "$clusterTime", "operationTime"} {
		if !r.Has(field) {
			t.Errorf("hello has no %s", field)
		}
	}
	if me := r.Lookup("me").Str(); me != "127.0.0.1:27017" {
		t.Errorf("me is %s", me)
	}
	if s := h.Admin(`{"replSetGetStatus": 1}`); s.Lookup("members").Doc().Index(0).Doc().Lookup("stateStr").Str() != "PRIMARY" {
		t.Errorf("status %s", s)
	}
	if r := h.Admin(`{"replSetStepDown": 10}`); r.Lookup("code").Int32() != 262 {
		t.Error(r)
	}
}

func TestOperationTimeGrows(t *testing.T) {
	h := harness.New(t).AsMember()
	before := clustertime.Of(h.OK(`{"insert": "c", "documents": [{"_id": 1}]}`).Lookup("operationTime"))
	after := clustertime.Of(h.OK(`{"insert": "c", "documents": [{"_id": 2}]}`).Lookup("operationTime"))
	if after <= before {
		t.Errorf("operationTime %d after %d", after, before)
	}
	at := `{"$timestamp": {"t": 1767225600, "i": 2}}`
	h.OK(`{"find": "c", "readConcern": {"afterClusterTime": ` + at + `}}`)
	h.Fails(72, `{"find": "c", "readConcern": {"level": "local", "atClusterTime": `+at+`}}`)
}

// A getMore may say the read concern of its cursor again. It reads the state of
// the cursor, and does not wait for itself.
func TestSnapshotGetMore(t *testing.T) {
	h := harness.New(t).AsMember()
	h.OK(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]}`)
	cursor := h.OK(`{"find": "c", "batchSize": 1, "readConcern": {"level": "snapshot"}}`).Lookup("cursor").Doc()
	h.OK(`{"insert": "c", "documents": [{"_id": 3}]}`)
	concern := `{"level": "snapshot", "atClusterTime": ` + cursor.Lookup("atClusterTime").JSON() + `}`
	more := fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "readConcern": %s}`, cursor.Lookup("id").Int64(), concern)
	if got := h.OK(more).Lookup("cursor").Doc().Lookup("nextBatch").Doc(); got.Len() != 1 {
		t.Errorf("the rest of two is %s", got)
	}
	h.Fails(43, more)
}

// Who waits for the turn at a state gives up when its time is over, and a
// state that is too old is refused.
func TestSnapshotTurn(t *testing.T) {
	h := harness.New(t).AsMember()
	h.OK(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]}`)
	cursor := h.OK(`{"find": "c", "batchSize": 1, "readConcern": {"level": "snapshot"}}`).Lookup("cursor").Doc()
	at := cursor.Lookup("atClusterTime").JSON()
	held := h.Svc.Snapshots.List[0]
	held.Turn <- struct{}{}
	h.Fails(50, `{"find": "c", "maxTimeMS": 1, "readConcern": {"level": "snapshot", "atClusterTime": `+at+`}}`)
	<-held.Turn
	h.Svc.Snapshots.Mu.Lock()
	h.Svc.Snapshots.Expire(held.Made.Add(2*storage.DefaultSnapshots.MaxAge), storage.DefaultSnapshots)
	h.Svc.Snapshots.Mu.Unlock()
	h.Fails(239, fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c"}`, cursor.Lookup("id").Int64()))
}

func TestSnapshotReads(t *testing.T) {
	h := harness.New(t).AsMember()
	h.OK(`{"insert": "c", "documents": [{"_id": 1}]}`)
	first := h.OK(`{"find": "c", "readConcern": {"level": "snapshot"}}`)
	at := first.Lookup("cursor").Doc().Lookup("atClusterTime").JSON()
	h.OK(`{"insert": "c", "documents": [{"_id": 2}]}`)
	if n := len(harness.Docs(h.OK(`{"find": "c", "readConcern": {"level": "snapshot", "atClusterTime": ` + at + `}}`))); n != 1 {
		t.Errorf("%d documents at %s", n, at)
	}
	if n := len(harness.Docs(h.OK(`{"find": "c", "readConcern": {"level": "snapshot"}}`))); n != 2 {
		t.Errorf("%d documents now", n)
	}
	for _, read := range []string{`"find": "c", "filter": {"_id": 2}`, `"distinct": "c", "key": "_id"`, `"aggregate": "c", "pipeline": [], "cursor": {}`} {
		first := h.OK(`{` + read + `, "readConcern": {"level": "snapshot"}}`)
		at := first.Lookup("atClusterTime")
		if cursor := first.Lookup("cursor"); !cursor.IsMissing() {
			at = cursor.Doc().Lookup("atClusterTime")
		}
		if at.IsMissing() {
			t.Errorf("%s: answered %s", read, first)
		}
	}
	h.Fails(239, `{"find": "c", "readConcern": {"level": "snapshot", "atClusterTime": {"$timestamp": {"t": 1, "i": 1}}}}`)
}
