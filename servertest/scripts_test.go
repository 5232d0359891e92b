package servertest_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/servertest"
)

// printed receives the output of scripts.
type printed chan string

func (p printed) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "JavaScript output") {
		select {
		case p <- string(line):
		default:
		}
	}
	return len(line), nil
}

// endlessWrites are writes whose scripts never end. Scripts of filters do not end when
// they are called for the second time, because the first call is for the search.
var endlessWrites = map[string]struct{ db, command string }{
	"update":                     {"db", `{update: "c", updates: [{q: {$where: WHERE}, u: {$set: {x: 1}}}]}`},
	"update, multi":              {"db", `{update: "c", updates: [{q: {$where: AFTERALL}, u: {$set: {x: 1}}, multi: true}]}`},
	"update, _id and $where":     {"db", `{update: "c", updates: [{q: {_id: 1, $where: WHERE}, u: {$set: {x: 1}}}]}`},
	"update, $function":          {"db", `{update: "c", updates: [{q: {$expr: {$function: {body: WHERE, args: [], lang: "js"}}}, u: {$set: {x: 1}}}]}`},
	"update, upsert":             {"db", `{update: "c", updates: [{q: {$where: WHERE}, u: {$set: {x: 1}}, upsert: true}]}`},
	"pipeline update":            {"db", `{update: "c", updates: [{q: {a: 1}, u: [{$set: {x: ENDLESS}}]}]}`},
	"pipeline update, _id":       {"db", `{update: "c", updates: [{q: {_id: 1}, u: [{$set: {x: ENDLESS}}]}]}`},
	"pipeline update, multi":     {"db", `{update: "c", updates: [{q: {}, u: [{$replaceWith: {x: ENDLESS}}], multi: true}]}`},
	"delete":                     {"db", `{delete: "c", deletes: [{q: {$where: WHERE}, limit: 1}]}`},
	"delete, all":                {"db", `{delete: "c", deletes: [{q: {$where: AFTERALL}, limit: 0}]}`},
	"findAndModify":              {"db", `{findAndModify: "c", query: {$where: AFTERALL}, sort: {a: 1}, update: {$set: {x: 1}}}`},
	"findAndModify, remove":      {"db", `{findAndModify: "c", query: {$where: WHERE}, remove: true}`},
	"findAndModify, pipeline":    {"db", `{findAndModify: "c", query: {_id: 1}, update: [{$set: {x: ENDLESS}}]}`},
	"bulkWrite":                  {"admin", `{bulkWrite: 1, ops: [{update: 0, filter: {$where: WHERE}, updateMods: {$set: {x: 1}}}], nsInfo: [{ns: "db.c"}]}`},
	"bulkWrite, pipeline":        {"admin", `{bulkWrite: 1, ops: [{update: 0, filter: {_id: 1}, updateMods: [{$set: {x: ENDLESS}}]}], nsInfo: [{ns: "db.c"}]}`},
	"$merge":                     {"db", `{aggregate: "c", pipeline: [{$merge: {into: "c", whenMatched: [{$set: {x: ENDLESS}}]}}], cursor: {}}`},
	"$merge, let":                {"db", `{aggregate: "c", pipeline: [{$merge: {into: "c", let: {v: ENDLESS}, whenMatched: [{$set: {x: "$$v"}}]}}], cursor: {}}`},
	"mapReduce":                  {"db", `{mapReduce: "c", map: "function() { emit(1, 1) }", reduce: "function(k, v) { if (k == 1 && v.length == 2 && v[0] + v[1] == 9) { print('stuck'); while (true) {} } return 4 }", out: {reduce: "sums"}}`},
	"delete of measurements":     {"db", `{delete: "m", deletes: [{q: {$where: STUCK}, limit: 0}]}`},
	"findAndModify, measurement": {"db", `{findAndModify: "m", query: {$where: STUCK}, remove: true}`},
}

var endlessScripts = strings.NewReplacer(
	"WHERE", `"function() { times = (typeof times == 'undefined' ? 0 : times) + 1; if (times > 1) { print('stuck'); while (true) {} } return true }"`,
	"AFTERALL", `"function() { times = (typeof times == 'undefined' ? 0 : times) + 1; if (times > 2) { print('stuck'); while (true) {} } return true }"`,
	"STUCK", `"function() { print('stuck'); while (true) {} }"`,
	"ENDLESS", `{$function: {body: "function() { print('stuck'); while (true) {} }", args: [], lang: "js"}}`,
)

// A script that does not end blocks only its own command, and killOp ends it.
func TestScriptsHoldNoWriter(t *testing.T) {
	said := make(printed, 1)
	s := newScene(t, servertest.Dir(t.TempDir()), servertest.Log(zerolog.New(io.Writer(said))))
	s.ok(`{create: "m", timeseries: {timeField: "t"}}`)
	s.ok(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 2}]}`)
	s.ok(`{insert: "m", documents: [{t: d(1), a: 1}, {t: d(2), a: 2}]}`)
	s.ok(`{insert: "sums", documents: [{_id: 1, value: 5}]}`)
	for name, w := range endlessWrites {
		ended := make(chan error, 1)
		command := append(s.parse(strings.ReplaceAll(endlessScripts.Replace(w.command), "%", "%%")), bson.E{Key: "comment", Value: name})
		go func() { ended <- s.client.Database(w.db).RunCommand(context.Background(), command).Err() }()
		select {
		case <-said:
		case err := <-ended:
			t.Fatalf("%s: ended: %v", name, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		_, err := s.db.Collection("other").InsertOne(ctx, bson.D{})
		cancel()
		if err != nil {
			t.Errorf("%s: an insert meanwhile: %v", name, err)
		}
		s.killOp(name)
		s.failed(11601, "", name, <-ended)
	}
	s.sees("1 2", "c")
}

// killOp ends the command with a comment.
func (s *scene) killOp(comment string) {
	s.Helper()
	ops := elements(s.admin(`{currentOp: 1, "command.comment": "` + comment + `"}`).Lookup("inprog"))
	if len(ops) != 1 {
		s.Fatalf("%d operations with the comment %q", len(ops), comment)
	}
	s.admin(`{killOp: 1, op: %d}`, number(ops[0].Lookup("opid")))
}
