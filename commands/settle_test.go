package commands

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Where dead letters are refused, what has expired stays hidden and stored, and
// who needs it gone is told why it is not.
func TestRefusedDeadLettersStayHidden(t *testing.T) {
	policies := map[string]string{
		"create":  `{"create": "c", "documentTtl": {"default": 5}, "onExpire": {"deadLetterTo": "dead"}}`,
		"collMod": `{"create": "c"}`,
	}
	for route, create := range policies {
		h := newHarness(t)
		h.ok(`{"create": "dead", "validator": {"never": 1}}`)
		h.ok(create)
		if route == "collMod" {
			h.ok(`{"createIndexes": "c", "indexes": [{"key": {"_ts": 1}, "name": "_ts_1", "expireAfterSeconds": 5}]}`)
			h.ok(`{"collMod": "c", "onExpire": {"deadLetterTo": "dead"}}`)
		}
		h.ok(`{"createIndexes": "c", "indexes": [{"key": {"u": 1}, "name": "u", "unique": true}]}`)
		h.ok(`{"insert": "c", "documents": [{"_id": 1, "u": 1}, {"_id": 2, "u": 2}]}`)
		h.clock.Advance(5 * time.Second)
		h.admin(`{"runExpirationPass": 1}`)
		for _, command := range []string{
			`{"collMod": "c", "documentTtl": "off"}`, `{"collMod": "c", "documentTtl": {"default": 1000}}`,
			`{"dropIndexes": "c", "index": "_ts_1"}`, `{"dropIndexes": "c", "index": "*"}`,
			`{"collMod": "c", "index": {"keyPattern": {"_ts": 1}, "expireAfterSeconds": 1000}}`,
			`{"insert": "c", "documents": [{"_id": 1}]}`, `{"insert": "c", "documents": [{"_id": 3, "u": 2}]}`,
			`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"x": 1}}, "upsert": true}]}`,
		} {
			text := h.fails(121, command)
			if !strings.Contains(text, "Cannot move the expired document with _id") {
				t.Errorf("%s: %s", command, text)
			}
			h.finds(`{"find": "c"}`, `[]`)
		}
		// The way out: dead letters are accepted.
		h.ok(`{"collMod": "dead", "validator": {}}`)
		h.ok(`{"insert": "c", "documents": [{"_id": 1, "u": 2}]}`)
		h.ok(`{"collMod": "c", "documentTtl": "off"}`)
		h.finds(`{"find": "c"}`, `[{"_id":1,"u":2}]`)
		h.finds(`{"find": "dead", "projection": {"u": 1}, "sort": {"_id": 1}}`, `[{"_id":1,"u":1},{"_id":2,"u":2}]`)
	}
}

func TestOnExpireNeedsATargetThatTakesDocuments(t *testing.T) {
	h := newHarness(t)
	h.ok(`{"create": "view", "viewOn": "x", "pipeline": []}`)
	h.ok(`{"create": "queue", "messageQueue": {}}`)
	h.ok(`{"create": "series", "timeseries": {"timeField": "t"}}`)
	h.ok(`{"create": "c"}`)
	for _, target := range []string{"view", "queue", "queue.deadletterqueue", "series"} {
		h.fails(72, `{"create": "new", "documentTtl": {"default": 5}, "onExpire": {"deadLetterTo": "`+target+`"}}`)
		h.fails(72, `{"collMod": "c", "onExpire": {"deadLetterTo": "`+target+`"}}`)
	}
	h.ok(`{"create": "capped", "capped": true, "size": 4096}`)
	h.ok(`{"collMod": "c", "onExpire": {"deadLetterTo": "capped"}}`)
}

