package commands_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/value"
)

// right is one of the privileges of a line. Without an optional one ("="), the command
// requires fewer privileges.
type right struct {
	action   string
	on       auth.Pattern
	optional bool
}

func rightsOf(t *testing.T, list string) (rights []right) {
	t.Helper()
	for _, text := range strings.Split(list, ", ") {
		if text == "" || text[0] == '-' {
			continue
		}
		text, optional := strings.CutPrefix(text, "=")
		action, on, ok := strings.Cut(text, " ")
		if _, known := auth.ActionOf(action); !ok || !known {
			t.Fatalf("no right: %q", text)
		}
		r := right{action: action, optional: optional}
		db, coll, named := strings.Cut(on, ".")
		switch {
		case on == "cluster":
			r.on = auth.Cluster()
		case on == "any":
			r.on = auth.AnyNormal()
		case on == "buckets":
			r.on = auth.AnyBuckets()
		case db == "*":
			r.on = auth.Collection(coll)
		case named:
			r.on = auth.Namespace(db, coll)
		default:
			r.on = auth.Database(db)
		}
		rights = append(rights, r)
	}
	return rights
}

// everythingBut returns a user who has all privileges on everything except for one
// action. Of this action the user has the other privileges of the line.
func everythingBut(actions, alternatives []string, rights []right, missing int) *auth.User {
	var rest []string
	for _, a := range actions {
		if a != rights[missing].action && !slices.Contains(alternatives, a) {
			rest = append(rest, a)
		}
	}
	all, _ := auth.ParsePrivileges(value.MustJSON(`{"p": [{"resource": {"anyResource": true}, "actions": ["` + strings.Join(rest, `", "`) + `"]}]}`).Lookup("p").Doc())
	return auth.Visitor(append(all, grants(rights, missing)...)...)
}

// grants returns all privileges but one; -1: all.
func grants(rights []right, missing int) (list []auth.Privilege) {
	for i, r := range rights {
		if i != missing {
			list = append(list, auth.Grant(r.on, r.action))
		}
	}
	return list
}

// alternatives returns the actions with "-" in a line, which can replace others.
func alternatives(list string) (actions []string) {
	for _, text := range strings.Split(list, ", ") {
		if action, ok := strings.CutPrefix(text, "-"); ok {
			actions = append(actions, action)
		}
	}
	return actions
}

// TestWhatCommandsTouch checks that users with exactly the privileges of a line can run
// the command, and that users with all privileges but one of these cannot.
func TestWhatCommandsTouch(t *testing.T) {
	h := newSweepHarness(t)
	var actions []string
	for _, line := range sweep {
		for _, r := range rightsOf(t, line.rights) {
			actions = append(actions, r.action)
		}
	}
	slices.Sort(actions)
	actions = slices.Compact(actions)
	for _, line := range sweep {
		if name, _ := harness.Relaxed(line.command).First(); h.Svc.InCluster() && (h.Svc.Table[name] == nil || h.Svc.Table[name].Enabled != nil) {
			continue // a mongos does not have it, or has another one
		}
		rights := rightsOf(t, line.rights)
		if err := touch(h, line, auth.Visitor(grants(rights, -1)...)); err != nil {
			t.Errorf("%s on %s with %q: %v", line.command, line.db, line.rights, err)
		}
		for i, r := range rights {
			if r.optional {
				continue
			}
			if err := touch(h, line, everythingBut(actions, alternatives(line.rights), rights, i)); !mongoerr.Is(err, mongoerr.Unauthorized) {
				t.Errorf("%s on %s without the right to %s: %v", line.command, line.db, strings.Split(line.rights, ", ")[i], err)
			}
		}
	}
}

// TestSweepIsComplete fails for commands and stages without a line.
func TestSweepIsComplete(t *testing.T) {
	h := newSweepHarness(t)
	seen := map[string]bool{}
	for _, line := range sweep {
		body := harness.Relaxed(line.command)
		name, _ := body.First()
		seen[name] = true
		if inner := body.Lookup("explain").Doc(); inner != nil {
			body = inner
		}
		noteStages(seen, body.Lookup("pipeline").Doc())
	}
	for _, cmd := range h.Svc.Commands {
		if !seen[cmd.Name] && !cmd.Has(kernel.PreAuth) && cmd.Enabled == nil {
			t.Errorf("the command %s is not in the sweep: what does it touch?", cmd.Name)
		}
	}
	for _, name := range agg.StageNames() {
		if !seen[name] {
			t.Errorf("the stage %s is not in the sweep: what does it touch?", name)
		}
	}
}

func noteStages(seen map[string]bool, pipeline value.Doc) {
	for stage := range pipeline.Values() {
		name, _ := stage.Doc().First()
		seen[name] = true
	}
}

func newSweepHarness(t *testing.T) *harness.AuthHarness {
	h := harness.NewAuth(t)
	h.OK(`{create: "moves", onExpire: {deadLetterTo: "dead"}}`)
	h.OK(`{create: "news", messageTopic: {}}`)
	h.OK(`{create: "far", messageSubscription: {topic: "news"}}`)
	h.Svc.Options.Security.Auth = true
	return h
}

// touch returns an error if a user may not run the command of a line.
func touch(h *harness.AuthHarness, line touches, u *auth.User) error {
	h.Helper()
	body := harness.Relaxed(line.command)
	name, _ := body.First()
	cmd := h.Svc.Table[name]
	if cmd == nil {
		h.Fatalf("no command %s", name)
	}
	c := &kernel.Call{Ctx: context.Background(), Svc: h.Svc, Conn: &kernel.Conn{Endpoint: kernel.Endpoint{Remote: "10.0.0.1:5000"}, User: u}, Cmd: cmd, Request: kernel.Request{Body: body, DB: line.db}, Authorization: kernel.Authorization{User: u}}
	err := access.AuthorizeCommand(c)
	if errors.Is(err, access.ErrNotAuthorized) {
		return mongoerr.New(mongoerr.Unauthorized, err.Error())
	}
	return err
}
