package ddl_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
)

// collMod of document TTL (semantics.md 7.6 and 8.1).
func TestCollModDocumentTTL(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	const off = `documentTtl_old: null`
	policy := func(n, invalid, expose string) string {
		return `{default: ` + n + `, invalid: "` + invalid + `", exposeTs: ` + expose + `}`
	}
	runSteps(h, "c", []step{
		{command: `{collMod: "c", documentTtl: {default: 60}}`, reply: `{` + off + `, documentTtl_new: ` + policy("60", "reject", "false") + `}`, options: `{documentTtl: ` + policy("60", "reject", "false") + `}`},
		{command: `{collMod: "c", documentTtl: {invalid: "ignore"}}`, reply: `{documentTtl_old: ` + policy("60", "reject", "false") + `, documentTtl_new: ` + policy("60", "ignore", "false") + `}`},
		{command: `{collMod: "c", documentTtl: {exposeTs: true, default: -1}}`, options: `{documentTtl: ` + policy("-1", "ignore", "true") + `}`},
		{command: `{collMod: "c", documentTtl: {default: 10}, indexingPolicy: {indexingMode: "lazy"}}`, options: `{documentTtl: ` + policy("10", "ignore", "true") + `, indexingPolicy: {indexingMode: "lazy"}}`},
		{command: `{collMod: "c", indexingPolicy: {indexingMode: "consistent"}}`, options: `{documentTtl: ` + policy("10", "ignore", "true") + `}`},
	})
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{collMod: "c", documentTtl: {default: 0}}`, Code: 2, Text: "The default time to live '0' is invalid*"},
		{DB: "test", Command: `{collMod: "c", documentTtl: {default: -2}}`, Code: 2},
		{DB: "test", Command: `{collMod: "c", documentTtl: {default: 1.5}}`, Code: 2},
		{DB: "test", Command: `{collMod: "c", documentTtl: {default: "5"}}`, Code: 14},
		{DB: "test", Command: `{collMod: "c", documentTtl: {fly: 1}}`, Code: 40415},
		{DB: "test", Command: `{collMod: "c", indexingPolicy: {indexingMode: "none"}}`, Code: 72},
		{DB: "test", Command: `{collMod: "c", indexingPolicy: {indexingMode: "x"}}`, Code: 2},
	})
	h.Pass(10) // what has expired is gone for good before the policy ends
	runSteps(h, "c", []step{{command: `{collMod: "c", documentTtl: {default: null}}`, reply: `{documentTtl_old: ` + policy("10", "ignore", "true") + `, documentTtl_new: null}`, options: `{}`}})
	if n := h.Count("c"); n != 0 {
		t.Errorf("%d documents have come back", n)
	}
	runSteps(h, "c", []step{{command: `{collMod: "c", indexingPolicy: {indexingMode: "none"}}`, reply: `{}`, options: `{indexingPolicy: {indexingMode: "none"}}`}})
	h.OK(`{create: "capped", capped: true, size: 4096}`)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{collMod: "c", documentTtl: {default: 5}}`, Code: 72},
		{DB: "test", Command: `{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}]}`, Code: 67},
		{DB: "test", Command: `{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 5}]}`, Code: 72},
		{DB: "test", Command: `{collMod: "capped", documentTtl: {default: 5}}`, Code: 72},
		{DB: "test", Command: `{create: "x", documentTtl: {exposeTs: true}}`, Code: 40414},
	})
}

