package access_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
)

func TestSecretsAreRedacted(t *testing.T) {
	h := harness.New(t)
	for _, tt := range []struct{ command, want string }{
		{`{hello: 1, speculativeAuthenticate: {saslStart: 1, payload: "hunter2", db: "admin"}}`, `payload: "xxx"`},
		{`{updateUser: "ann", pwd: "hunter2"}`, `{ updateUser: "ann", pwd: "xxx" }`},
		{`{explain: {createUser: "ann", pwd: "hunter2", roles: []}, verbosity: "queryPlanner"}`, `{ explain: { createUser: "ann", pwd: "xxx", roles: [] }, verbosity: "queryPlanner" }`},
		{`{explain: {createuser: "ann", pwd: "hunter2"}}`, `pwd: "xxx"`},
		{`{explain: {explain: {saslStart: 1, payload: "hunter2"}}}`, `payload: "xxx"`},
		{`{explain: {hello: 1, speculativeAuthenticate: {saslStart: 1, payload: "hunter2"}}}`, `payload: "xxx"`},
		{`{applyOps: [{op: "c", ns: "admin.$cmd", o: {createUser: "ann", pwd: "hunter2"}}]}`, `o: { createUser: "ann", pwd: "xxx" }`},
		{`{applyOps: [{op: "c", ns: "admin.$cmd", o: {applyOps: [{op: "c", ns: "admin.$cmd", o: {updateuser: "ann", pwd: "hunter2"}}]}}]}`, `pwd: "xxx"`},
		{`{explain: {applyOps: [{op: "c", ns: "admin.$cmd", o: {updateUser: "ann", pwd: "hunter2"}}]}}`, `pwd: "xxx"`},
		{`{explain: 1, pwd: "its own"}`, `{ explain: 1, pwd: "its own" }`},
		{`{applyOps: 1, pwd: "its own"}`, `{ applyOps: 1, pwd: "its own" }`},
		{`{find: "c", filter: {pwd: "its own"}}`, `filter: { pwd: "its own" }`},
		{`{explain: {find: "c", filter: {pwd: "its own"}}}`, `filter: { pwd: "its own" }`},
		{`{applyOps: [{op: "i", ns: "test.c", o: {_id: 1, pwd: "its own"}}], alwaysUpsert: true}`, `o: { _id: 1, pwd: "its own" } } ], alwaysUpsert: true }`},
	} {
		body := harness.Relaxed(tt.command)
		name, _ := body.First()
		c := &kernel.Call{Svc: h.Svc, Cmd: h.Svc.Table[name], Request: kernel.Request{Body: body}}
		if got := access.Shown(c).String(); strings.Contains(got, "hunter2") || !strings.Contains(got, tt.want) {
			t.Errorf("%s is shown as %s", tt.command, got)
		}
	}
}
