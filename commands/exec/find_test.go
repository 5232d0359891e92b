package exec_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// fruit has indexes of several kinds over the same few documents.
func fruit(t *testing.T) *harness.Harness {
	t.Helper()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [
		{_id: 1, a: 3, b: 1, tags: ["x", "y"], name: "b", at: {type: "Point", coordinates: [0, 0]}},
		{_id: 2, a: 1, b: 2, tags: ["y"], name: "A", at: {type: "Point", coordinates: [0, 2]}},
		{_id: 3, a: 2, b: 1, tags: [], name: "a", at: {type: "Point", coordinates: [0, 1]}},
		{_id: 4, a: 2, b: 3, name: "B", at: {type: "Point", coordinates: [0, 40]}}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1, b: 1}, name: "a_1_b_1"}, {key: {tags: 1}, name: "tags_1"}, {key: {at: "2dsphere"}, name: "at_2dsphere"}]}`)
	return h
}

// Every access path finds the documents that the manual's description of the query
// says, in the order of its sort.
func TestFindByEveryAccessPath(t *testing.T) {
	t.Parallel()
	h := fruit(t)
	for _, c := range []struct{ name, command, want string }{
		{"scan of the collection", `{find: "c", filter: {name: "a"}, projection: {_id: 1}}`, `[{"_id": 3}]`},
		{"natural order", `{find: "c", projection: {_id: 1}}`, `[{"_id": 1}, {"_id": 2}, {"_id": 3}, {"_id": 4}]`},
		{"reverse natural order", `{find: "c", projection: {_id: 1}, sort: {$natural: -1}, limit: 2}`, `[{"_id": 4}, {"_id": 3}]`},
		{"hint of natural order", `{find: "c", filter: {a: 2}, projection: {_id: 1}, hint: {$natural: -1}}`, `[{"_id": 4}, {"_id": 3}]`},
		{"_id alone", `{find: "c", filter: {_id: 2}, projection: {_id: 1}}`, `[{"_id": 2}]`},
		{"_id in a list", `{find: "c", filter: {_id: {$in: [4, 1, 9]}}, projection: {_id: 1}, sort: {_id: 1}}`, `[{"_id": 1}, {"_id": 4}]`},
		{"range of an index, in its order", `{find: "c", filter: {a: {$gte: 2}}, projection: {_id: 1}, sort: {a: 1, b: 1}}`, `[{"_id": 3}, {"_id": 4}, {"_id": 1}]`},
		{"index backwards", `{find: "c", filter: {a: {$lt: 3}}, projection: {_id: 1}, sort: {a: -1, b: -1}}`, `[{"_id": 4}, {"_id": 3}, {"_id": 2}]`},
		{"covered by an index", `{find: "c", filter: {a: 2}, projection: {_id: 0, a: 1, b: 1}, sort: {b: 1}}`, `[{"a": 2, "b": 1}, {"a": 2, "b": 3}]`},
		{"scans merged in the order of the sort", `{find: "c", filter: {a: {$in: [3, 2]}}, projection: {_id: 1}, sort: {b: -1, _id: 1}}`, `[{"_id": 4}, {"_id": 1}, {"_id": 3}]`},
		{"merged by index order", `{find: "c", filter: {a: {$in: [1, 2]}}, projection: {_id: 1}, sort: {b: 1}}`, `[{"_id": 3}, {"_id": 2}, {"_id": 4}]`},
		{"union of indexes", `{find: "c", filter: {$or: [{a: 1}, {tags: "x"}]}, projection: {_id: 1}, sort: {_id: 1}}`, `[{"_id": 1}, {"_id": 2}]`},
		{"array, once for each document", `{find: "c", filter: {tags: {$in: ["x", "y"]}}, projection: {_id: 1}, sort: {_id: 1}}`, `[{"_id": 1}, {"_id": 2}]`},
		{"skip and limit", `{find: "c", sort: {a: 1, b: 1}, skip: 1, limit: 2, projection: {_id: 1}}`, `[{"_id": 3}, {"_id": 4}]`},
		{"bounds of an index", `{find: "c", hint: {a: 1, b: 1}, min: {a: 2, b: 1}, max: {a: 3, b: 1}, projection: {_id: 1}}`, `[{"_id": 3}, {"_id": 4}]`},
		{"keys of the index", `{find: "c", filter: {a: 1}, returnKey: true}`, `[{"a": 1, "b": 2}]`},
		{"nearest first", `{find: "c", filter: {at: {$near: {$geometry: {type: "Point", coordinates: [0, 0]}}}}, projection: {_id: 1}}`, `[{"_id": 1}, {"_id": 3}, {"_id": 2}, {"_id": 4}]`},
		{"nearest within a distance", `{find: "c", filter: {at: {$near: {$geometry: {type: "Point", coordinates: [0, 0]}, $minDistance: 1000, $maxDistance: 500000}}}, projection: {_id: 1}}`, `[{"_id": 3}, {"_id": 2}]`},
		{"collation of the query", `{find: "c", filter: {name: "a"}, collation: {locale: "en", strength: 2}, projection: {_id: 1}, sort: {_id: 1}}`, `[{"_id": 2}, {"_id": 3}]`},
		{"collection that does not exist", `{find: "none"}`, `[]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			(&harness.Harness{TB: t, Svc: h.Svc, Clock: h.Clock, Conn: h.Conn}).Finds(c.command, c.want)
		})
	}
}

