package pipeline_test

import (
	"context"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/value"
)

// An $out whose target changes while it writes fails. It does not change the target, and
// leaves no temporary collection.
func TestOutOverChangedTarget(t *testing.T) {
	for _, c := range []struct{ name, before, meanwhile, message string }{
		{"nothing happens", `{create: "t"}`, `{ping: 1}`, ""},
		{"documents come", `{create: "t"}`, `{insert: "t", documents: [{_id: 1}]}`, ""},
		{"nothing was there", `{ping: 1}`, `{ping: 1}`, ""},
		{"made again alike", `{create: "t"}`, `{drop: "t"}; {create: "t"}`, ""},
		{"an index comes", `{create: "t"}`, `{createIndexes: "t", indexes: [{key: {a: 1}, name: "a"}]}`, "indexes of target collection test.t changed during processing."},
		{"an index goes", `{createIndexes: "t", indexes: [{key: {a: 1}, name: "a"}]}`, `{dropIndexes: "t", index: "a"}`, "indexes of target collection test.t changed during processing."},
		{"the target comes", `{ping: 1}`, `{create: "t"}`, "indexes of target collection test.t changed during processing."},
		{"the target goes", `{create: "t"}`, `{drop: "t"}`, "indexes of target collection test.t changed during processing."},
		{"a validator comes", `{create: "t"}`, `{collMod: "t", validator: {a: 1}}`, "collection options of target collection test.t changed during processing. Original options: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := harness.New(t)
			h.OK(c.before)
			call := &kernel.Call{Ctx: context.Background(), Svc: h.Svc, Conn: h.Conn, Cmd: h.Svc.Table["aggregate"], Now: harness.TestStart.UnixMilli(), Request: kernel.Request{DB: "test", Body: harness.Relaxed(`{aggregate: "c"}`)}}
			w, err := (&pipeline.Environment{Exec: exec.NewExecution(call), Call: call}).Out(nil, agg.OutTarget{DB: "test", Coll: "t"})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Write(value.NewDoc("_id", value.Int32(7))); err != nil {
				t.Fatal(err)
			}
			for command := range strings.SplitSeq(c.meanwhile, "; ") {
				h.OK(command)
			}
			err = w.Commit()
			w.Abort()
			if message := saying(err); !strings.HasPrefix(message, c.message) || (message == "") != (c.message == "") {
				t.Errorf("says %q, want %q", message, c.message)
			}
			if err != nil && mongoerr.CodeOf(err) != mongoerr.CommandFailed {
				t.Error(mongoerr.CodeOf(err))
			}
			if n := len(harness.Docs(h.OK(`{listCollections: 1, filter: {name: {$regex: "^tmp"}}}`))); n != 0 {
				t.Errorf("%d collections are left behind", n)
			}
			if found := len(harness.Docs(h.OK(`{find: "t", filter: {_id: 7}}`))) == 1; found != (c.message == "") {
				t.Errorf("the target was replaced: %t", found)
			}
		})
	}
}

func saying(err error) string {
	if err == nil {
		return ""
	}
	return mongoerr.From(err).Message
}