// A policy over a large backlog ends when its end is asked for, whatever time
// the removal takes: what would have expired meanwhile does not.
func TestPolicyEndsWhenAsked(t *testing.T) {
	for _, command := range []string{`{"collMod": "c", "documentTtl": "off"}`, `{"dropIndexes": "c", "index": "_ts_1"}`} {
		h := newHarness(t)
		h.ok(`{"create": "c", "documentTtl": {"default": 10}}`)
		for i := range 5 {
			var docs []string
			for k := range 100 {
				docs = append(docs, fmt.Sprintf(`{"_id": %d}`, i*100+k))
			}
			h.ok(`{"insert": "c", "documents": [` + strings.Join(docs, ",") + `]}`)
		}
		h.clock.Advance(5 * time.Second)
		h.ok(`{"insert": "c", "documents": [{"_id": 1000}]}`)
		h.clock.Advance(5 * time.Second)
		// While the backlog is removed, the clock moves on.
		moved := 0
		h.svc.Engine = &slowEngine{h.svc.Engine, func() { moved++; h.clock.Advance(4 * time.Second) }}
		h.ok(command)
		if moved < 2 {
			t.Errorf("removed in %d batches", moved)
		}
		h.finds(`{"find": "c"}`, `[{"_id":1000}]`)
		h.clock.Advance(time.Hour)
		h.finds(`{"find": "c"}`, `[{"_id":1000}]`)
	}
}

// A command that is killed in the middle leaves the policy as it was.
func TestPolicyGoesOnAfterKill(t *testing.T) {
	h := newHarness(t)
	h.ok(`{"create": "c", "documentTtl": {"default": 10}}`)
	var docs []string
	for k := range 500 {
		docs = append(docs, fmt.Sprintf(`{"_id": %d}`, k))
	}
	h.ok(`{"insert": "c", "documents": [` + strings.Join(docs, ",") + `]}`)
	h.clock.Advance(10 * time.Second)
	ctx, kill := context.WithCancel(context.Background())
	plain := h.svc.Engine
	updates := 0
	h.svc.Engine = &slowEngine{plain, func() {
		if updates++; updates == 2 {
			kill()
		}
	}}
	reply, _ := answer(h.svc, ctx, h.conn, &kernel.Request{Body: relaxed(`{collMod: "c", documentTtl: "off", $db: "test"}`)}, nil)
	if value.Doc(reply).Lookup("ok").Truthy() {
		t.Fatal(value.Doc(reply))
	}
	h.svc.Engine = plain
	h.ok(`{"insert": "c", "documents": [{"_id": "last"}]}`)
	h.finds(`{"find": "c"}`, `[{"_id":"last"}]`)
	h.clock.Advance(10 * time.Second)
	h.finds(`{"find": "c"}`, `[]`)
}

// slowEngine is an engine whose updates take their time.
type slowEngine struct {
	storage.Engine
	updated func()
}

func (e *slowEngine) Update(ctx context.Context, fn func(storage.Tx) error) error {
	err := e.Engine.Update(ctx, fn)
	e.updated()
	return err
}

// listed returns what listCollections shows.
func (h *harness) listed() []value.Doc {
	h.Helper()
	return docs(h.ok(`{"listCollections": 1}`))
}

// A command that fails leaves the policy as it was, and so does a server that
// ended in the middle.
func TestPolicyGoesOnAfterFailure(t *testing.T) {
	h := newHarness(t)
	h.ok(`{"create": "c", "documentTtl": {"default": 10}}`)
	var docs []string
	for k := range 500 {
		docs = append(docs, fmt.Sprintf(`{"_id": %d}`, k))
	}
	h.ok(`{"insert": "c", "documents": [` + strings.Join(docs, ",") + `]}`)
	h.clock.Advance(9 * time.Second)
	h.ok(`{"insert": "c", "documents": [{"_id": "late"}]}`)
	h.clock.Advance(time.Second)
	h.fails(2, `{"collMod": "c", "documentTtl": {"default": 0}}`)
	h.finds(`{"find": "c"}`, `[{"_id":"late"}]`)
	h.clock.Advance(9 * time.Second)
	h.finds(`{"find": "c"}`, `[]`)

	ns := storage.Namespace{DB: "test", Coll: "c"}
	h.ok(`{"insert": "c", "documents": [{"_id": "last"}]}`)
	err := h.svc.Engine.Update(h.svc.Background, func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		return tx.SetOptions(ns, catalog.PolicyEnding(coll.Info(), catalog.Of(coll.Info()).DocTTL, h.clock.NowMillis()))
	})
	if err != nil {
		t.Fatal(err)
	}
	list := h.listed()
	if o := list[0].Lookup("options").Doc().Lookup("documentTtl").Doc(); o.Has("until") {
		t.Error(o)
	}
	if err := write.ReopenPolicies(h.svc); err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(10 * time.Second)
	h.finds(`{"find": "c"}`, `[]`)
}
