package commands_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// A server that starts clears up after those that have ended, and leaves alone what the
// commands of others still use: the temporary collection of an $out, a policy that is being
// changed.
func TestSharedLeftOvers(t *testing.T) {
	t.Parallel()
	a, b, real := serversOver(t)
	a.OK(`{create: "tmp.agg_out.7"}`) // of a server that had the data alone
	ownerA, ownerB := a.leave("ca"), b.leave("cb")
	check := func(what string, leftA, leftB int) {
		t.Helper()
		b.another()
		if nA, nB := b.left(ownerA), b.left(ownerB); nA != leftA || nB != leftB {
			t.Errorf("%s: left are %d and %d, want %d and %d", what, nA, nB, leftA, leftB)
		}
	}
	check("both live", 2, 2)
	a.die(t)
	check("one has died just now", 2, 2)
	if err := real.Advance(storagetest.LeaseTime); err != nil {
		t.Fatal(err)
	}
	check("one has died", 0, 2)
	if name := b.Svc.OwnerName(); name != ownerB {
		t.Errorf("the name has changed from %s to %s", ownerB, name)
	}
	if n := b.left("tmp.agg_out.7"); n != 0 {
		t.Error("what a server without others has left is still there")
	}
	b.OK(`{insert: "c", documents: [{_id: 1}]}`)
	b.OK(`{aggregate: "c", pipeline: [{$out: "d"}], cursor: {}}`)
	b.Holds("d", `{"_id": 1}`)
}

// A server that was believed to have ended does not use its name again.
func TestSharedNameIsTaken(t *testing.T) {
	t.Parallel()
	a, b, real := serversOver(t)
	owner := a.leave("ca")
	a.die(t)
	if err := real.Advance(storagetest.LeaseTime); err != nil {
		t.Fatal(err)
	}
	if b.another(); b.left(owner) != 0 {
		t.Error("the policy was not reopened")
	}
	if again := a.Svc.OwnerName(); again == owner {
		t.Errorf("it goes on as %s", again)
	}
}

// Due documents are removed once, by the server that has the lease; after that server has
// died, by the next one that gets the lease.
func TestSharedExpiry(t *testing.T) {
	t.Parallel()
	a, b, real := serversOver(t)
	a.OK(`{createIndexes: "c", indexes: [{key: {at: 1}, name: "at_1", expireAfterSeconds: 1}]}`)
	ctx, stop := context.WithCancel(t.Context())
	waitA, waitB := a.Svc.Monitor.Start(ctx), b.Svc.Monitor.Start(ctx)
	defer func() { stop(); waitA(); waitB() }()
	round := func(what string, left int, passesA, passesB int64) {
		t.Helper()
		var docs string
		for i := range 300 {
			docs += fmt.Sprintf(`, {at: {$date: {$numberLong: "%d"}}}`, a.Clock.NowMillis()+int64(i))
		}
		b.OK(`{insert: "c", documents: [` + docs[2:] + `]}`)
		a.Advance(61)
		if n := int(a.OK(`{count: "c"}`).Lookup("n").SafeInt64()); n != left {
			t.Errorf("%s: %d documents are left, want %d", what, n, left)
		}
		if nA, nB := a.Svc.Monitor.Metrics().Passes.Load(), b.Svc.Monitor.Metrics().Passes.Load(); nA != passesA || nB != passesB {
			t.Errorf("%s: %d and %d passes, want %d and %d", what, nA, nB, passesA, passesB)
		}
	}
	a.engine.Lease("expiry") // the first server that requests it has it
	round("both live", 0, 1, 0)
	a.die(t)
	if err := real.Advance(9 * time.Second); err != nil {
		t.Fatal(err)
	}
	round("dead for 9 s", 300, 1, 0)
	if err := real.Advance(time.Second); err != nil {
		t.Fatal(err)
	}
	for range 100 { // it notices within a second, without waiting for the end of its sleep
		a.Clock.WaitForTimers(2)
		if b.Svc.Monitor.Metrics().Passes.Load() > 0 {
			break
		}
		a.Advance(1)
	}
	if n := a.Count("c"); n != 0 {
		t.Errorf("%d documents are left after the lease has moved", n)
	}
	round("dead for 10 s", 0, 1, 2)
}

// Two passes over the same documents at the same time remove each once.
func TestSharedExpiryOverlaps(t *testing.T) {
	t.Parallel()
	a, b, _ := serversOver(t)
	a.OK(`{createIndexes: "c", indexes: [{key: {at: 1}, name: "at_1", expireAfterSeconds: 1}]}`)
	const n = 2000
	var docs string
	for range n {
		docs += `, {at: {$date: "2025-12-31T00:00:00Z"}}`
	}
	a.OK(`{insert: "c", documents: [` + docs[2:] + `]}`)
	done := make(chan value.Doc, 2)
	for _, on := range []server{a, b} {
		go func() { done <- on.Admin(`{runExpirationPass: 1}`) }()
	}
	for range 2 {
		if reply := <-done; !reply.Lookup("ok").Truthy() {
			t.Errorf("a pass answered %s", reply)
		}
	}
	removed := a.Svc.Monitor.Metrics().DeletedDocuments.Load() + b.Svc.Monitor.Metrics().DeletedDocuments.Load()
	if left := a.Count("c"); left != 0 || removed != n {
		t.Errorf("%d are left, %d were removed", left, removed)
	}
}

// leave does what a running $out and a running change of a policy do, and returns the name of
// the server for that.
func (s server) leave(coll string) (owner string) {
	s.Helper()
	owner = s.Svc.OwnerName()
	s.OK(`{create: "tmp.agg_out.70.` + owner + `"}`)
	s.OK(`{create: "` + coll + `", documentTtl: {default: 10}}`)
	ns := storage.Namespace{DB: "test", Coll: coll}
	err := storage.Retry(s.Context(), s.engine, func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		return tx.SetOptions(ns, catalog.PolicyEnding(coll.Info(), catalog.Of(coll.Info()).DocTTL, s.Clock.NowMillis(), owner))
	})
	if err != nil {
		s.Fatal(err)
	}
	return owner
}

// left returns how much is left that has the name of a server.
func (s server) left(owner string) (n int) {
	s.Helper()
	err := s.engine.View(s.Context(), func(tx storage.Tx) error {
		n = 0
		infos, err := tx.Collections("test")
		for _, info := range infos {
			p := catalog.Of(info).DocTTL
			if strings.HasSuffix(info.Namespace.Coll, owner) || p != nil && p.Until != 0 && p.EndedBy == owner {
				n++
			}
		}
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return n
}
