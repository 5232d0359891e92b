package commands_test

import (
	"context"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// Drivers recognise a mongos by the message in its hello, which names no replica set. As a
// mongos, it sends the cluster time with each reply.
func TestClusterHello(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	for _, on := range []server{a, b} {
		for _, hello := range []string{"hello", "isMaster"} {
			reply := on.Admin(`{` + hello + `: 1, helloOk: true}`)
			primary := map[string]string{"hello": "isWritablePrimary", "isMaster": "ismaster"}[hello]
			if reply.Lookup("msg").Str() != "isdbgrid" || !reply.Lookup(primary).Truthy() || reply.Lookup("maxWireVersion").SafeInt64() != 27 {
				t.Errorf("%s answered %s", hello, reply)
			}
			for _, absent := range []string{"setName", "hosts", "primary", "me", "secondary", "lastWrite", "readOnly", "serviceId"} {
				if reply.Has(absent) {
					t.Errorf("%s has %s: %s", hello, absent, reply)
				}
			}
			for _, present := range []string{"topologyVersion", "$clusterTime", "operationTime", "logicalSessionTimeoutMinutes"} {
				if !reply.Has(present) {
					t.Errorf("%s has no %s: %s", hello, present, reply)
				}
			}
		}
	}
	own, other := a.Admin(`{hello: 1}`).Lookup("topologyVersion").Doc(), b.Admin(`{hello: 1}`).Lookup("topologyVersion").Doc()
	if own.Lookup("processId").ObjectID() == other.Lookup("processId").ObjectID() {
		t.Errorf("both servers have the process id of %s", own)
	}
	a.Refuses([]harness.Refusal{ // the codes are those of a mongos
		{DB: "admin", Command: `{hello: 1, maxAwaitTimeMS: 1}`, Code: 51760, Text: "A request with 'maxAwaitTimeMS' must include a 'topologyVersion'"},
		{DB: "admin", Command: `{hello: 1, topologyVersion: ` + harness.JSONOf(value.Document(own)) + `}`, Code: 51760, Text: "A request with a 'topologyVersion' must include 'maxAwaitTimeMS'"},
		{DB: "admin", Command: strings.Replace(`{hello: 1, maxAwaitTimeMS: 1, topologyVersion: `+harness.JSONOf(value.Document(own))+`}`, `"0"`, `"-1"`, 1), Code: 51758, Text: "topologyVersion must have a non-negative counter"},
		{DB: "admin", Command: strings.Replace(`{hello: 1, maxAwaitTimeMS: 1, topologyVersion: `+harness.JSONOf(value.Document(own))+`}`, `"0"`, `"9"`, 1), Code: 51761, Text: "Received a topology version with counter: 9 which is greater than the mongos topology version counter: 0"},
	})
}

// Servers that share their data are no replica set.
func TestClusterIsNoReplicaSet(t *testing.T) {
	t.Parallel()
	a, _, _ := serversOver(t)
	_, err := commands.New(kernel.Options{Engine: a.engine, Clock: a.Clock, Log: zerolog.Nop(), ReplSet: "rs0"})
	if err == nil || !strings.Contains(err.Error(), "not a replica set") {
		t.Errorf("started: %v", err)
	}
}

// Replies to statements of a transaction have a recovery token: empty as long as it has only
// read, with the shard that knows the outcome once it has written.
func TestRecoveryToken(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	a.OK(`{insert: "c", documents: [{_id: 1}]}`)
	token := func(reply value.Doc, shard bool) {
		t.Helper()
		if v, given := reply.Get("recoveryToken"); !given || v.Doc().Has("recoveryShardId") != shard {
			t.Errorf("answered %s", reply)
		}
	}
	token(a.OK(harness.InTxnArgs(`{"find": "c"}`, 1, true)), false)
	written := a.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 2}]}`, 1, false))
	token(written, true)
	token(a.OK(harness.InTxnArgs(`{"find": "c"}`, 1, false)), true)
	commit := recovering("commitTransaction", 1)
	token(a.Admin(commit), true)
	token(b.Admin(commit), true)
	if reply := a.OK(`{find: "c"}`); reply.Has("recoveryToken") {
		t.Errorf("outside transactions answered %s", reply)
	}
}

// recovering is a command that ends transaction n, with a recovery token.
func recovering(name string, n int) string {
	return harness.InTxnArgs(`{"`+name+`": 1, "recoveryToken": {"recoveryShardId": "duskdb"}}`, n, false)
}

// lostCommits is an engine whose commits of transactions lose their answers.
type lostCommits struct{ *storagetest.Member }

// Begin opens a transaction.
func (e lostCommits) Begin(ctx context.Context) (storage.Txn, error) {
	tx, err := e.Member.Begin(ctx)
	return lostCommit{tx}, err
}

type lostCommit struct{ storage.Txn }

// CommitWith fails, and leaves open whether it has succeeded.
func (lostCommit) CommitWith(context.Context, func(storage.Tx) error) error {
	return storage.ErrUnavailable
}

// If a server does not know what has become of a commit, it prevents it before it says that there is
// no such transaction: the driver then runs the whole transaction again.
func TestCommitOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	a, _, _ := serversOver(t)
	m, ok := a.engine.(*storagetest.Member)
	if !ok {
		t.Skip("the engine of this test is another one")
	}
	h := harness.NewOver(t, lostCommits{m}, a.Clock, kernel.Options{Log: zerolog.Nop()})
	h.OK(`{create: "c"}`)
	h.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 1}]}`, 1, true))
	if reply := h.Admin(recovering("commitTransaction", 1)); reply.Lookup("code").Int32() != 6 {
		t.Errorf("a commit whose answer is lost: %s", reply)
	}
	if reply := h.Admin(recovering("commitTransaction", 1)); reply.Lookup("code").Int32() != 251 || !strings.Contains(reply.String(), "TransientTransactionError") {
		t.Errorf("the same again: %s", reply)
	}
	docs := harness.Docs(a.RunOn("config", harness.Relaxed(`{find: "transactions"}`)))
	if len(docs) != 1 || docs[0].Lookup("state").Str() != "aborted" || docs[0].Lookup("txnNum").Int64() != 1 {
		t.Errorf("the transaction may still be committed: %v", docs)
	}
}

