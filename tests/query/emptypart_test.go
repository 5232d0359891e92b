package query

import (
	"fmt"
	"testing"
)

// An empty last part of a path stands for the field "" of a document and for the array itself,
// whatever finds the documents: a scan of the collection, an index of all fields, many
// conditions that are tested together.
func TestEmptyLastPart(t *testing.T) {
	s := newServer(t)
	docs := []string{
		`{_id: 1, a: 5}`, `{_id: 2, a: {}}`, `{_id: 3, a: {"": 5}}`, `{_id: 4, a: [5]}`, `{_id: 5, a: []}`, `{_id: 6}`,
		`{_id: 7, a: [{"": 5}]}`, `{_id: 8, a: {"": [5, 6]}}`, `{_id: 9, a: null}`, `{_id: 10, a: [[5]]}`,
	}
	for _, coll := range []string{"plain", "indexed"} {
		for _, d := range docs {
			s.run(`{insert: "` + coll + `", documents: [` + d + `]}`)
		}
	}
	s.run(`{createIndexes: "indexed", indexes: [{key: {"$**": 1}, name: "all"}, {key: {a: 1}, name: "a"}]}`)
	many := func(last string) string {
		text := ""
		for i := range 40 {
			text += fmt.Sprintf(`{"a.": %d}, {"b%d.": 1}, `, 100+i, i)
		}
		return `{$or: [` + text + last + `]}`
	}
	for filter, want := range map[string]string{
		`{"a.": {$exists: true}}`:             "10 3 4 5 7 8",
		`{"a.": {$exists: false}}`:            "1 2 6 9",
		`{"a.": 5}`:                           "3 4 8",
		`{"a.": {$in: [5, 7]}}`:               "3 4 8",
		`{"a.": {$gt: 5}}`:                    "8",
		`{"a.": null}`:                        "1 2 6 9",
		`{"a.": [5]}`:                         "10 4",
		`{"a.": {$size: 0}}`:                  "5",
		`{"a.": {$elemMatch: {$eq: 5}}}`:      "4 8",
		`{"a.": {$type: "array"}}`:            "10 4 5 7 8",
		`{"a.": {$ne: 5}}`:                    "1 10 2 5 6 7 9",
		many(`{"a.": 5}`):                     "3 4 8",
		`{$nor: [` + many(`{"a.": 5}`) + `]}`: "1 10 2 5 6 7 9",
	} {
		for _, coll := range []string{"plain", "indexed"} {
			got := sortedIDs(batch(s.run(`{find: "` + coll + `", filter: ` + filter + `}`)))
			if got != want {
				t.Errorf("%s in %s: found %s, want %s", filter, coll, got, want)
			}
		}
	}
}