// Counts and distinct values are the same from an index and from the documents.
func TestCountAndDistinct(t *testing.T) {
	t.Parallel()
	h := fruit(t)
	for command, want := range map[string]int32{
		`{count: "c"}`: 4, `{count: "c", query: {a: 2}}`: 2, `{count: "c", query: {a: {$gt: 1}}, skip: 1, limit: 1}`: 1,
		`{count: "c", query: {tags: {$in: ["x", "y"]}}}`: 2, `{count: "c", query: {name: "b"}, limit: -5}`: 1, `{count: "none"}`: 0,
		`{count: "c", skip: 9}`: 0,
	} {
		if got := h.OK(command).Lookup("n").Int32(); got != want {
			t.Errorf("%s counts %d, want %d", command, got, want)
		}
	}
	for command, want := range map[string]string{
		`{distinct: "c", key: "a"}`: `[1, 2, 3]`, `{distinct: "c", key: "tags"}`: `["x", "y"]`,
		`{distinct: "c", key: "b", query: {a: 2}}`: `[1, 3]`, `{distinct: "c", key: "absent"}`: `[]`,
	} {
		if got := h.OK(command).Lookup("values").Doc(); got.Len() != harness.Relaxed(`{d: `+want+`}`).Lookup("d").Doc().Len() {
			t.Errorf("%s returns %s, want %s", command, got, want)
		}
	}
}

// Finds that contradict themselves are refused with mongod's codes.
func TestRefusedFinds(t *testing.T) {
	t.Parallel()
	h := fruit(t)
	for command, code := range map[string]int32{
		`{find: "c", hint: "no_such_index"}`:           2,
		`{find: "c", hint: 1}`:                         9,
		`{find: "c", hint: {$natural: 2}}`:             2,
		`{find: "c", tailable: true}`:                  2,
		`{find: "c", awaitData: true}`:                 9,
		`{find: "c", limit: "x"}`:                      14,
		`{find: "c", noSuchField: 1}`:                  40415,
		`{find: "c", min: {a: 1, b: 1}}`:               51173,
		`{distinct: "c"}`:                              40414,
		`{find: "c", filter: {$text: {$search: "x"}}}`: 27,
		`{count: "c", limit: "x"}`:                     2,
		`{find: "c", filter: {name: {$near: [0, 0]}}}`: 291,
		`{aggregate: "c", pipeline: []}`:               9,
		`{aggregate: "c", pipeline: 1, cursor: {}}`:    14,
		`{aggregate: "c", cursor: {}}`:                 40414,
	} {
		h.Fails(code, command)
	}
}

// A time series is read as its measurements, whichever index leads to the buckets.
func TestFindMeasurements(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}}`)
	h.OK(`{insert: "s", documents: [
		{_id: 1, t: {$date: "2026-01-01T00:00:03Z"}, m: "x", v: 1}, {_id: 2, t: {$date: "2026-01-01T00:00:01Z"}, m: "y", v: 2},
		{_id: 3, t: {$date: "2026-01-01T00:00:02Z"}, m: "x", v: 3}]}`)
	h.Finds(`{find: "s", sort: {t: 1}, projection: {_id: 1}}`, `[{"_id": 2}, {"_id": 3}, {"_id": 1}]`)
	h.Finds(`{find: "s", filter: {m: "x"}, sort: {t: -1}, projection: {_id: 1}}`, `[{"_id": 1}, {"_id": 3}]`)
	h.Finds(`{find: "s", filter: {t: {$gte: {$date: "2026-01-01T00:00:02Z"}}, v: {$gt: 1}}, projection: {_id: 1}}`, `[{"_id": 3}]`)
	if got := h.OK(`{count: "s", query: {m: "x"}}`).Lookup("n").Int32(); got != 2 {
		t.Errorf("counts %d", got)
	}
}
