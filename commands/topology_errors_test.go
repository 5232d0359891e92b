package commands_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// TestNotPrimaryErrorsHaveTopology: in a set, errors that report that the member is
// not the primary have its topologyVersion, also those of a fail point and of a write
// concern. By the version a driver recognises that it already knows that topology, and
// continues without waiting for the next hello. Errors of a shutdown do not have it
// unless the server is about to end, and errors of a standalone server never have it.
func TestNotPrimaryErrorsHaveTopology(t *testing.T) {
	for _, tc := range []struct {
		data string
		has  bool
	}{
		{`{failCommands: ["insert"], errorCode: 10107}`, true},
		{`{failCommands: ["insert"], errorCode: 13435}`, true},
		{`{failCommands: ["insert"], errorCode: 11602}`, true},
		{`{failCommands: ["insert"], errorCode: 189, errorLabels: ["RetryableError"]}`, true},
		{`{failCommands: ["insert"], errorCode: 91}`, false},
		{`{failCommands: ["insert"], errorCode: 11600}`, false},
		{`{failCommands: ["insert"], errorCode: 6}`, false},
		{`{failCommands: ["insert"], writeConcernError: {code: 10107, errmsg: "not primary"}}`, true},
		{`{failCommands: ["insert"], writeConcernError: {code: 91, errmsg: "shutting down"}}`, false},
	} {
		for _, member := range []bool{true, false} {
			h := harness.NewTestCommands(t).LoneServer("a topology that changes")
			if member {
				h = h.AsMember()
			}
			h.SetFail(`{times: 1}`, tc.data)
			r := h.Run(`{insert: "c", documents: [{_id: 1}]}`)
			if r.Has("topologyVersion") != (tc.has && member) {
				t.Errorf("member %v, %s: %s", member, tc.data, r)
			}
			if !member || !tc.has {
				continue
			}
			if got, want := r.Lookup("topologyVersion"), h.Admin(`{hello: 1}`).Lookup("topologyVersion"); got.String() != want.String() {
				t.Errorf("%s: topologyVersion %s, want %s", tc.data, got, want)
			}
		}
	}
}
