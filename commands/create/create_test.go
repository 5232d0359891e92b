package create_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// The options are listed as the manual's page on listCollections has them.
func TestOptionsAreListed(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		`{create: "c"}`: `{}`,
		`{create: "c", capped: true, size: 4096, max: 5}`:                                         `{capped: true, size: 4096, max: 5}`,
		`{create: "c", validator: {a: 1}}`:                                                        `{validator: {a: 1}, validationLevel: "strict", validationAction: "error"}`,
		`{create: "c", validator: {a: 1}, validationLevel: "moderate", validationAction: "warn"}`: `{validator: {a: 1}, validationLevel: "moderate", validationAction: "warn"}`,
		`{create: "c", changeStreamPreAndPostImages: {enabled: true}}`:                            `{changeStreamPreAndPostImages: {enabled: true}}`,
		`{create: "c", changeStreamPreAndPostImages: {enabled: false}}`:                           `{}`,
		`{create: "c", viewOn: "d", pipeline: [{$match: {a: 1}}]}`:                                `{viewOn: "d", pipeline: [{$match: {a: 1}}]}`,
		`{create: "c", viewOn: "d"}`:                                                              `{viewOn: "d", pipeline: []}`,
		`{create: "c", indexOptionDefaults: {storageEngine: {wiredTiger: {}}}}`:                   `{indexOptionDefaults: {storageEngine: {wiredTiger: {}}}}`,
	} {
		h := harness.New(t)
		h.OK(command)
		if got := h.Listed()[0].Lookup("options").Doc().String(); got != harness.Relaxed(want).String() {
			t.Errorf("%s: options %s, want %s", command, got, want)
		}
		h.OK(command) // with the same options once more
	}
}

func TestKindsOfCollections(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for _, command := range []string{
		`{create: "clustered", clusteredIndex: {key: {_id: 1}, unique: true}, expireAfterSeconds: 10}`,
		`{create: "named", clusteredIndex: {key: {_id: 1}, unique: true, name: "by id"}, collation: {locale: "en"}}`,
		`{create: "series", timeseries: {timeField: "t", metaField: "m"}, expireAfterSeconds: 10, collation: {locale: "en"}}`,
		`{create: "ttl", documentTtl: {default: 10}}`,
		`{create: "queue", messageQueue: {}}`,
		`{create: "dead", clusteredIndex: {key: {_id: 1}, unique: true}, expireAfterSeconds: 1, onExpire: {deadLetterTo: "grave"}}`,
		`{create: "collated", collation: {locale: "fr"}, idIndex: {key: {_id: 1}, name: "_id_", collation: {locale: "fr"}}}`,
		`{create: "view", viewOn: "named", collation: {locale: "en"}, pipeline: [{$lookup: {from: "plain", as: "x", pipeline: []}}]}`,
		`{create: "view2", viewOn: "view", collation: {locale: "en"}}`,
	} {
		h.OK(command)
	}
	types := map[string]string{}
	for _, d := range h.Listed() {
		types[d.Lookup("name").Str()] = d.Lookup("type").Str()
	}
	for name, want := range map[string]string{
		"clustered": "collection", "named": "collection", "series": "timeseries", "system.buckets.series": "collection",
		"queue": "collection", "collated": "collection", "view": "view",
	} {
		if types[name] != want {
			t.Errorf("%s is listed as %q, want %q", name, types[name], want)
		}
	}
	if got := h.IndexNames("collated"); got != "_id_ " {
		t.Errorf("indexes %s", got)
	}
}

