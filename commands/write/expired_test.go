package write_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// If the dead-letter collection refuses a document, the expired document stays hidden
// and stored, and commands that need it removed fail with the reason.
func TestRefusedDeadLettersStayHidden(t *testing.T) {
	policies := map[string]string{
		"create":  `{"create": "c", "documentTtl": {"default": 5}, "onExpire": {"deadLetterTo": "dead"}}`,
		"collMod": `{"create": "c"}`,
	}
	for route, create := range policies {
		h := harness.New(t)
		h.OK(`{"create": "dead", "validator": {"never": 1}}`)
		h.OK(create)
		if route == "collMod" {
			h.OK(`{"createIndexes": "c", "indexes": [{"key": {"_ts": 1}, "name": "_ts_1", "expireAfterSeconds": 5}]}`)
			h.OK(`{"collMod": "c", "onExpire": {"deadLetterTo": "dead"}}`)
		}
		h.OK(`{"createIndexes": "c", "indexes": [{"key": {"u": 1}, "name": "u", "unique": true}]}`)
		h.OK(`{"insert": "c", "documents": [{"_id": 1, "u": 1}, {"_id": 2, "u": 2}]}`)
		h.Clock.Advance(5 * time.Second)
		h.Admin(`{"runExpirationPass": 1}`)
		for _, command := range []string{
			`{"collMod": "c", "documentTtl": "off"}`, `{"collMod": "c", "documentTtl": {"default": 1000}}`,
			`{"dropIndexes": "c", "index": "_ts_1"}`, `{"dropIndexes": "c", "index": "*"}`,
			`{"collMod": "c", "index": {"keyPattern": {"_ts": 1}, "expireAfterSeconds": 1000}}`,
			`{"insert": "c", "documents": [{"_id": 1}]}`, `{"insert": "c", "documents": [{"_id": 3, "u": 2}]}`,
			`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"x": 1}}, "upsert": true}]}`,
		} {
			text := h.Fails(121, command)
			if !strings.Contains(text, "Cannot move the expired document with _id") {
				t.Errorf("%s: %s", command, text)
			}
			h.Finds(`{"find": "c"}`, `[]`)
		}
		// The way out: dead letters are accepted.
		h.OK(`{"collMod": "dead", "validator": {}}`)
		h.OK(`{"insert": "c", "documents": [{"_id": 1, "u": 2}]}`)
		h.OK(`{"collMod": "c", "documentTtl": "off"}`)
		h.Finds(`{"find": "c"}`, `[{"_id":1,"u":2}]`)
		h.Finds(`{"find": "dead", "projection": {"u": 1}, "sort": {"_id": 1}}`, `[{"_id":1,"u":1},{"_id":2,"u":2}]`)
	}
}

