package kernel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
)

// The cursor has the same time limit as the command that opened it, and a getMore cannot
// extend it.
func TestCursorHasTheTimeOfItsCommand(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{}, {}, {}, {}]}`)
	for _, open := range []string{
		`{find: "c", batchSize: 1, maxTimeMS: 60000}`,
		`{aggregate: "c", pipeline: [{$match: {}}], cursor: {batchSize: 1}, maxTimeMS: 60000}`,
	} {
		id := h.OK(open).Lookup("cursor").Doc().Lookup("id").Int64()
		more := fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c", batchSize: 1}`, id)
		h.OK(more)
		cur := h.Svc.Cursors.Open[id]
		if cur.TimeLeft <= 0 || cur.TimeLeft >= time.Minute {
			t.Errorf("%s: %v are left", open, cur.TimeLeft)
		}
		h.Fails(2, fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c", maxTimeMS: 60000}`, id))
		cur.TimeLeft = kernel.NoTime
		h.Fails(50, more)
		h.Fails(43, more)
	}
}

func TestCursorWithoutLimit(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{}, {}, {}, {}]}`)
	id := h.OK(`{find: "c", batchSize: 1}`).Lookup("cursor").Doc().Lookup("id").Int64()
	h.OK(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c", batchSize: 1}`, id))
	if left := h.Svc.Cursors.Open[id].TimeLeft; left != 0 {
		t.Errorf("%v are left", left)
	}
}

// The fail points about maxTimeMS, as drivers use them.
func TestTimeLimitFailPoints(t *testing.T) {
	h := harness.NewTestCommands(t)
	h.OK(`{insert: "c", documents: [{}, {}, {}, {}]}`)
	limited := fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`,
		h.OK(`{find: "c", batchSize: 1, maxTimeMS: 60000}`).Lookup("cursor").Doc().Lookup("id").Int64())
	free := fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`,
		h.OK(`{find: "c", batchSize: 1}`).Lookup("cursor").Doc().Lookup("id").Int64())

	h.Admin(`{configureFailPoint: "maxTimeAlwaysTimeOut", mode: "alwaysOn"}`)
	h.Fails(50, `{ping: 1, maxTimeMS: 60000}`)
	h.Fails(50, `{find: "c", filter: {_id: 1}, limit: 1, singleBatch: true, maxTimeMS: 60000}`)
	h.Fails(50, limited)
	h.OK(free)
	h.OK(`{ping: 1}`)
	h.OK(`{ping: 1, maxTimeMS: 0}`)
	if r := h.Admin(`{configureFailPoint: "maxTimeAlwaysTimeOut", mode: "off"}`); r.Lookup("count").Int32() != 3 {
		t.Errorf("answered %s", r)
	}
	h.OK(`{ping: 1, maxTimeMS: 60000}`)

	h.Admin(`{configureFailPoint: "maxTimeNeverTimeOut", mode: "alwaysOn"}`)
	id := h.OK(`{find: "c", batchSize: 1, maxTimeMS: 60000}`).Lookup("cursor").Doc().Lookup("id").Int64()
	h.Svc.Cursors.Open[id].TimeLeft = kernel.NoTime
	h.OK(fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`, id))
	h.Admin(`{configureFailPoint: "maxTimeNeverTimeOut", mode: "off"}`)
}
