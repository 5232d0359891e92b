package query

import (
	"regexp"
	"testing"
)

// findOnly recognises projections that $project does not know.
var findOnly = regexp.MustCompile(`\.\$'|\$elemMatch|\$slice|\$meta`)

// TestProjections plays the scripts of testdata/projections. A line is a
// projection, or a filter and a projection:
//
//	{a: 1} => {_id: 1, a: 1}
//	{a: 1} | {'a.$': 1} !! 51246
//
// Projections that aggregation knows too must answer the same there.
func TestProjections(t *testing.T) {
	eachStatement(t, "projections", func(s *server, st *statement) {
		s.begin(st)
		filter, projection := "{}", st.parts[len(st.parts)-1]
		if len(st.parts) > 1 {
			filter = st.parts[0]
		}
		reply := s.send(parse(`{find: 'c', filter: ` + filter + `, projection: ` + projection + `}`))
		s.answers(st, "find", reply, only(reply))
		if st.want.Fails() || st.verb == "find" || findOnly.MatchString(projection) || projection == "{}" {
			return
		}
		reply = s.send(parse(`{aggregate: 'c', pipeline: [{$match: ` + filter + `}, {$project: ` + projection + `}], cursor: {}}`))
		s.answers(st, "aggregate", reply, only(reply))
	})
}