func TestOnExpireNeedsATargetThatTakesDocuments(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"create": "view", "viewOn": "x", "pipeline": []}`)
	h.OK(`{"create": "queue", "messageQueue": {}}`)
	h.OK(`{"create": "series", "timeseries": {"timeField": "t"}}`)
	h.OK(`{"create": "c"}`)
	for _, target := range []string{"view", "queue", "queue.deadletterqueue", "series"} {
		h.Fails(72, `{"create": "new", "documentTtl": {"default": 5}, "onExpire": {"deadLetterTo": "`+target+`"}}`)
		h.Fails(72, `{"collMod": "c", "onExpire": {"deadLetterTo": "`+target+`"}}`)
	}
	h.OK(`{"create": "capped", "capped": true, "size": 4096}`)
	h.OK(`{"collMod": "c", "onExpire": {"deadLetterTo": "capped"}}`)
}

// A policy over many expired documents ends at the time of the command, however long their
// removal takes: no further documents expire during that time.
func TestPolicyEndsWhenAsked(t *testing.T) {
	for _, command := range []string{`{"collMod": "c", "documentTtl": "off"}`, `{"dropIndexes": "c", "index": "_ts_1"}`} {
		h := harness.New(t)
		h.OK(`{"create": "c", "documentTtl": {"default": 10}}`)
		for i := range 5 {
			var docs []string
			for k := range 100 {
				docs = append(docs, fmt.Sprintf(`{"_id": %d}`, i*100+k))
			}
			h.OK(`{"insert": "c", "documents": [` + strings.Join(docs, ",") + `]}`)
		}
		h.Clock.Advance(5 * time.Second)
		h.OK(`{"insert": "c", "documents": [{"_id": 1000}]}`)
		h.Clock.Advance(5 * time.Second)
		// While the backlog is removed, the clock moves on.
		moved := 0
		h.Svc.Engine = &slowEngine{h.Svc.Engine, func() { moved++; h.Clock.Advance(4 * time.Second) }}
		h.OK(command)
		if moved < 2 {
			t.Errorf("removed in %d batches", moved)
		}
		h.Finds(`{"find": "c"}`, `[{"_id":1000}]`)
		h.Clock.Advance(time.Hour)
		h.Finds(`{"find": "c"}`, `[{"_id":1000}]`)
	}
}

// If the command is killed before it has finished, the policy is unchanged.
func TestPolicyGoesOnAfterKill(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"create": "c", "documentTtl": {"default": 10}}`)
	var docs []string
	for k := range 500 {
		docs = append(docs, fmt.Sprintf(`{"_id": %d}`, k))
	}
	h.OK(`{"insert": "c", "documents": [` + strings.Join(docs, ",") + `]}`)
	h.Clock.Advance(10 * time.Second)
	ctx, kill := context.WithCancel(context.Background())
	plain := h.Svc.Engine
	updates := 0
	h.Svc.Engine = &slowEngine{plain, func() {
		if updates++; updates == 2 {
			kill()
		}
	}}
	reply, _ := harness.Answer(h.Svc, ctx, h.Conn, &kernel.Request{Body: harness.Relaxed(`{collMod: "c", documentTtl: "off", $db: "test"}`)}, nil)
	if value.Doc(reply).Lookup("ok").Truthy() {
		t.Fatal(value.Doc(reply))
	}
	h.Svc.Engine = plain
	h.OK(`{"insert": "c", "documents": [{"_id": "last"}]}`)
	h.Finds(`{"find": "c"}`, `[{"_id":"last"}]`)
	h.Clock.Advance(10 * time.Second)
	h.Finds(`{"find": "c"}`, `[]`)
}

// slowEngine is an engine whose updates are slow.
type slowEngine struct {
	storage.Engine
	updated func()
}

func (e *slowEngine) Update(ctx context.Context, fn func(storage.Tx) error) error {
	err := e.Engine.Update(ctx, fn)
	e.updated()
	return err
}

// If the command fails, or the server stops before it has finished, the policy is
// unchanged.
func TestPolicyGoesOnAfterFailure(t *testing.T) {
	h := harness.New(t)
	h.OK(`{"create": "c", "documentTtl": {"default": 10}}`)
	var docs []string
	for k := range 500 {
		docs = append(docs, fmt.Sprintf(`{"_id": %d}`, k))
	}
	h.OK(`{"insert": "c", "documents": [` + strings.Join(docs, ",") + `]}`)
	h.Clock.Advance(9 * time.Second)
	h.OK(`{"insert": "c", "documents": [{"_id": "late"}]}`)
	h.Clock.Advance(time.Second)
	h.Fails(2, `{"collMod": "c", "documentTtl": {"default": 0}}`)
	h.Finds(`{"find": "c"}`, `[{"_id":"late"}]`)
	h.Clock.Advance(9 * time.Second)
	h.Finds(`{"find": "c"}`, `[]`)

	ns := storage.Namespace{DB: "test", Coll: "c"}
	h.OK(`{"insert": "c", "documents": [{"_id": "last"}]}`)
	err := h.Svc.Engine.Update(h.Svc.Background, func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		return tx.SetOptions(ns, catalog.PolicyEnding(coll.Info(), catalog.Of(coll.Info()).DocTTL, h.Clock.NowMillis(), ""))
	})
	if err != nil {
		t.Fatal(err)
	}
	list := h.Listed()
	if o := list[0].Lookup("options").Doc().Lookup("documentTtl").Doc(); o.Has("until") {
		t.Error(o)
	}
	if err := write.ReopenPolicies(h.Svc); err != nil {
		t.Fatal(err)
	}
	h.Clock.Advance(10 * time.Second)
	h.Finds(`{"find": "c"}`, `[]`)
}
