package commands_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/storage/storagetest"
)

// hostileFixture prepares the data for the commands of the tests below.
var hostileFixture = []string{
	`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1"}, {key: {u: 1}, name: "u_1", unique: true, sparse: true}]}`,
	`{insert: "c", documents: [{_id: 1, a: 1, u: 1}, {_id: 2, a: 2, l: [1, 2]}, {_id: 3, a: 2, u: 3}, {_id: 4, a: 5}, {_id: 5}]}`,
	`{insert: "d", documents: [{_id: 1, c: 2}, {_id: 2, c: 4}]}`,
	`{create: "capped", capped: true, size: 100000, max: 3}`,
	`{insert: "capped", documents: [{_id: 1}, {_id: 2}, {_id: 3}]}`,
	`{create: "s", timeseries: {timeField: "t", metaField: "m"}}`,
	`{insert: "s", documents: [{_id: 1, t: {$date: "2026-01-01T00:00:00Z"}, m: 1, v: 2}, {_id: 2, t: {$date: "2026-01-01T00:00:01Z"}, m: 1, v: 3}]}`,
	`{create: "v", viewOn: "c", pipeline: [{$match: {a: 2}}]}`,
}

// hostileReads are commands that read, hostileWrites those that write.
var hostileReads = []string{
	`{find: "c", filter: {_id: 2}}`,
	`{find: "c", filter: {a: {$gte: 2}}, sort: {a: -1, _id: 1}}`,
	`{find: "c", filter: {a: 2}, projection: {_id: 0, a: 1}, hint: "a_1"}`,
	`{find: "c", sort: {_id: 1}, skip: 1, limit: 2}`,
	`{find: "c", filter: {l: 2}}`,
	`{find: "v", sort: {_id: 1}}`,
	`{find: "s", sort: {t: 1}}`,
	`{find: "capped", sort: {$natural: -1}}`,
	`{count: "c", query: {a: 2}}`,
	`{count: "c"}`,
	`{distinct: "c", key: "a"}`,
	`{distinct: "c", key: "l", query: {a: 2}}`,
	`{aggregate: "d", pipeline: [{$lookup: {from: "c", localField: "c", foreignField: "_id", as: "x"}}, {$sort: {_id: 1}}], cursor: {}}`,
	`{aggregate: "c", pipeline: [{$group: {_id: "$a", n: {$sum: 1}}}, {$sort: {_id: 1}}], cursor: {}}`,
	`{aggregate: "c", pipeline: [{$match: {a: 2}}, {$count: "n"}], cursor: {}}`,
	`{aggregate: "s", pipeline: [{$group: {_id: "$m", v: {$sum: "$v"}}}], cursor: {}}`,
	`{aggregate: "c", pipeline: [{$graphLookup: {from: "d", startWith: "$a", connectFromField: "c", connectToField: "_id", as: "g"}}, {$sort: {_id: 1}}, {$project: {n: {$size: "$g"}}}], cursor: {}}`,
	`{listIndexes: "c"}`,
}

var hostileWrites = []string{
	`{insert: "c", documents: [{_id: 10, a: 7}]}`,
	`{insert: "c", documents: [{_id: 11, u: 1}]}`,
	`{insert: "capped", documents: [{_id: 4}]}`,
	`{insert: "s", documents: [{_id: 3, t: {$date: "2026-01-01T00:00:02Z"}, m: 1, v: 4}]}`,
	`{update: "c", updates: [{q: {_id: 1}, u: {$inc: {a: 1}}}]}`,
	`{update: "c", updates: [{q: {a: 2}, u: {$set: {b: 1}}, multi: true}]}`,
	`{update: "c", updates: [{q: {_id: 20}, u: {$set: {a: 9}}, upsert: true}]}`,
	`{update: "c", updates: [{q: {_id: 3}, u: {$set: {u: 1}}}]}`,
	`{findAndModify: "c", query: {a: 5}, update: {$inc: {n: 1}}, new: true}`,
	`{findAndModify: "c", query: {_id: 4}, remove: true}`,
	`{delete: "c", deletes: [{q: {a: 2}, limit: 0}]}`,
	`{delete: "c", deletes: [{q: {_id: 1}, limit: 1}]}`,
	`{aggregate: "c", pipeline: [{$project: {a: 1}}, {$out: "o"}], cursor: {}}`,
	`{aggregate: "c", pipeline: [{$project: {m: "$a"}}, {$merge: {into: "d"}}], cursor: {}}`,
	`{createIndexes: "c", indexes: [{key: {b: 1}, name: "b_1"}]}`,
	`{dropIndexes: "c", index: "a_1"}`,
	`{collMod: "c", index: {name: "a_1", hidden: true}}`,
	`{renameCollection: "test.d", to: "test.e"}`,
	`{drop: "d"}`,
}