// A commit that reaches another server than the one with the open transaction is answered
// truthfully: there will be no such transaction, so that the driver can run it again.
func TestCommitOnAnotherServer(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	insert := harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 1}]}`, 1, true)
	a.OK(`{create: "c"}`)
	a.OK(insert)
	reply := b.Admin(recovering("commitTransaction", 1))
	if reply.Lookup("code").Int32() != 251 || !strings.Contains(reply.String(), "TransientTransactionError") {
		t.Fatalf("the other server answered %s", reply)
	}
	if reply := a.Admin(recovering("commitTransaction", 1)); reply.Lookup("code").Int32() != 251 {
		t.Errorf("its own server answered %s", reply)
	}
	if n := a.Count("c"); n != 0 {
		t.Errorf("%d documents after it was given up", n)
	}
	b.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 1}]}`, 2, true))
	if reply := b.EndTxn("commitTransaction", 2); !reply.Lookup("ok").Truthy() {
		t.Errorf("run again: %s", reply)
	}
	a.Holds("c", `{"_id": 1}`)
	// Without the token nothing is known of the other server, and nothing is prevented.
	a.OK(harness.InTxnArgs(`{"insert": "c", "documents": [{"_id": 3}]}`, 3, true))
	if reply := b.EndTxn("commitTransaction", 3); reply.Lookup("code").Int32() != 251 {
		t.Errorf("without a token: %s", reply)
	}
	if reply := a.EndTxn("commitTransaction", 3); !reply.Lookup("ok").Truthy() {
		t.Errorf("its own server answered %s", reply)
	}
}

// What a client has opened over a load balancer ends with its connection.
func TestBalancedConnection(t *testing.T) {
	t.Parallel()
	a, _, _ := serversOver(t)
	a.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}, {_id: 3}]}`)
	a.OK(`{find: "c", batchSize: 1}`)
	svc := &commands.Service{Service: a.Svc}
	balanced := &harness.Harness{TB: t, Svc: a.Svc, Clock: a.Clock, Conn: svc.NewConn("10.0.0.1:1", "10.0.0.2:2")}
	balanced.Conn.FromBalancer = true
	if reply := balanced.Admin(`{hello: 1}`); reply.Lookup("code").Int32() != 354 {
		t.Errorf("a client that does not know of balancers: %s", reply)
	}
	balanced.Conn = svc.NewConn("10.0.0.1:1", "10.0.0.2:2")
	balanced.Conn.FromBalancer = true
	id := balanced.Admin(`{hello: 1, loadBalanced: true}`).Lookup("serviceId")
	if id.Kind() != value.KindObjectID || id.ObjectID() != a.Svc.ServiceID {
		t.Errorf("the service id is %s", id)
	}
	if reply := balanced.Admin(`{hello: 1, loadBalanced: true}`); reply.Has("serviceId") {
		t.Errorf("the second hello answered %s", reply)
	}
	if reply := a.Admin(`{hello: 1, loadBalanced: true}`); reply.Has("serviceId") || !reply.Lookup("ok").Truthy() {
		t.Errorf("not over a balancer: %s", reply)
	}
	balanced.OK(`{find: "c", batchSize: 1}`)
	balanced.OK(harness.InTxnArgs(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"x": 1}}}]}`, 1, true))
	if open, _, _, _, _ := a.Svc.Cursors.Count(); open != 2 {
		t.Fatalf("%d cursors", open)
	}
	connections := func() int32 {
		return a.Admin(`{serverStatus: 1}`).Lookup("connections").Doc().Lookup("loadBalanced").Int32()
	}
	if n := connections(); n != 1 {
		t.Errorf("%d connections through the balancer, want 1", n)
	}
	svc.CloseConn(balanced.Conn)
	if n := connections(); n != 0 {
		t.Errorf("%d connections through the balancer afterwards, want 0", n)
	}
	if open, _, _, _, _ := a.Svc.Cursors.Count(); open != 1 {
		t.Errorf("%d cursors are open afterwards, want the one of the other connection", open)
	}
	a.OK(`{update: "c", updates: [{q: {_id: 1}, u: {$set: {x: 2}}}], maxTimeMS: 5000}`) // the lock is free
}