// The refusals are mongod's.
func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "here"}`)
	h.OK(`{create: "v", viewOn: "here"}`)
	h.OK(`{create: "w", viewOn: "v"}`)
	h.OK(`{create: "loop", viewOn: "later"}`)
	h.OK(`{create: "series", timeseries: {timeField: "t"}}`)
	h.OK(`{create: "queue", messageQueue: {}}`)
	test := func(options string, code int32, text string) harness.Refusal {
		return harness.Refusal{DB: "test", Command: `{create: ` + options + `}`, Code: code, Text: text}
	}
	h.Refuses([]harness.Refusal{
		test(`""`, 73, ""),
		test(`"here", capped: true, size: 10`, 48, "namespace test.here already exists, but with different options: *"),
		test(`"c", unknown: 1`, 40415, ""),
		test(`"c", capped: true`, 72, "the 'size' field is required when 'capped' is true"),
		test(`"c", size: 10`, 72, "the 'capped' field needs to be true when either the 'size' or 'max' fields are present"),
		test(`"c", capped: true, size: 0`, 2, ""),
		test(`"c", capped: true, size: {$numberLong: "1125899906842625"}`, 2, ""),
		test(`"c", capped: true, size: 1, max: {$numberLong: "2147483648"}`, 2, ""),
		test(`"c", temp: true`, 72, "the 'temp' field is an invalid option"),
		test(`"c", pipeline: []`, 72, "'pipeline' requires 'viewOn' to also be specified"),
		test(`"c", viewOn: "here", idIndex: {key: {_id: 1}, name: "_id_"}`, 72, ""),
		test(`"c", autoIndexId: true, idIndex: {key: {_id: 1}, name: "_id_"}`, 72, ""),
		test(`"c", autoIndexId: false`, 72, ""),
		test(`"c", idIndex: {key: {_id: 1}}`, 9, ""),
		test(`"c", idIndex: {key: {_id: 1}, name: 1}`, 14, ""),
		test(`"c", idIndex: {key: {_id: 1}, name: ""}`, 67, ""),
		test(`"c", idIndex: {key: {a: 1}, name: "a"}`, 2, "The field 'key' for an _id index must be {_id: 1}, but got *"),
		test(`"c", idIndex: {key: {_id: 1}, name: "_id_", collation: {locale: "fr"}}`, 2, "'idIndex' must have the same collation as the collection."),
		test(`"c", collation: {}`, 40414, ""),
		test(`"c", validator: {$bad: 1}`, 2, ""),
		test(`"c", validationLevel: "some"`, 2, "Enumeration value 'some' for field 'validationLevel' is not a valid value."),
		test(`"c", validationAction: "shout"`, 2, "Enumeration value 'shout' for field 'validationAction' is not a valid value."),
		test(`"c", changeStreamPreAndPostImages: {}`, 40414, ""),
		test(`"c", changeStreamPreAndPostImages: {enabled: 1}`, 14, ""),
		test(`"c", changeStreamPreAndPostImages: {enabled: true, x: 1}`, 40415, ""),
		test(`"c", indexOptionDefaults: {x: 1}`, 40415, ""),
		test(`"c", indexOptionDefaults: {storageEngine: 1}`, 14, ""),
		test(`"c", indexOptionDefaults: {storageEngine: {}}`, 72, "Empty object not allowed for 'indexOptionDefaults.storageEngine'"),
		test(`"c", encryptedFields: {fields: []}, viewOn: "here"`, 6346401, "Encrypted fields cannot be used with views or timeseries collections"),
		test(`"c", encryptedFields: {fields: []}, capped: true, size: 4096`, 6367301, "Encrypted fields cannot be used with capped collections"),
		test(`"c", expireAfterSeconds: 10`, 72, "'expireAfterSeconds' is only supported on time-series collections or when the 'clusteredIndex' option is specified"),
		test(`"c", clusteredIndex: null`, 14, ""),
		test(`"c", clusteredIndex: "x"`, 14, ""),
		test(`"c", clusteredIndex: true`, 5979703, "The 'clusteredIndex' legacy format {clusteredIndex: <bool>} is only supported for specific internal collections and vice versa"),
		test(`"c", clusteredIndex: false, expireAfterSeconds: 1`, 72, ""),
		test(`"c", clusteredIndex: {key: {_id: 1}, unique: true}, capped: true, size: 10`, 6049200, ""),
		test(`"c", clusteredIndex: {key: {_id: 1}, unique: true}, capped: true, max: 10`, 6049204, ""),
		test(`"c", clusteredIndex: {key: {_id: 1}, unique: true}, capped: true`, 6127800, "Clustered capped collection only available with 'enableTestCommands' server parameter"),
		test(`"c", clusteredIndex: {key: {_id: 1}, unique: true}, autoIndexId: false`, 6026501, "The 'clusteredIndex' option does not support {autoIndexId: false}"),
		test(`"c", clusteredIndex: {key: {a: 1}, unique: true}`, 197, "The clusteredIndex option is only supported for key: {_id: 1}"),
		test(`"c", clusteredIndex: {key: {_id: 1}, unique: false}`, 5979700, "The clusteredIndex option requires unique: true to be specified"),
		test(`"c", clusteredIndex: {key: {_id: 1}, unique: true}, viewOn: "here"`, 6026500, ""),
		test(`"c", clusteredIndex: {key: {_id: 1}, unique: true}, idIndex: {key: {_id: 1}, name: "_id_"}`, 72, "The 'clusteredIndex' option is not supported with the 'idIndex' option"),
		test(`"c", timeseries: {metaField: "m"}`, 40414, ""),
		test(`"c", timeseries: {timeField: "t"}, changeStreamPreAndPostImages: {enabled: true}`, 72, ""),
		test(`"system.buckets.c"`, 20, ""),
		test(`"c", viewOn: ""`, 2, "'viewOn' cannot be empty"),
		test(`"c", viewOn: "here", timeseries: {timeField: "t"}`, 72, ""),
		test(`"c", viewOn: "here", pipeline: [{$nothing: 1}]`, 40324, ""),
		test(`"c", viewOn: "here", pipeline: [{$match: {$bad: 1}}]`, 2, "Invalid pipeline for view test.c :: *"),
		test(`"later", viewOn: "loop"`, 5, "View cycle detected: test.later => test.loop => test.later"),
		test(`"c", viewOn: "v", collation: {locale: "fr"}`, 167, "View test.c has conflicting collation with view test.v"),
		test(`"c", messageQueue: 1`, 14, ""),
		test(`"c", documentTtl: 1`, 14, ""),
		test(`"c", documentTtl: {default: 1}, onExpire: {deadLetterTo: "v"}`, 72, "'onExpire.deadLetterTo' cannot be a view: test.v"),
		test(`"c", documentTtl: {default: 1}, onExpire: {deadLetterTo: "series"}`, 72, "'onExpire.deadLetterTo' cannot be a time-series collection: test.series"),
		test(`"c", documentTtl: {default: 1}, onExpire: {deadLetterTo: "queue"}`, 72, "'onExpire.deadLetterTo' cannot be a message queue: test.queue"),
		{DB: "admin", Command: `{create: "c", validator: {a: 1}}`, Code: 72, Text: "Document validators are not allowed on collections in the admin database"},
	})
	if !h.Svc.InCluster() {
		h.Refuses([]harness.Refusal{test(`"c", encryptedFields: {fields: []}`, 6346402, "Encrypted collections are not supported on standalone")})
	}
}

// autoIndexId: false is allowed in the database local alone.
func TestWithoutIndexOnID(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	reply := h.RunOn("local", harness.Relaxed(`{create: "c", autoIndexId: false}`))
	if !reply.Lookup("ok").Truthy() {
		t.Fatal(reply)
	}
	list := harness.Docs(h.RunOn("local", harness.Relaxed(`{listIndexes: "c"}`)))
	if len(list) != 0 {
		t.Errorf("indexes %v, want none", list)
	}
	if note := h.OK(`{create: "d", autoIndexId: true}`).Lookup("note").Str(); note != "The autoIndexId option is deprecated and will be removed in a future release" {
		t.Errorf("note %q", note)
	}
}

// The indexes of a time series are those of its buckets, listed as they were made
// (reference/command/listIndexes).
func TestIndexesOfSeries(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "series", timeseries: {timeField: "t", metaField: "m"}}`)
	h.OK(`{createIndexes: "series", indexes: [{key: {"m.a": 1}, name: "by a"}, {key: {m: 1}, name: "by m"}]}`)
	if got := h.IndexNames("series"); got != "m_1_t_1 by a by m " {
		t.Errorf("indexes %s", got)
	}
	h.OK(`{dropIndexes: "series", index: {"m.a": 1}}`)
	h.OK(`{dropIndexes: "series", index: "by m"}`)
	if got := h.IndexNames("series"); got != "m_1_t_1 " {
		t.Errorf("indexes %s", got)
	}
}

