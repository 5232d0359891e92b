package servertest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/query/agg"
)

// stage is the expected result of a stage over "c", which has one expired document.
type stage struct {
	why  string // it has nothing to do with documents that can expire
	run  string // a pipeline over "c"
	n    int    // the documents that come out
	text string // which is in them
	walk func(w way)
}

const notOfDocuments = "its documents are the server's, not a collection's"

// stages has a row for each stage.
var stages = map[string]stage{
	"$addFields":       {run: `{$addFields: {y: 1}}`, n: 1},
	"$bucket":          {run: `{$bucket: {groupBy: "$n", boundaries: [0, 100], output: {c: {$sum: 1}, x: {$push: "$x"}}}}`, n: 1, text: `"c": {"$numberInt":"1"}`},
	"$bucketAuto":      {run: `{$bucketAuto: {groupBy: "$n", buckets: 5}}`, n: 1},
	"$count":           {run: `{$count: "c"}`, n: 1, text: `"c": {"$numberInt":"1"}`},
	"$densify":         {run: `{$densify: {field: "n", range: {step: 1, bounds: "full"}}}`, n: 1},
	"$facet":           {run: `{$facet: {f: [{$match: {}}], g: [{$count: "c"}]}}`, n: 1, text: `"c": {"$numberInt":"1"}`},
	"$fill":            {run: `{$fill: {sortBy: {n: 1}, output: {y: {method: "locf"}, z: {value: 1}}}}`, n: 1},
	"$group":           {run: `{$group: {_id: null, c: {$sum: 1}, s: {$sum: "$n"}, x: {$push: "$x"}, f: {$first: "$x"}, m: {$min: "$n"}}}`, n: 1, text: `"s": {"$numberInt":"20"}`},
	"$limit":           {run: `{$limit: 1}`, n: 1},
	"$match":           {run: `{$match: {u: {$gt: 0}}}`, n: 1},
	"$project":         {run: `{$project: {x: 1}}`, n: 1},
	"$redact":          {run: `{$redact: "$$KEEP"}`, n: 1},
	"$replaceRoot":     {run: `{$replaceRoot: {newRoot: {x: "$x"}}}`, n: 1},
	"$replaceWith":     {run: `{$replaceWith: {x: "$x"}}`, n: 1},
	"$sample":          {run: `{$sample: {size: 5}}`, n: 1},
	"$score":           {run: `{$score: {score: "$n", normalization: "minMaxScaler"}}`, n: 1},
	"$set":             {run: `{$set: {y: 1}}`, n: 1},
	"$setWindowFields": {run: `{$setWindowFields: {sortBy: {n: 1}, output: {s: {$sum: "$n", window: {documents: ["unbounded", "unbounded"]}}, r: {$rank: {}}}}}`, n: 1, text: `"s": {"$numberInt":"20"}`},
	"$skip":            {run: `{$skip: 1}`, n: 0},
	"$sort":            {run: `{$sort: {n: 1}}`, n: 1},
	"$sortByCount":     {run: `{$sortByCount: "$x"}`, n: 1},
	"$unset":           {run: `{$unset: "n"}`, n: 1},
	"$unwind":          {run: `{$unwind: {path: "$a", preserveNullAndEmptyArrays: true}}`, n: 1},

	"$geoNear": {walk: func(w way) {
		w.ok(`{createIndexes: "c", indexes: [{key: {loc: "2d"}, name: "loc"}]}`)
		w.ok(`{insert: "c", documents: [{_id: 3, x: "gone", loc: [0, 0], ttl: 1}]}`)
		w.to(6)
		w.ids(`2`, `{aggregate: "c", pipeline: [{$geoNear: {near: [0, 0], distanceField: "d"}}], cursor: {}}`)
		w.ids(`2`, `{aggregate: "c", pipeline: [{$geoNear: {near: [0, 0], distanceField: "d", maxDistance: 10}}, {$limit: 1}], cursor: {}}`)
	}},
	"$graphLookup": {walk: func(w way) {
		w.ok(`{insert: "d", documents: [{_id: 1, from: 1}, {_id: 2, from: 2}]}`)
		docs := w.batch(`{aggregate: "d", pipeline: [{$graphLookup: {from: "c", startWith: "$from", connectFromField: "parent", connectToField: "_id", as: "got"}}, {$sort: {_id: 1}}], cursor: {}}`)
		is(w.scene, "from the expired one", len(elements(docs[0].Lookup("got"))), 0)
		is(w.scene, "from the other", len(elements(docs[1].Lookup("got"))), 1)
	}},
	"$lookup": {walk: func(w way) {
		w.ok(`{insert: "d", documents: [{_id: 1, u: 1}]}`)
		for _, index := range []bool{false, true} {
			if index {
				w.ok(`{createIndexes: "c", indexes: [{key: {u: 1}, name: "u"}]}`)
			}
			for _, join := range []string{`localField: "u", foreignField: "u"`, `localField: "_id", foreignField: "_id"`,
				`let: {u: "$u"}, pipeline: [{$match: {$expr: {$eq: ["$u", "$$u"]}}}]`, `localField: "u", foreignField: "u", pipeline: [{$project: {x: 1}}]`} {
				d := w.first(`{aggregate: "d", pipeline: [{$lookup: {from: "c", ` + join + `, as: "got"}}], cursor: {}}`)
				is(w.scene, join, len(elements(d.Lookup("got"))), 0)
			}
		}
	}},
	"$rankFusion": {walk: func(w way) {
		w.ids(`2`, `{aggregate: "c", pipeline: [{$rankFusion: {input: {pipelines: {p: [{$sort: {n: 1}}], q: [{$match: {u: {$gt: 0}}}, {$sort: {u: 1}}]}}}}], cursor: {}}`)
	}},
	"$scoreFusion": {walk: func(w way) {
		w.ids(`2`, `{aggregate: "c", pipeline: [{$scoreFusion: {input: {pipelines: {p: [{$score: {score: "$n"}}], q: [{$match: {u: {$gt: 0}}}, {$score: {score: "$u"}}]}, normalization: "sigmoid"}}}], cursor: {}}`)
	}},
	"$unionWith": {walk: func(w way) {
		w.ok(`{insert: "d", documents: [{_id: 9}]}`)
		w.ids(`9 2`, `{aggregate: "d", pipeline: [{$unionWith: "c"}], cursor: {}}`)
		w.ids(`9 2`, `{aggregate: "d", pipeline: [{$unionWith: {coll: "c", pipeline: [{$match: {u: {$gte: 0}}}]}}], cursor: {}}`)
	}},
	"$merge": {walk: func(w way) {
		merge := func(options string) string {
			return `{aggregate: "d", pipeline: [{$merge: {into: "c"` + options + `}}], cursor: {}}`
		}
		w.ok(`{insert: "d", documents: [{_id: 1, y: 1}]}`)
		w.ok(merge(`, whenNotMatched: "discard"`))
		w.ids(`2`, `{find: "c"}`)
		w.fails(13113, "", merge(`, whenNotMatched: "fail"`))
		for _, options := range []string{``, `, whenMatched: "merge"`, `, whenMatched: "replace"`, `, whenMatched: "keepExisting"`, `, whenMatched: "fail"`, `, whenMatched: [{$set: {z: 1}}]`} {
			w.ok(merge(options))
			is(w.scene, options, w.first(`{find: "c", filter: {_id: 1}}`).String(), `{"_id": {"$numberInt":"1"},"y": {"$numberInt":"1"}}`)
			w.again()
		}
	}},
	"$out": {walk: func(w way) {
		w.ok(`{aggregate: "c", pipeline: [{$out: "d"}], cursor: {}}`)
		w.ids(`2`, `{find: "d"}`)
		w.ok(`{insert: "e", documents: [{_id: 1, x: "new"}]}`)
		w.ok(`{aggregate: "e", pipeline: [{$out: "c"}], cursor: {}}`)
		w.ids(`1`, `{find: "c"}`)
	}},
	"$collStats": {walk: func(w way) { // what is stored
		is(w.scene, "count", number(w.first(`{aggregate: "c", pipeline: [{$collStats: {count: {}}}], cursor: {}}`).Lookup("count")), 2)
	}},
	"$changeStream": {walk: func(w way) {
		r := w.ok(`{aggregate: "c", pipeline: [{$changeStream: {fullDocument: "updateLookup"}}], cursor: {}}`)
		id, _ := r.Lookup("cursor", "id").Int64OK()
		w.ok(`{insert: "c", documents: [{_id: 3, ttl: 5}]}`)
		w.ok(`{update: "c", updates: [{q: {_id: 3}, u: {$set: {x: "soon"}}}]}`)
		w.to(10)
		events := elements(w.ok(`{getMore: {"$numberLong": "%d"}, collection: "c"}`, id).Lookup("cursor", "nextBatch"))
		is(w.scene, "events", len(events), 2)
		is(w.scene, "looked up", ejson(events[1].Lookup("fullDocument")), "null")
	}},

	"$changeStreamSplitLargeEvent": {why: notOfDocuments},
	"$currentOp":                   {why: notOfDocuments},
	"$documents":                   {why: notOfDocuments},
	"$indexStats":                  {why: notOfDocuments},
	"$listClusterCatalog":          {why: notOfDocuments},
	"$listCatalog":                 {why: notOfDocuments},
	"$listLocalSessions":           {why: notOfDocuments},
	"$listSampledQueries":          {why: notOfDocuments},
	"$listSessions":                {why: notOfDocuments},
	"$planCacheStats":              {why: notOfDocuments},
	"$querySettings":               {why: notOfDocuments},
	"$queryStats":                  {why: notOfDocuments},
}

