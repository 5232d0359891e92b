package changestream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// Updates of ambiguous paths, after
// jstests/change_streams/expanded_update_description.js.
func TestStreamOfAmbiguousPaths(t *testing.T) {
	h := harness.New(t)
	long := `"` + strings.Repeat("*", 128) + `"`
	h.OK(`{insert: "c", documents: [{_id: 100,
		topLevelArray: [{subArray: [0, [0, [{bottomArray: [1, 2, ` + long + `]}]], 2, 3, ` + long + `]}],
		arrayForReplacement: [0, 1, 2, 3], arrayForResize: [` + long + `, 1],
		obj: {"sub.obj": {"d.o.t.t.e.d.a.r.r.a.y..": [[{a: {"b.c": 1, field: ` + long + `}}, "truncated"]]}},
		"d.o.t.t.e.d.o.b.j.": {"sub.obj": {"b.c": 2}},
		objectWithNumericField: {"0": {"1": "numeric", field: ` + long + `}},
		arrayWithNumericField: [[{"0": "numeric", a: {"b.c": 1}, field: ` + long + `}]],
		"arrayWithDotted.AndNumericFields": [[{"0": [{"1.2": {"a.b": null, c: ` + long + `}}]}]]}]}`)
	s := h.Watch("c", `{"showExpandedEvents": true}`, "")
	set := func(field, input, v string) string {
		return `{$setField: {field: "` + field + `", input: "` + input + `", value: ` + v + `}}`
	}
	for _, tt := range []struct{ update, updated, removed, truncated, paths string }{
		{`{$set: {a: 2, "topLevelArray.0.subArray.1.1.0.bottomArray.2": 3, arrayForReplacement: [0]}}`,
			`{"arrayForReplacement": [0], "a": 2, "topLevelArray.0.subArray.1.1.0.bottomArray.2": 3}`, `[]`, `[]`, `{}`},
		{`{$set: {"arrayWithNumericField.0.0.1": {"b.c": 1}}}`, `{"arrayWithNumericField.0.0.1": {"b.c": 1}}`, `[]`, `[]`,
			`{"arrayWithNumericField.0.0.1": ["arrayWithNumericField", 0, 0, "1"]}`},
		{`{$set: {"objectWithNumericField.0.1": "updated"}}`, `{"objectWithNumericField.0.1": "updated"}`, `[]`, `[]`,
			`{"objectWithNumericField.0.1": ["objectWithNumericField", "0", "1"]}`},
		{`[{$unset: ["arrayForReplacement"]}]`, `{}`, `["arrayForReplacement"]`, `[]`, `{}`},
		{`[{$replaceWith: ` + set("arrayForResize", "$$ROOT", `[`+long+`]`) + `}]`, `{}`, `[]`, `[{"field": "arrayForResize", "newSize": 1}]`, `{}`},
		{`[{$replaceWith: ` + set("d.o.t.t.e.d.o.b.j.", "$$ROOT", `{subObj: 1}`) + `}, {$replaceWith: ` + set("new.Field.", "$$ROOT", "1") + `}]`,
			`{"d.o.t.t.e.d.o.b.j.": {"subObj": 1}, "new.Field.": 1}`, `[]`, `[]`,
			`{"d.o.t.t.e.d.o.b.j.": ["d.o.t.t.e.d.o.b.j."], "new.Field.": ["new.Field."]}`},
		{`[{$set: {obj: ` + set("sub.obj", "$obj", `{$literal: {"d.o.t.t.e.d.a.r.r.a.y..": [[{a: {"b.c": 2, field: `+long+`}}]]}}`) + `}}]`,
			`{"obj.sub.obj.d.o.t.t.e.d.a.r.r.a.y...0.0.a.b.c": 2}`, `[]`, `[{"field": "obj.sub.obj.d.o.t.t.e.d.a.r.r.a.y...0", "newSize": 1}]`,
			`{"obj.sub.obj.d.o.t.t.e.d.a.r.r.a.y...0": ["obj", "sub.obj", "d.o.t.t.e.d.a.r.r.a.y..", 0],
			  "obj.sub.obj.d.o.t.t.e.d.a.r.r.a.y...0.0.a.b.c": ["obj", "sub.obj", "d.o.t.t.e.d.a.r.r.a.y..", 0, 0, "a", "b.c"]}`},
		{`[{$replaceWith: ` + set("arrayWithDotted.AndNumericFields", "$$ROOT", `{$literal: [[{"0": [{"1.2": {"a.b": true, c: `+long+`}}]}]]}`) + `}]`,
			`{"arrayWithDotted.AndNumericFields.0.0.0.0.1.2.a.b": true}`, `[]`, `[]`,
			`{"arrayWithDotted.AndNumericFields.0.0.0.0.1.2.a.b": ["arrayWithDotted.AndNumericFields", 0, 0, "0", 0, "1.2", "a.b"]}`},
	} {
		h.OK(`{update: "c", updates: [{q: {_id: 100}, u: ` + tt.update + `}]}`)
		s.Expect(fmt.Sprintf(`{"operationType": "update", %s, "documentKey": {"_id": 100}, "updateDescription": {"updatedFields": %s, "removedFields": %s, "truncatedArrays": %s, "disambiguatedPaths": %s}}`,
			nsC, tt.updated, tt.removed, tt.truncated, tt.paths))
	}
}