// Some indexes do not go with the kind of collection. Those with the option clustered
// are the index of a clustered collection, or refused (jstests,
// clustered_collection_create_index_clustered_common).
func TestIndexesAreRefused(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "clustered", clusteredIndex: {key: {_id: 1}, unique: true, name: "mine"}}`)
	h.OK(`{create: "plain"}`)
	h.OK(`{insert: "system.js", documents: [{_id: "f"}]}`)
	index := func(coll, key string, code int32, text string) harness.Refusal {
		return harness.Refusal{DB: "test", Command: `{createIndexes: "` + coll + `", indexes: [{key: ` + key + `, name: "x", unique: true, clustered: true}]}`, Code: code, Text: text}
	}
	const other = "Cannot create index with option 'clustered' that does not match an existing clustered index"
	h.Refuses([]harness.Refusal{
		index("clustered", `{_id: 1}`, 0, ""),
		index("clustered", `{a: 1}`, 6243700, other),
		index("plain", `{_id: 1}`, 6243700, other),
		index("plain", `{a: 1}`, 6243700, other),
		index("missing", `{_id: 1}`, 6100900, "Cannot implicitly create a new collection with createIndex 'clustered' option"),
		{DB: "test", Command: `{createIndexes: "system.js", indexes: [{key: {a: 1}, name: "a_1", hidden: true}]}`, Code: 2, Text: "Can't hide index on system collection"},
	})
	for coll, want := range map[string]string{"clustered": "mine ", "plain": "_id_ "} {
		if got := h.IndexNames(coll); got != want {
			t.Errorf("indexes of %s: %s, want %s", coll, got, want)
		}
	}
}

// A view whose readers have another collation cannot be made.
func TestReadersOfView(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "reader", viewOn: "v", collation: {locale: "fr"}}`)
	h.Fails(167, `{create: "v", viewOn: "c", collation: {locale: "en"}}`)
	h.OK(`{create: "v", viewOn: "c", collation: {locale: "fr"}}`)
}
