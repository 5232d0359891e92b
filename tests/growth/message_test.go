package growth

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	service "github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/internal/commandtest"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/value"
)

// messages are commands with n elements, branches or fields: all that compiles what clients
// send. The number is how many times the size of the message may be in use beside it at any
// moment; the elements are as small as they can be. Messages of some size claim their share
// of memory before they are compiled (kernel.Call.ClaimCompiled).
var messages = []struct {
	name, command string
	times         float64
}{
	{"$in of an index", `{find: "docs", filter: {v: {$in: [<<#i>>]}}, batchSize: 1}`, 9},
	{"$in of _id", `{find: "docs", filter: {_id: {$in: [<<#i>>]}}, batchSize: 1}`, 9},
	{"$in without an index", `{find: "docs", filter: {x: {$in: [<<#i>>]}}, batchSize: 1}`, 3},
	{"$in of strings", `{find: "docs", filter: {v: {$in: [<<"string#u">>]}}, batchSize: 1}`, 4},
	{"$nin", `{find: "docs", filter: {v: {$nin: [<<#i>>]}}, batchSize: 1}`, 5},
	{"$all", `{find: "docs", filter: {r: {$all: [<<#i>>]}}, batchSize: 1}`, 21},
	{"$or of equalities", `{find: "docs", filter: {$or: [<<{v: #i}>>]}, batchSize: 1}`, 11},
	{"$or of ranges", `{find: "docs", filter: {$or: [<<{v: {$gt: #i, $lt: #j}}>>]}, batchSize: 1}`, 28},
	{"$or of fields", `{find: "docs", filter: {$or: [<<{y#i: 1}>>]}, batchSize: 1}`, 12},
	{"$and", `{find: "docs", filter: {$and: [<<{v: {$gt: -#i}}>>]}, batchSize: 1}`, 10},
	{"$nor", `{find: "docs", filter: {$nor: [<<{x: -#i}>>]}, batchSize: 1}`, 14},
	{"$jsonSchema", `{find: "docs", filter: {$jsonSchema: {properties: {v: {enum: [<<#i>>]}}}}, batchSize: 1}`, 8},
	{"projection", `{find: "docs", projection: {<<y#i: 1>>}, batchSize: 1}`, 11},
	{"let", `{find: "docs", let: {<<y#i: 1>>}, batchSize: 1}`, 19},
	{"$match", `{aggregate: "docs", pipeline: [{$match: {v: {$in: [<<#i>>]}}}], cursor: {batchSize: 1}}`, 9},
	{"$project", `{aggregate: "docs", pipeline: [{$project: {<<y#i: "$v">>}}], cursor: {batchSize: 1}}`, 19},
	{"$switch", `{aggregate: "docs", pipeline: [{$project: {y: {$switch: {branches: [<<{case: {$eq: ["$v", -#i]}, then: #i}>>], default: 0}}}}], cursor: {batchSize: 1}}`, 7},
	{"$setUnion", `{aggregate: "docs", pipeline: [{$project: {y: {$setUnion: ["$r", [<<#i>>]]}}}], cursor: {batchSize: 1}}`, 11},
	{"$literal", `{aggregate: "docs", pipeline: [{$project: {y: {$size: [{$literal: [<<#i>>]}]}}}], cursor: {batchSize: 1}}`, 6},
	{"$documents", `{aggregate: 1, pipeline: [{$documents: [<<{v: #i}>>]}], cursor: {batchSize: 1}}`, 12},
	{"$set", `{update: "many", updates: [{q: {_id: 1}, u: {$set: {<<y#i: 1>>}}}]}`, 23},
	{"$push", `{update: "many", updates: [{q: {_id: 1}, u: {$push: {z: {$each: [<<#i>>]}}}}]}`, 21},
	{"$pullAll", `{update: "many", updates: [{q: {_id: 1}, u: {$pullAll: {z: [<<#i>>]}}}]}`, 10},
	{"arrayFilters", `{update: "many", updates: [{q: {_id: 1}, u: {$set: {"z.$[a]": 1}}, arrayFilters: [{a: {$in: [<<#i>>]}}]}]}`, 3},
	{"statements of delete", `{delete: "many", deletes: [<<{q: {_id: -#i}, limit: 1}>>]}`, 3},
	{"statements of update", `{update: "many", updates: [<<{q: {_id: -#i}, u: {$set: {v: 1}}}>>]}`, 3},
	{"bulkWrite", `admin: {bulkWrite: 1, ops: [<<{delete: 0, filter: {_id: -#i}}>>], nsInfo: [{ns: "test.many"}], errorsOnly: true}`, 4},
	{"insert", `{insert: "many", documents: [<<{_id: "i#i"}>>]}`, 8},
}

// stopWorld has the runtime collect garbage while nothing else runs: what it finds alive is then
// what is in use at that moment, and depends on nothing else.
const stopWorld = "gcstoptheworld=1"

// TestMessages: the memory that a large message needs at most is in proportion to the message.
func TestMessages(t *testing.T) {
	if engines.ForTests() != engines.Default {
		t.Skip("the cost of other engines is not known here")
	}
	if os.Getenv("GODEBUG") != stopWorld {
		c := exec.Command(os.Args[0], "-test.run=^TestMessages$", "-test.v", fmt.Sprintf("-test.short=%t", testing.Short()))
		c.Env = append(os.Environ(), "GODEBUG="+stopWorld)
		out, err := c.CombinedOutput()
		if t.Logf("%s", out); err != nil {
			t.Error(err)
		}
		return
	}
	s := &server{Server: commandtest.New(t, "enableTestCommands", "1"), n: 10}
	for _, text := range fixture {
		s.must(text)
	}
	s.must(`{insert: "many", documents: [{_id: 1, z: [1, 2]}]}`)
	s.must(`{profile: 0, slowms: 1000000}`)
	s.n = 50_000
	for i, m := range messages {
		if leftOut(i) {
			continue
		}
		c := s.prepare(m.command, false)[0]
		b := value.NewBuilder()
		it := c.body.Iter()
		body := b.Raw(it.Rest()).String("$db", c.db).Doc()
		var out []byte
		var heap heapPeak
		live := heap.during(func() {
			out, _ = s.Service.Handle(context.Background(), s.Conn, &service.Request{Body: body}, nil)
		})
		times := float64(live) / float64(len(body))
		if reply := value.Doc(out); !succeeded(reply) {
			t.Errorf("%s: %.300s", m.name, reply.String())
		}
		t.Logf("%s: %d kB, %.1f times", m.name, len(body)>>10, times)
		if times > 1.25*m.times+2 { // a collection may come before the peak, or at it
			t.Errorf("%s: %.1f times the %d kB of its message are in use", m.name, times, len(body)>>10)
		}
	}
}