// answer runs a command and returns its reply without the fields that differ between
// runs.
func answer(h *harness.Harness, command string) string {
	db := "test"
	if strings.HasPrefix(command, "{renameCollection") {
		db = "admin"
	}
	return h.RunOn(db, harness.Relaxed(command)).String()
}

// stored returns the contents of the collections.
func stored(h *harness.Harness) (all string) {
	for _, coll := range []string{"c", "d", "e", "o", "s", "capped"} {
		all += coll + ": " + answer(h, `{find: "`+coll+`", sort: {_id: 1}}`) + "\n"
		if coll != "s" {
			all += answer(h, `{listIndexes: "`+coll+`"}`) + "\n"
		}
	}
	return all
}

func prepare(h *harness.Harness) *harness.Harness {
	for _, command := range hostileFixture {
		h.OK(command)
	}
	return h
}

// TestCommandsOverAHostileEngine: gaps between ids, functions that run again,
// conflicts and changes of the catalog by others show in no reply and in no data.
func TestCommandsOverAHostileEngine(t *testing.T) {
	t.Parallel()
	plain := prepare(harness.NewHostile(t, storagetest.Hostility{}))
	var want []string
	all := append(append([]string(nil), hostileReads...), hostileWrites...)
	for _, command := range all {
		want = append(want, answer(plain, command))
	}
	end := stored(plain)
	for seed := range uint64(6) {
		h := prepare(harness.NewHostile(t, storagetest.Unseen(seed)))
		for i, command := range all {
			if got := answer(h, command); got != want[i] {
				t.Errorf("seed %d: %s\nanswered %s\nwant     %s", seed, command, got, want[i])
			}
		}
		if got := stored(h); got != end {
			t.Errorf("seed %d: the collections hold\n%s\nwant\n%s", seed, got, end)
		}
	}
}

// TestReadErrorsAreAnswered: if any read of a command fails, the command returns an
// error, or its usual reply if it can do without that read. A write that returns an error
// has changed nothing.
func TestReadErrorsAreAnswered(t *testing.T) {
	t.Parallel()
	bad := errors.New("unreadable sector")
	for i, command := range append(append([]string(nil), hostileReads...), hostileWrites...) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			before, want, after := "", "", ""
			for nth := -1; nth < 400; nth++ {
				left := -1
				h := prepare(harness.NewHostile(t, storagetest.Hostility{Fail: func(storagetest.Read) error {
					if left--; left == 0 {
						return bad
					}
					return nil
				}}))
				if nth < 0 {
					before = stored(h)
					want = answer(h, command)
					after = stored(h)
					nth = 0
					continue
				}
				left = nth
				got := answer(h, command)
				failed := left <= 0
				left = -1
				state := stored(h)
				if !failed {
					return // no read is left to fail
				}
				answered := strings.Contains(got, "errmsg") && got != want
				switch {
				case !answered && got != want:
					t.Fatalf("%s: read %d failed, answered %s\nwant an error or %s", command, nth, got, want)
				case answered && !strings.Contains(got, bad.Error()):
					t.Errorf("%s: read %d failed, answered %s", command, nth, got)
				case answered && state != before && !inParts(command) || !answered && state != after:
					t.Errorf("%s: read %d failed, answered %s, but the collections hold\n%s\nbefore\n%s", command, nth, got, state, before)
				}
			}
		})
	}
}

// inParts reports whether a command may have changed some documents when it fails.
func inParts(command string) bool {
	return strings.Contains(command, "multi: true") || strings.Contains(command, "limit: 0") || strings.Contains(command, "$merge")
}