// The index on _ts stands for the policy: it can be changed, converted and dropped.
func TestCollModTSIndex(t *testing.T) {
	h := harness.New(t)
	h.OK(`{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "mine"}]}`)
	for _, s := range []struct{ index, reply, listed string }{
		{`{name: "mine", expireAfterSeconds: 30}`, `{expireAfterSeconds_new: ` + long + `30"}}`, `{key: {_ts: 1}, expireAfterSeconds: 30}`},
		{`{keyPattern: {_ts: 1}, expireAfterSeconds: -1}`, `{expireAfterSeconds_old: ` + long + `30"}, expireAfterSeconds_new: ` + long + `-1"}}`, `{key: {_ts: 1}, expireAfterSeconds: -1}`},
		{`{name: "_ts_1", expireAfterSeconds: 20}`, `{expireAfterSeconds_old: ` + long + `-1"}, expireAfterSeconds_new: ` + long + `20"}}`, `{key: {_ts: 1}, expireAfterSeconds: 20}`},
	} {
		runSteps(h, "c", []step{{command: `{collMod: "c", index: ` + s.index + `}`, reply: s.reply}})
		if got, want := indexOf(h, "c", "_ts_1"), harness.Relaxed(s.listed).CanonicalJSON(); got != want {
			t.Errorf("after %s the index is %s, want %s", s.index, got, want)
		}
	}
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{collMod: "c", index: {name: "_ts_1", hidden: true}}`, Code: 72},
		{DB: "test", Command: `{collMod: "c", index: {name: "_ts_1", expireAfterSeconds: 0}}`, Code: 72},
		{DB: "test", Command: `{collMod: "c", index: {name: "_ts_1", expireAfterSeconds: "5"}}`, Code: 14},
	})
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	h.Advance(20)
	runSteps(h, "c", []step{{command: `{dropIndexes: "c", index: "_ts_1"}`, reply: `{nIndexesWas: 2}`, options: `{}`}})
	if names := h.IndexNames("c"); names != "_id_ " || h.Count("c") != 0 {
		t.Errorf("indexes %s, %d documents", names, h.Count("c"))
	}
}

// With documentTtlStrictTsOnly only an index on _ts can be a TTL index, and without
// documentTtlTsIndex an index on _ts is an ordinary one (semantics.md 8.1).
func TestTSIndexParameters(t *testing.T) {
	h := harness.New(t)
	const only = "The 'expireAfterSeconds' option is supported on '_ts' field only.*"
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}]}`)
	h.Admin(`{setParameter: 1, documentTtlStrictTsOnly: true}`)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{createIndexes: "c", indexes: [{key: {at: 1}, name: "at", expireAfterSeconds: 5}]}`, Code: 2, Text: only},
		{DB: "test", Command: `{collMod: "c", index: {name: "a", expireAfterSeconds: 5}}`, Code: 2, Text: only},
	})
	h.OK(`{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 5}]}`)
	if !optionsOf(h, "c").Has("documentTtl") {
		t.Error("the index on _ts has set no policy")
	}
	h = harness.NewWith(t, kernel.Options{Parameters: map[string]string{"documentTtlTsIndex": "false"}})
	h.OK(`{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 5}]}`)
	if optionsOf(h, "c").Has("documentTtl") {
		t.Error("the index on _ts has set a policy")
	}
	runSteps(h, "c", []step{{command: `{collMod: "c", index: {name: "_ts_1", expireAfterSeconds: 6}}`, reply: `{expireAfterSeconds_old: ` + long + `5"}, expireAfterSeconds_new: ` + long + `6"}}`}})
}

// collMod of a queue supports only messageQueue (semantics.md 9.1).
func TestCollModQueue(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "q", messageQueue: {}}`)
	h.OK(`{create: "plain"}`)
	runSteps(h, "q", []step{{command: `{collMod: "q", messageQueue: {lockDuration: 30, maxDeliveryCount: 3}}`, reply: `{}`}})
	mq := optionsOf(h, "q").Lookup("messageQueue").Doc()
	if mq.Lookup("lockDuration").Str() != "PT30S" || mq.Lookup("maxDeliveryCount").SafeInt64() != 3 {
		t.Errorf("the queue has %s", mq)
	}
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{collMod: "plain", messageQueue: {}}`, Code: 72},
		{DB: "test", Command: `{collMod: "q", messageQueue: {lockDuration: "PT6M"}}`, Code: 2},
		{DB: "test", Command: `{collMod: "q", messageQueue: {fly: 1}}`, Code: 40415},
		{DB: "test", Command: `{collMod: "q", messageQueue: 1}`, Code: 14},
		{DB: "test", Command: `{collMod: "q", validator: {a: 1}}`, Code: 72},
		{DB: "test", Command: `{collMod: "q", documentTtl: {default: 5}}`, Code: 72},
		{DB: "test", Command: `{createIndexes: "q", indexes: [{key: {at: 1}, name: "at", expireAfterSeconds: 5}]}`, Code: 67},
		{DB: "test", Command: `{collMod: "q", index: {name: "_id_", expireAfterSeconds: 5}}`, Code: 67},
	})
	h.OK(`{collMod: "q"}`)
	h.Admin(`{renameCollection: "test.q", to: "test.r"}`)
	names := ""
	for _, d := range h.Listed() {
		names += d.Lookup("name").Str() + " "
	}
	if names != "plain r r.deadletterqueue " {
		t.Errorf("after the rename there are %s", names)
	}
	h.OK(`{drop: "r"}`)
	if list := h.Listed(); len(list) != 1 {
		t.Errorf("after the drop there are %v", list)
	}
}