// The events of create, after jstests/change_streams/ddl_create_event.js.
func TestStreamOfCreate(t *testing.T) {
	const collation = `{"locale": "en", "caseLevel": false, "caseFirst": "off", "strength": 3, "numericOrdering": false, "alternate": "non-ignorable", "maxVariable": "punct", "normalization": false, "backwards": true, "version": "57.1"}`
	const engine = `{"wiredTiger": {"configString": "block_compressor=zlib"}}`
	for _, of := range []string{"", "c"} {
		h := harness.New(t)
		for _, tt := range []struct{ run, description string }{
			{`{create: "c"}`, `{` + idIndexSpec + `}`},
			{`{create: "c", capped: true, size: 1000, max: 1000}`, `{"capped": true, "size": 1000, "max": 1000, ` + idIndexSpec + `}`},
			{`{create: "c", indexOptionDefaults: {storageEngine: ` + engine + `}, storageEngine: ` + engine + `}`, `{"storageEngine": ` + engine + `, "indexOptionDefaults": {"storageEngine": ` + engine + `}, ` + idIndexSpec + `}`},
			{`{create: "c", validator: {a: 1}, validationLevel: "off", validationAction: "warn"}`, `{"validator": {"a": 1}, "validationLevel": "off", "validationAction": "warn", ` + idIndexSpec + `}`},
			{`{create: "c", collation: ` + collation + `}`, `{"collation": ` + collation + `, "idIndex": {"v": 2, "key": {"_id": 1}, "name": "_id_", "collation": ` + collation + `}}`},
			{`{create: "c", clusteredIndex: {key: {_id: 1}, name: "newName", unique: true}, expireAfterSeconds: 10}`, `{"clusteredIndex": {"v": 2, "key": {"_id": 1}, "name": "newName", "unique": true}, "expireAfterSeconds": {"$numberLong": "10"}}`},
			{`{create: "c", idIndex: {v: 2, key: {_id: 1}, name: "ignored"}}`, `{` + idIndexSpec + `}`},
			{`{create: "c", idIndex: {v: 1, key: {_id: 1}, name: "new"}}`, ``},
		} {
			s := h.Watch(of, `{"showExpandedEvents": true}`, "")
			h.OK(tt.run)
			description := `"operationDescription": ` + tt.description + `, `
			if tt.description == "" {
				description = ""
			}
			expectDDL(s, tt.run, []string{`{"operationType": "create", ` + nsC + `, ` + description + `"nsType": "collection"}`})
			h.OK(`{drop: "c"}`)
		}
		s := h.Watch(of, `{"showExpandedEvents": true}`, "")
		h.OK(`{insert: "c", documents: [{_id: 0}]}`)
		s.Expect(`{"operationType": "create", `+nsC+`, "operationDescription": {`+idIndexSpec+`}, "nsType": "collection"}`,
			`{"operationType": "insert", "fullDocument": {"_id": 0}, `+nsC+`, "documentKey": {"_id": 0}}`)
	}
}

