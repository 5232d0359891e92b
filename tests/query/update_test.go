package query

import (
	"testing"

	"github.com/duskdb/duskdb/value"
)

// TestUpdates plays the scripts of testdata/updates. A line is an update, or
// a filter, an update and its arrayFilters:
//
//	{$inc: {a: 1}} => {_id: 1, a: 2}
//	{a: 2} | {$set: {'a.$': 5}} => {_id: 1, a: [1, 5]}
//	{} | {$set: {'a.$[i]': 5}} | [{i: 1}] => {_id: 1, a: [5, 2]}
//	upsert {_id: 9} | {$set: {a: 1}} => {_id: 9, a: 1}
//
// Each is done by update, by findAndModify and by bulkWrite, which must agree.
func TestUpdates(t *testing.T) {
	eachStatement(t, "updates", func(s *server, st *statement) {
		filter, u, more := "{}", st.parts[0], ""
		if len(st.parts) > 1 {
			filter, u = st.parts[0], st.parts[1]
		}
		if len(st.parts) > 2 {
			more = ", arrayFilters: " + st.parts[2]
		}
		if st.verb == "upsert" {
			more += ", upsert: true"
		}
		ways := []struct{ name, command string }{
			{"update", `{update: 'c', updates: [{q: ` + filter + `, u: ` + u + more + `}]}`},
			{"findAndModify", `{findAndModify: 'c', query: ` + filter + `, update: ` + u + more + `, new: true}`},
			{"bulkWrite", `{bulkWrite: 1, $db: 'admin', nsInfo: [{ns: 'test.c'}], ops: [{update: 0, filter: ` + filter + `, updateMods: ` + u + more + `}]}`},
		}
		for _, way := range ways {
			s.begin(st)
			if st.verb == "upsert" {
				s.send(parse(`{delete: 'c', deletes: [{q: {}, limit: 0}]}`))
			}
			reply := s.send(parse(way.command))
			if way.name == "bulkWrite" && reply.Lookup("ok").Truthy() {
				reply = only(reply)
			}
			found := s.run(`{find: 'c'}`)
			s.answers(st, way.name, reply, only(found))
			if st.want.Fails() && st.doc != "" && st.verb != "upsert" && string(only(found)) != string(parse(st.doc)) {
				s.Errorf("%s: %s %s failed and left %s", st.where, way.name, st.parts, only(found))
			}
			if way.name == "findAndModify" && !st.want.Fails() && st.want.Want != "none" {
				if got := reply.Lookup("value"); !value.Equal(got, value.Document(parse(st.want.Want))) {
					s.Errorf("%s: findAndModify %s\nreturned %s\nwant     %s", st.where, st.parts, got, st.want.Want)
				}
			}
		}
	})
}
