package crud_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// The replies are those of the manual's page on findAndModify.
func TestFindAndModify(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		`{findAndModify: "c", query: {_id: 1}, update: {$inc: {a: 1}}}`:                              `{lastErrorObject: {n: 1, updatedExisting: true}, value: {_id: 1, a: 1}}`,
		`{findAndModify: "c", query: {_id: 1}, update: {$inc: {a: 1}}, new: true}`:                   `{lastErrorObject: {n: 1, updatedExisting: true}, value: {_id: 1, a: 2}}`,
		`{findAndModify: "c", query: {_id: 1}, update: {$inc: {a: 1}}, new: true, fields: {_id: 0}}`: `{lastErrorObject: {n: 1, updatedExisting: true}, value: {a: 2}}`,
		`{findAndModify: "c", sort: {_id: -1}, update: [{$set: {a: "$_id"}}], new: true}`:            `{lastErrorObject: {n: 1, updatedExisting: true}, value: {_id: 2, a: 2}}`,
		`{findAndModify: "c", query: {_id: 1}, remove: true}`:                                        `{lastErrorObject: {n: 1}, value: {_id: 1, a: 1}}`,
		`{findAndModify: "c", query: {_id: 9}, remove: true}`:                                        `{lastErrorObject: {n: 0}, value: null}`,
		`{findAndModify: "c", query: {_id: 9}, update: {$set: {a: 1}}}`:                              `{lastErrorObject: {n: 0, updatedExisting: false}, value: null}`,
		`{findAndModify: "c", query: {_id: 9}, update: {$set: {a: 1}}, upsert: true, new: true}`:     `{lastErrorObject: {n: 1, updatedExisting: false, upserted: 9}, value: {_id: 9, a: 1}}`,
		`{findAndModify: "c", query: {_id: 9}, update: {$set: {a: 1}}, upsert: true}`:                `{lastErrorObject: {n: 1, updatedExisting: false, upserted: 9}, value: null}`,
	} {
		h := harness.New(t)
		h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 5}]}`)
		reply, expected := h.OK(command), harness.Relaxed(want)
		for name, v := range expected.All() {
			if got := reply.Lookup(name); got.String() != v.String() {
				t.Errorf("%s: %s is %s, want %s", command, name, got, v)
			}
		}
	}
	harness.New(t).Refuses([]harness.Refusal{
		{DB: "test", Command: `{findAndModify: "c"}`, Code: 9, Text: "Either an update or remove=true must be specified"},
		{DB: "test", Command: `{findAndModify: "c", remove: true, update: {a: 1}}`, Code: 9, Text: "Cannot specify both an update and remove=true"},
		{DB: "test", Command: `{findAndModify: "c", remove: true, upsert: true}`, Code: 9, Text: "Cannot specify both upsert=true and remove=true*"},
		{DB: "test", Command: `{findAndModify: "c", remove: true, new: true}`, Code: 9},
	})
}

// The example of the manual's page on mapReduce, and its modes of out.
func TestMapReduce(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "orders", documents: [{_id: 1, cust: "A", price: 25}, {_id: 2, cust: "A", price: 70}, {_id: 3, cust: "B", price: 50}]}`)
	run := func(rest string) string {
		return `{mapReduce: "orders", map: "function() { emit(this.cust, this.price) }", reduce: "function(k, v) { return Array.sum(v) }", ` + rest + `}`
	}
	reply := h.OK(run(`out: {inline: 1}, query: {_id: {$gt: 0}}, finalize: "function(k, v) { return v * 2 }"`))
	if got, want := reply.Lookup("results").String(), harness.Relaxed(`{r: [{_id: "A", value: 190.0}, {_id: "B", value: 100.0}]}`).Lookup("r").String(); got != want {
		t.Errorf("results %s, want %s", got, want)
	}
	h.OK(run(`out: "totals"`))
	h.Holds("totals", `{_id: "A", value: 95.0} {_id: "B", value: 50.0}`)
	h.OK(run(`out: {merge: "totals"}, query: {cust: "B"}, limit: 1`))
	h.OK(run(`out: {reduce: "totals"}, query: {cust: "B"}`))
	h.Holds("totals", `{_id: "A", value: 95.0} {_id: "B", value: 100.0}`)
	h.OK(`{explain: ` + run(`out: {inline: 1}`) + `}`)
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: `{mapReduce: "orders", map: "function() {}", reduce: "function() {}"}`, Code: 40414},
		{DB: "test", Command: `{mapReduce: "orders", map: 1, reduce: "function() {}", out: {inline: 1}}`, Code: 2, Text: "'map' must be of string or code type"},
	})
}
