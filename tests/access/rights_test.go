package access

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// TestApplyOpsGivesNoRights tries to become root, and to change collections without the
// privilege, by oplog entries; also after a restart.
func TestApplyOpsGivesNoRights(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir)
	root := p.root()
	root.must("admin", `{"createUser": "da", "pwd": "p", "roles": ["dbAdminAnyDatabase"]}`)
	root.must("vault", `{"insert": "hidden", "documents": [{"_id": 1}]}`)
	da := p.login("da", "p")
	for _, entry := range []string{
		`{"op": "u", "ns": "admin.system.users", "o2": {"_id": "admin.da"}, "o": {"$v": 2, "diff": {"u": {"roles": [{"role": "root", "db": "admin"}]}}}}`,
		`{"op": "u", "ns": "vault.hidden", "o2": {"_id": 1}, "o": {"$set": {"a": 1}}}`,
		`{"op": "i", "ns": "vault.hidden", "o": {"_id": 2}}`,
		`{"op": "i", "ns": "admin.system.users", "o": {"_id": "admin.eve", "user": "eve", "db": "admin", "credentials": {}, "roles": [{"role": "root", "db": "admin"}]}}`,
		`{"op": "d", "ns": "vault.hidden", "o": {"_id": 1}}`,
		`{"op": "n", "ns": "", "o": {"msg": "x"}}`,
		`{"op": "c", "ns": "vault.$cmd", "o": {"renameCollection": "vault.hidden", "to": "test.open"}}`,
		`{"op": "c", "ns": "admin.$cmd", "o": {"applyOps": [{"op": "d", "ns": "vault.hidden", "o": {"_id": 1}}]}}`,
		`{"op": "c", "ns": "admin.$cmd", "o": {"drop": "system.users"}}`,
	} {
		da.refuses(13, "admin", `{"applyOps": [`+entry+`]}`)
		// no entry of a list is applied if one of them is refused
		da.refuses(13, "admin", `{"applyOps": [{"op": "c", "ns": "vault.$cmd", "o": {"drop": "hidden"}}, `+entry+`]}`)
	}
	roles := func(l *login) string {
		return fmt.Sprint(l.must("admin", `{"connectionStatus": 1}`)["authInfo"])
	}
	if got := roles(da); strings.Contains(got, "root") {
		t.Errorf("on the open connection: %s", got)
	}
	p.stop()
	p = start(t, dir)
	if got := roles(p.login("da", "p")); strings.Contains(got, "root") {
		t.Errorf("after a restart: %s", got)
	}
	reply := p.root().must("vault", `{"find": "hidden"}`)
	if got, err := bson.MarshalExtJSON(reply["cursor"], false, false); err != nil || !strings.Contains(string(got), `"firstBatch":[{"_id":1}]`) {
		t.Errorf("vault.hidden is %s, %v", got, err)
	}
}

// TestCursorsOfOthers kills and reads cursors of other users, and cursors that the user
// opened with a privilege that has been revoked since.
func TestCursorsOfOthers(t *testing.T) {
	p := start(t, t.TempDir())
	root := p.root()
	root.must("vault", `{"insert": "hidden", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}]}`)
	root.must("test", `{"insert": "open", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}]}`)
	root.must("admin", `{"createUser": "ann", "pwd": "p", "roles": [{"role": "read", "db": "test"}]}`)
	ann := p.login("ann", "p")

	id := root.cursor("vault", `{"find": "hidden", "batchSize": 1}`)
	kill := fmt.Sprintf(`{"killCursors": "anything", "cursors": [{"$numberLong": "%d"}]}`, id)
	ann.refuses(13, "test", kill)
	ann.refuses(13, "test", fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "hidden"}`, id))

	own := ann.cursor("test", `{"find": "open", "batchSize": 1}`)
	stream := ann.cursor("test", `{"aggregate": "open", "pipeline": [{"$changeStream": {}}], "cursor": {}}`)
	root.must("test", `{"insert": "open", "documents": [{"_id": 4}]}`)
	root.must("admin", `{"revokeRolesFromUser": "ann", "roles": [{"role": "read", "db": "test"}]}`)
	for _, id := range []int64{own, stream} {
		got := ann.refuses(13, "test", fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "open"}`, id))
		if want := fmt.Sprintf("not authorized for getMore with cursor id %d", id); got != want {
			t.Errorf("getMore said %s, want %s", got, want)
		}
	}
	root.must("admin", `{"dropUser": "ann"}`)
	ann.refuses(13, "test", fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "open"}`, stream))
	root.must("vault", kill)
}

// TestKillCursorsWakes closes a change stream whose getMore would wait for a
// minute.
func TestKillCursorsWakes(t *testing.T) {
	p := start(t, t.TempDir())
	reader, other := p.root(), p.root()
	id := reader.cursor("test", `{"aggregate": "c", "pipeline": [{"$changeStream": {}}], "cursor": {}}`)
	began := time.Now()
	ended := make(chan error, 1)
	go func() {
		_, err := reader.run("test", fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "maxTimeMS": 60000}`, id))
		ended <- err
	}()
	for waiting := false; !waiting; { // until the getMore runs
		inprog := other.must("admin", `{"currentOp": 1, "op": "getmore"}`)["inprog"].(bson.A)
		waiting = len(inprog) > 0
	}
	other.must("test", fmt.Sprintf(`{"killCursors": "c", "cursors": [{"$numberLong": "%d"}]}`, id))
	var failed mongo.CommandError
	if err := <-ended; !errors.As(err, &failed) || failed.Code != 237 && failed.Code != 43 {
		t.Errorf("getMore: %v", err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("getMore ended after %v", took)
	}
	reader.must("test", `{"ping": 1}`)
}