// again replaces {_id: 1} by an expired document.
func (w way) again() {
	w.Helper()
	w.ok(`{update: "c", updates: [{q: {_id: 1}, u: {x: "gone", ttl: 1}, upsert: true}]}`)
	w.admin(`{testClock: 1, advanceSeconds: 1, runDuePasses: false}`)
}

// Every stage of the table.
func TestExpiredInTheWayOfStages(t *testing.T) {
	for _, name := range agg.StageNames() {
		row, ok := stages[name]
		switch {
		case !ok:
			t.Errorf("the stage %s has no row: what does it do with an expired document in its way?", name)
		case row.walk != nil:
			t.Run(name, func(t *testing.T) {
				inTheWay(t, func(w way) { row.walk(w); w.nothingGone() })
			})
		case row.run != "":
			t.Run(name, func(t *testing.T) { inTheWay(t, func(w way) { w.yields(row) }) })
		case row.why == "":
			t.Errorf("the row of %s has neither a command nor a reason", name)
		}
	}
	for name := range stages {
		if !strings.Contains(" "+strings.Join(agg.StageNames(), " ")+" ", " "+name+" ") {
			t.Errorf("there is no stage %s", name)
		}
	}
}

// yields runs a stage alone, after other stages, and within the pipelines of others.
func (w way) yields(row stage) {
	w.Helper()
	for _, command := range []string{
		`{aggregate: "c", pipeline: [%s], cursor: {}}`,
		`{aggregate: "c", pipeline: [{$match: {_id: {$gt: 0}}}, %s], cursor: {}}`,
		`{aggregate: "c", pipeline: [{$sort: {_id: -1}}, %s], cursor: {}}`,
		`{aggregate: "one", pipeline: [{$lookup: {from: "c", pipeline: [%s], as: "got"}}, {$unwind: "$got"}, {$replaceWith: "$got"}], cursor: {}}`,
		`{aggregate: "none", pipeline: [{$unionWith: {coll: "c", pipeline: [%s]}}], cursor: {}}`,
	} {
		if strings.Contains(command, `"one"`) {
			w.ok(`{update: "one", updates: [{q: {_id: 1}, u: {$set: {a: 1}}, upsert: true}]}`)
		}
		docs := w.batch(fmt.Sprintf(command, row.run))
		text := fmt.Sprint(docs)
		if len(docs) != row.n || strings.Contains(text, `"gone"`) || !strings.Contains(text, row.text) {
			w.Errorf("%s yields %s", fmt.Sprintf(command, row.run), text)
		}
	}
}
