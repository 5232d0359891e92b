package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// endless are requests that take minutes if they are not interrupted, each in another
// kind of loop. %s is for a comment.
func endless() map[string]string {
	var branches, ranges []string
	for i := range 20_000 {
		branches = append(branches, fmt.Sprintf(`{"%s": %d}`, [2]string{"a", "b"}[i%2], i))
		ranges = append(ranges, fmt.Sprintf(`{"a": {"$gte": %d}}`, -i))
	}
	aggregate := func(stages string) string {
		return `{"aggregate": "c", "pipeline": [` + stages + `], "cursor": {}%s, "$db": "test"}`
	}
	many := `{"$range": [0, 100000]}`
	each := func(e string) string {
		return aggregate(`{"$project": {"x": {"$map": {"input": ` + many + `, "in": {"$isArray": [` + e + `]}}}}}`)
	}
	return map[string]string{
		"planning":      `{"find": "c", "filter": {"$or": [` + strings.Join(branches, ",") + `], "$and": [` + strings.Join(ranges, ",") + `]}%s, "$db": "test"}`,
		"$sortArray":    each(`{"$sortArray": {"input": {"$range": [0, 5000000, 3]}, "sortBy": -1}}`),
		"$setUnion":     each(`{"$setUnion": [{"$range": [0, 1000000]}, {"$range": [5, 1000000, 2]}]}`),
		"$reverseArray": each(`{"$reverseArray": {"$range": [0, 1000000]}}`),
		"$reduce":       each(`{"$reduce": {"input": ` + many + `, "initialValue": 0, "in": "$$this"}}`),
		"$unwind":       aggregate(`{"$set": {"r": ` + many + `}}, {"$unwind": "$r"}, {"$set": {"s": ` + many + `}}, {"$unwind": "$s"}, {"$match": {"s": -1}}`),
		"$group":        aggregate(`{"$set": {"r": ` + many + `}}, {"$unwind": "$r"}, {"$group": {"_id": "$r", "n": {"$sum": {"$size": ` + many + `}}}}`),
		"$lookup":       aggregate(`{"$set": {"r": ` + many + `}}, {"$unwind": "$r"}, {"$lookup": {"from": "c", "let": {"r": "$r"}, "pipeline": [{"$match": {"$expr": {"$in": ["$$r", ` + many + `]}}}], "as": "x"}}, {"$match": {"x": -1}}`),
		"update":        `{"update": "c", "updates": [{"q": {}, "u": [{"$set": {"x": {"$reduce": {"input": ` + many + `, "initialValue": 0, "in": {"$size": ` + many + `}}}}}], "multi": true}]%s, "$db": "test"}`,
		"delete":        `{"delete": "c", "deletes": [{"q": {"$expr": {"$eq": [-1, {"$reduce": {"input": ` + many + `, "initialValue": 0, "in": {"$size": ` + many + `}}}]}}, "limit": 0}]%s, "$db": "test"}`,
		"count":         `{"count": "c", "query": {"$expr": {"$eq": [-1, {"$reduce": {"input": ` + many + `, "initialValue": 0, "in": {"$size": ` + many + `}}}]}}%s, "$db": "test"}`,
		"explain":       `{"explain": ` + strings.ReplaceAll(aggregate(`{"$set": {"r": `+many+`}}, {"$unwind": "$r"}, {"$set": {"s": `+many+`}}, {"$unwind": "$s"}, {"$match": {"s": -1}}`), "%s", "") + `, "verbosity": "executionStats"%s, "$db": "test"}`,
	}
}

// TestEndlessRequests: killOp ends each request, wherever it runs, and so does a
// shutdown.
func TestEndlessRequests(t *testing.T) {
	s := serveConfig(t, Config{DBPath: t.TempDir()})
	c := dial(t, s)
	var docs []value.Value
	for i := range 100 {
		docs = append(docs, value.Document(value.NewDoc("_id", value.Int32(int32(i)), "a", value.Int32(int32(i)), "b", value.Int32(int32(i)))))
	}
	c.ok(t, value.NewDoc("insert", value.String("c"), "documents", value.NewArray(docs...), "$db", value.String("test")))
	c.ok(t, value.MustJSON(`{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a"}, {"key": {"b": 1, "a": 1}, "name": "b"}], "$db": "test"}`))
	start := func(name, command string) <-chan value.Doc {
		done := make(chan value.Doc, 1)
		other := dial(t, s)
		request := value.MustJSON(strings.ReplaceAll(command, "%s", `, "comment": "`+name+`"`))
		go func() {
			m, err := other.RoundTrip(request)
			if err != nil {
				done <- nil
				return
			}
			done <- m.Body.Clone()
		}()
		return done
	}
	running := func(name string) (opid int64) {
		ops := c.ok(t, value.MustJSON(`{"aggregate": 1, "pipeline": [{"$currentOp": {}}, {"$match": {"command.comment": "`+name+`"}}], "cursor": {}, "$db": "admin"}`))
		return ops.Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0).Doc().Lookup("opid").SafeInt64()
	}
	requests := endless()
	for name, command := range requests {
		done := start(name, command)
		waitFor(t, func() bool {
			if len(done) > 0 {
				t.Fatalf("%s ended by itself: %.300s", name, <-done)
			}
			return running(name) != 0
		})
		c.ok(t, value.MustJSON(fmt.Sprintf(`{"killOp": 1, "op": %d, "$db": "admin"}`, running(name))))
		reply := <-done
		code := reply.Lookup("code")
		if first := reply.Lookup("writeErrors").Doc().Index(0); !first.IsMissing() {
			code = first.Doc().Lookup("code")
		}
		if code.Int32() != 11601 {
			t.Errorf("%s: %.300s", name, reply)
		}
	}
	var all []<-chan value.Doc
	for _, name := range []string{"$reduce", "$unwind"} {
		all = append(all, start(name, requests[name]))
		waitFor(t, func() bool { return running(name) != 0 })
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	for _, done := range all {
		<-done
	}
}
