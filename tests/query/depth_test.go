package query

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/commandtest"
	"github.com/duskdb/duskdb/value"
)

// No document that the server computes becomes deeper than documents may be, by whatever puts
// values into one another: what walks through them would need too much of the stack.
func TestComputedDepth(t *testing.T) {
	s := commandtest.New(t)
	wrapped := func(levels int, inner string) string {
		return strings.Repeat(`{"a":`, levels) + inner + strings.Repeat("}", levels)
	}
	reduced := func(steps, levels int) string {
		return fmt.Sprintf(`{"$reduce": {"input": {"$range": [0, %d]}, "initialValue": 1, "in": %s}}`, steps, wrapped(levels, `"$$value"`))
	}
	path := strings.TrimSuffix(strings.Repeat("a.", 150), ".")
	repeated := func(n int, stage string) string { return strings.TrimSuffix(strings.Repeat(stage+",", n), ",") }
	grow := map[string]func(n int) string{ // deeper with n
		"$reduce": func(n int) string { return `{"$project": {"x": ` + reduced(n, 100) + `}}` },
		"$reduce of arrays": func(n int) string {
			return `{"$project": {"x": {"$reduce": {"input": {"$range": [0, ` + fmt.Sprint(100*n) + `]}, "initialValue": 1, "in": ["$$value"]}}}}`
		},
		"in another expression": func(n int) string { return `{"$project": {"x": {"$eq": [` + reduced(n, 100) + `, 1]}}}` },
		"$match":                func(n int) string { return `{"$match": {"$expr": {"$eq": [` + reduced(n, 100) + `, 1]}}}` },
		"$group by":             func(n int) string { return `{"$group": {"_id": ` + reduced(n, 100) + `}}` },
		"$sort":                 func(n int) string { return `{"$set": {"x": ` + reduced(n, 100) + `}}, {"$sort": {"x": 1}}` },
		"stages":                func(n int) string { return repeated(n, `{"$set": {"a": `+wrapped(100, `"$a"`)+`}}`) },
		"paths":                 func(n int) string { return repeated(n, `{"$set": {"`+path+`": "$a"}}`) },
		"$replaceRoot":          func(n int) string { return repeated(n, `{"$replaceRoot": {"newRoot": `+wrapped(100, `"$$ROOT"`)+`}}`) },
		"$push":                 func(n int) string { return repeated(60*n, `{"$group": {"_id": null, "a": {"$push": "$$ROOT"}}}`) },
		"$facet":                func(n int) string { return repeated(60*n, `{"$facet": {"a": []}}`) },
		"$setWindowFields": func(n int) string {
			return repeated(n, `{"$setWindowFields": {"output": {"`+path+`": {"$push": "$a"}}}}`)
		},
		"$function": func(n int) string {
			return `{"$project": {"x": {"$reduce": {"input": {"$range": [0, ` + fmt.Sprint(n) + `]}, "initialValue": [1], "in": {"$function": {"body": "function(x) { for (let i = 0; i < 100; i++) x = {a: x}; return [x]; }", "args": "$$value", "lang": "js"}}}}}}`
		},
	}
	for name, stages := range grow {
		for n, want := range map[int]bool{1: true, 4: false, 6: false} {
			command := `{"aggregate": 1, "pipeline": [{"$documents": [{"a": 1}]}, ` + stages(n) + `], "cursor": {}}`
			body, err := value.ParseJSON(command)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			reply := s.Send("test", body)
			code, text := int64(15), "cannot convert document to BSON because it exceeds the limit of 200 levels of nesting"
			if name == "$function" {
				code, text = 22, "BSONObj exceeded maximum nested object depth: 200"
			}
			if reply.Lookup("ok").Truthy() != want || !want && (reply.Lookup("code").Int64() != code || !strings.Contains(reply.Lookup("errmsg").Str(), text)) {
				t.Errorf("%s, %d: %.300s", name, n, reply)
			}
		}
	}
}