// The events of createIndexes and dropIndexes, after
// jstests/change_streams/ddl_create_drop_index_events.js: for an empty collection one
// event for each index, otherwise one event for all.
func TestStreamOfIndexes(t *testing.T) {
	const collation = `{"locale": "en_US", "caseLevel": false, "caseFirst": "off", "strength": 3, "numericOrdering": false, "alternate": "non-ignorable", "maxVariable": "punct", "normalization": false, "backwards": false, "version": "57.1"}`
	event := func(kind string, specs ...string) string {
		return `{"operationType": "` + kind + `", ` + nsC + `, "operationDescription": {"indexes": [` + strings.Join(specs, ", ") + `]}}`
	}
	for _, of := range []string{"", "c"} {
		for _, filled := range []bool{false, true} {
			h := harness.New(t)
			h.OK(`{create: "c"}`)
			if filled {
				h.OK(`{insert: "c", documents: [{a: 1, b: "j", c: "k", d: "l", e: "m", f: [55.5, 42.3]}]}`)
			}
			s := h.Watch(of, `{"showExpandedEvents": true}`, "")
			for _, tt := range []struct{ spec, logged, drop string }{
				{`{"key": {"a": 1}, "name": "a_1", "hidden": true, "partialFilterExpression": {"a": {"$gte": 0}}, "expireAfterSeconds": 86400, "storageEngine": {"wiredTiger": {}}}`, "", `"a_1"`},
				{`{"key": {"e": 1}, "name": "e_1", "collation": ` + collation + `}`, "", `"*"`},
				{`{"key": {"$**": 1}, "name": "wi", "wildcardProjection": {"a": true, "b": true, "_id": false}}`, "", `"wi"`},
				{`{"key": {"e": "text"}, "name": "text", "weights": {"e": 1}, "default_language": "english", "language_override": "language", "textIndexVersion": 3}`,
					`{"v": 2, "key": {"_fts": "text", "_ftsx": 1}, "name": "text", "weights": {"e": 1}, "default_language": "english", "language_override": "language", "textIndexVersion": 3}`, `"text"`},
				{`{"key": {"f": "2d"}, "name": "2d", "min": -150.0, "max": 150.0, "bits": 26}`, "", `"2d"`},
				{`{"key": {"f": "2dsphere"}, "name": "2dsphere", "2dsphereIndexVersion": 3}`, "", `["2dsphere"]`},
			} {
				logged := tt.logged
				if logged == "" {
					logged = `{"v": 2, ` + tt.spec[1:]
				}
				h.OK(`{createIndexes: "c", indexes: [` + tt.spec + `]}`)
				s.Expect(event("createIndexes", logged))
				h.OK(`{dropIndexes: "c", index: ` + tt.drop + `}`)
				s.Expect(event("dropIndexes", logged))
			}
			const one, two = `{"v": 2, "key": {"b": 1, "c": -1}, "name": "b_1_c_-1", "sparse": true}`, `{"v": 2, "key": {"d": "hashed"}, "name": "d_hashed", "sparse": true}`
			h.OK(`{createIndexes: "c", indexes: [` + one + `, ` + two + `]}`)
			if filled {
				s.Expect(event("createIndexes", one, two))
			} else {
				s.Expect(event("createIndexes", one), event("createIndexes", two))
			}
			h.OK(`{dropIndexes: "c", index: ["b_1_c_-1", "d_hashed"]}`)
			s.Expect(event("dropIndexes", one), event("dropIndexes", two))
		}
	}
}
