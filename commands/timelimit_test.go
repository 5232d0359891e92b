package commands

import (
	"fmt"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/kernel"
)

// The time a command had is all the time its cursor has, and a getMore cannot
// give it more.
func TestCursorHasTheTimeOfItsCommand(t *testing.T) {
	h := newHarness(t)
	h.ok(`{insert: "c", documents: [{}, {}, {}, {}]}`)
	for _, open := range []string{
		`{find: "c", batchSize: 1, maxTimeMS: 60000}`,
		`{aggregate: "c", pipeline: [{$match: {}}], cursor: {batchSize: 1}, maxTimeMS: 60000}`,
	} {
		id := h.ok(open).Lookup("cursor").Doc().Lookup("id").Int64()
		more := fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c", batchSize: 1}`, id)
		h.ok(more)
		cur := h.svc.Cursors.Cursors[id]
		if cur.TimeLeft <= 0 || cur.TimeLeft >= time.Minute {
			t.Errorf("%s: %v are left", open, cur.TimeLeft)
		}
		h.fails(2, fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c", maxTimeMS: 60000}`, id))
		cur.TimeLeft = kernel.NoTime
		h.fails(50, more)
		h.fails(43, more)
	}
}

func TestCursorWithoutLimit(t *testing.T) {
	h := newHarness(t)
	h.ok(`{insert: "c", documents: [{}, {}, {}, {}]}`)
	id := h.ok(`{find: "c", batchSize: 1}`).Lookup("cursor").Doc().Lookup("id").Int64()
	h.ok(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c", batchSize: 1}`, id))
	if left := h.svc.Cursors.Cursors[id].TimeLeft; left != 0 {
		t.Errorf("%v are left", left)
	}
}

// The fail points about maxTimeMS, as drivers use them.
func TestTimeLimitFailPoints(t *testing.T) {
	h := newTestCommands(t)
	h.ok(`{insert: "c", documents: [{}, {}, {}, {}]}`)
	limited := fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`,
		h.ok(`{find: "c", batchSize: 1, maxTimeMS: 60000}`).Lookup("cursor").Doc().Lookup("id").Int64())
	free := fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`,
		h.ok(`{find: "c", batchSize: 1}`).Lookup("cursor").Doc().Lookup("id").Int64())

	h.admin(`{configureFailPoint: "maxTimeAlwaysTimeOut", mode: "alwaysOn"}`)
	h.fails(50, `{ping: 1, maxTimeMS: 60000}`)
	h.fails(50, `{find: "c", filter: {_id: 1}, limit: 1, singleBatch: true, maxTimeMS: 60000}`)
	h.fails(50, limited)
	h.ok(free)
	h.ok(`{ping: 1}`)
	h.ok(`{ping: 1, maxTimeMS: 0}`)
	if r := h.admin(`{configureFailPoint: "maxTimeAlwaysTimeOut", mode: "off"}`); r.Lookup("count").Int32() != 3 {
		t.Errorf("answered %s", r)
	}
	h.ok(`{ping: 1, maxTimeMS: 60000}`)

	h.admin(`{configureFailPoint: "maxTimeNeverTimeOut", mode: "alwaysOn"}`)
	id := h.ok(`{find: "c", batchSize: 1, maxTimeMS: 60000}`).Lookup("cursor").Doc().Lookup("id").Int64()
	h.svc.Cursors.Cursors[id].TimeLeft = kernel.NoTime
	h.ok(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`, id))
	h.admin(`{configureFailPoint: "maxTimeNeverTimeOut", mode: "off"}`)
}
