package servertest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// clause is a sentence or a line of a table in docs/semantics.md that is not a numbered
// case: commands that prepare it, a command, and the code and a part of the message of
// its error. Code 0 is success; then the text is a part of the reply. The README in this
// directory lists where each clause is tested.
type clause struct {
	setup    []string
	command  string
	code     int
	fragment string
}

// TestClauses runs each clause in a database of its own.
func TestClauses(t *testing.T) {
	for _, section := range []struct {
		name    string
		clauses []clause
	}{
		{"3.1 createIndexes", createIndexClauses}, {"3.2 other options", indexOptionClauses}, {"3.3 conflicts", indexConflictClauses},
		{"3.5 collMod", indexModClauses}, {"4.2 parameters", parameterClauses}, {"5 clustered", clusteredClauses},
		{"6 time series", seriesClauses}, {"7 document TTL", documentClauses}, {"9 queues", queueClauses},
		{"10 combinations", combinationClauses}, {"11 test clock", clockClauses},
	} {
		t.Run(section.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			for i, c := range section.clauses {
				s.db = s.client.Database(fmt.Sprintf("db%d", i))
				c.check(s)
			}
		})
	}
}

func (c clause) check(s *scene) {
	s.Helper()
	for _, command := range c.setup {
		s.ok(command)
	}
	run, fails := s.ok, s.fails
	if command, admin := strings.CutPrefix(c.command, "admin "); admin {
		c.command = command
		run = func(text string, _ ...any) bson.Raw { s.Helper(); return s.admin(text) }
		fails = func(code int, fragment, text string, _ ...any) { s.Helper(); s.adminFails(code, fragment, text) }
	}
	if c.code != 0 {
		fails(c.code, c.fragment, c.command)
		return
	}
	if got := run(c.command).String(); !strings.Contains(got, c.fragment) {
		s.Errorf("%s: %s, want %s", short(c.command), got, c.fragment)
	}
}

// createOne is createIndexes with one specification.
func createOne(spec string) string { return `{createIndexes: "c", indexes: [{` + spec + `}]}` }

const (
	anyIndex     = `key: {x: 1}, name: "x_1"`
	anyTTLIndex  = anyIndex + `, expireAfterSeconds: 10`
	clusteredKey = `clusteredIndex: {key: {_id: 1}, unique: true}`
)

var createIndexClauses = []clause{
	{nil, createOne(anyIndex + `, expireAfterSeconds: {"$numberDecimal": "7.9"}`), 0, `"createdCollectionAutomatically": true`},
	{nil, createOne(anyIndex + `, expireAfterSeconds: {"$numberLong": "2000000000"}`), 0, ""}, // more than have passed since 1970
	{nil, createOne(anyIndex + `, expireAfterSeconds: d(0)`), 67, "option must be numeric, but received a type of 'date'"},
	{nil, createOne(anyIndex + `, expireAfterSeconds: {}`), 67, "option must be numeric, but received a type of 'object'"},
	{nil, createOne(anyIndex + `, expireAfterSeconds: []`), 67, "option must be numeric, but received a type of 'array'"},
	{nil, createOne(`key: {x: 1, expireAfterSeconds: 3600}, name: "n"`), 0, ""},
	{nil, createOne(`key: {x: "2d"}, name: "n", expireAfterSeconds: 1`), 0, ""},
	{nil, createOne(`key: {x: "2dsphere"}, name: "n", expireAfterSeconds: 1`), 0, ""},
	{nil, createOne(`key: {x: "text"}, name: "n", expireAfterSeconds: 1`), 0, ""},
	{nil, createOne(`key: {"a.$**": 1}, name: "n", expireAfterSeconds: 1`), 67, "cannot be a TTL index"},
	{[]string{`{create: "c"}`}, createOne(anyTTLIndex), 0, `"numIndexesBefore": {"$numberInt":"1"},"numIndexesAfter": {"$numberInt":"2"},"createdCollectionAutomatically": false`},
	{[]string{createOne(anyTTLIndex)}, `{listIndexes: "c"}`, 0, `{"v": {"$numberInt":"2"},"key": {"x": {"$numberInt":"1"}},"name": "x_1","expireAfterSeconds": {"$numberInt":"10"}}`},
	// Field names are checked before the key pattern, and that before the rules of TTL.
	{nil, createOne(`key: {}, name: "n", expireAfterSeconds: -1, nonsense: 1`), 197, "nonsense"},
	{nil, createOne(`key: {a: 0}, name: "n", expireAfterSeconds: -1`), 67, "cannot be 0"},
	{nil, createOne(`key: {_id: 1}, name: "_id_", expireAfterSeconds: -1`), 197, "is not valid for an _id index specification"},
}

var indexOptionClauses = []clause{
	{nil, createOne(anyTTLIndex + `, sparse: true`), 0, ""},
	{nil, createOne(anyTTLIndex + `, unique: true, collation: {locale: "fr"}`), 0, ""},
	{nil, createOne(anyTTLIndex + `, prepareUnique: true`), 0, ""},
	{nil, createOne(anyTTLIndex + `, hidden: true`), 0, ""},
	{nil, createOne(anyTTLIndex + `, sparse: true, partialFilterExpression: {a: 1}`), 67, ""},
	{[]string{createOne(anyTTLIndex)}, createOne(`key: {x: 1}, name: "part", expireAfterSeconds: 20, partialFilterExpression: {a: 1}`), 0, ""},
	{[]string{createOne(anyTTLIndex)}, createOne(`key: {y: 1}, name: "y_1", expireAfterSeconds: 20`), 0, ""},
}

var indexConflictClauses = []clause{
	{[]string{createOne(anyTTLIndex)}, createOne(anyTTLIndex), 0, `"note": "all indexes already exist"`},
	{[]string{createOne(anyTTLIndex)}, createOne(`key: {x: 1}, name: "other", expireAfterSeconds: 11`), 85, "An equivalent index already exists with a different name and options"},
	{[]string{createOne(anyTTLIndex)}, createOne(`key: {x: 1}, name: "other", expireAfterSeconds: 10`), 85, "Index already exists with a different name: x_1"},
	{[]string{createOne(anyTTLIndex)}, createOne(`key: {y: 1}, name: "x_1", expireAfterSeconds: 10`), 86, "An existing index has the same name as the requested index"},
	{[]string{createOne(anyTTLIndex)}, createOne(anyTTLIndex + `, collation: {locale: "fr"}`), 86, "An existing index has the same name as the requested index"},
	{[]string{createOne(anyTTLIndex)}, createOne(anyTTLIndex + `, partialFilterExpression: {a: 1}`), 86, "An existing index has the same name as the requested index"},
}

// modX changes the index x_1.
func modX(change string) string { return `{collMod: "c", index: {name: "x_1", ` + change + `}}` }

var indexModClauses = []clause{
	{[]string{createOne(anyTTLIndex)}, modX(`expireAfterSeconds: {"$numberDouble": "NaN"}`), 72, "must not be NaN"},
	{[]string{createOne(anyTTLIndex)}, modX(`expireAfterSeconds: 10.9`), 0, `"expireAfterSeconds_old": {"$numberLong":"10"},"expireAfterSeconds_new": {"$numberLong":"10"}`},
	{[]string{createOne(anyTTLIndex)}, modX(`hidden: true`), 0, `"hidden_old": false,"hidden_new": true`},
	{[]string{createOne(anyTTLIndex)}, `{collMod: "c", index: {name: "_id_", hidden: true}}`, 2, "can't hide _id index"},
	{[]string{`{create: "c", ` + clusteredKey + `}`}, `{collMod: "c", index: {keyPattern: {_id: 1}, hidden: true}}`, 6011800, ""},
	{[]string{createOne(anyTTLIndex)}, modX(`prepareUnique: true`), 0, `"prepareUnique_old": false,"prepareUnique_new": true`},
	{[]string{createOne(anyTTLIndex)}, modX(`prepareUnique: true, expireAfterSeconds: 5`), 72, "prepareUnique cannot be combined with any other modification."},
	{[]string{createOne(anyTTLIndex)}, modX(`unique: true`), 72, ""},
	{[]string{createOne(anyTTLIndex)}, modX(`unique: false`), 2, ""},
	{[]string{createOne(anyTTLIndex), modX(`prepareUnique: true`)}, modX(`unique: true`), 0, `"unique_new": true`},
	{[]string{`{insert: "c", documents: [{x: 1}, {x: 1}]}`, createOne(anyTTLIndex), modX(`prepareUnique: true`)}, modX(`unique: true`), 359, ""},
	{[]string{`{create: "c", timeseries: {timeField: "t", metaField: "m"}}`}, `{collMod: "c", index: {keyPattern: {m: 1, t: 1}, expireAfterSeconds: 5}}`, 72, "TTL indexes are not supported for time-series collections"},
	{[]string{`{create: "c", timeseries: {timeField: "t", metaField: "m"}}`}, `{collMod: "c", index: {keyPattern: {m: 1, t: 1}, prepareUnique: true}}`, 72, ""},
	{[]string{`{create: "base"}`, `{create: "c", viewOn: "base"}`}, modX(`expireAfterSeconds: 5`), 72, "option not supported on a view: index"},
}

// set sets a parameter.
func set(parameter string) string { return `admin {setParameter: 1, ` + parameter + `}` }

var parameterClauses = []clause{
	{nil, `admin {getParameter: 1, ttlMonitorEnabled: 1, ttlMonitorSleepSecs: 1, ttlMonitorBatchDeletes: 1, ttlMonitorSubPassTargetSecs: 1}`, 0, `"ttlMonitorBatchDeletes": true,"ttlMonitorEnabled": true,"ttlMonitorSleepSecs": {"$numberInt":"60"},"ttlMonitorSubPassTargetSecs": {"$numberInt":"60"}`},
	{nil, `admin {getParameter: 1, ttlIndexDeleteTargetTimeMS: 1}`, 0, `{"$numberInt":"1000"}`},
	{nil, `admin {getParameter: 1, ttlIndexDeleteTargetDocs: 1}`, 0, `{"$numberLong":"50000"}`},
	{nil, `admin {getParameter: 1, documentTtlPurgeYieldThreshold: 1}`, 0, `{"$numberInt":"64"}`},
	{nil, `admin {getParameter: 1, documentTtlStrictTsOnly: 1}`, 0, `false`},
	{nil, `admin {getParameter: 1, documentTtlTsIndex: 1}`, 0, `true`},
	{nil, set(`ttlMonitorSubPassTargetSecs: 0`), 0, `"was": {"$numberInt":"60"}`},
	{nil, set(`ttlMonitorSubPassTargetSecs: -1`), 2, "Invalid value for parameter ttlMonitorSubPassTargetSecs"},
	{nil, set(`ttlIndexDeleteTargetTimeMS: 0`), 0, ""},
	{nil, set(`ttlIndexDeleteTargetTimeMS: -1`), 2, "Invalid value for parameter ttlIndexDeleteTargetTimeMS"},
	{nil, set(`ttlIndexDeleteTargetDocs: -1`), 2, "Invalid value for parameter ttlIndexDeleteTargetDocs"},
	{nil, set(`ttlMonitorBatchDeletes: false`), 0, `"was": true`},
	{nil, set(`documentTtlPurgeYieldThreshold: -1`), 2, "Invalid value for parameter documentTtlPurgeYieldThreshold"},
	{nil, set(`documentTtlTsIndex: false`), 20, "not allowed to change [documentTtlTsIndex] at runtime"}, // at start only
}

var clusteredClauses = []clause{
	{nil, `{create: "c", clusteredIndex: false, expireAfterSeconds: 10}`, 72, ""},
	{nil, `{create: "c", clusteredIndex: {key: {a: 1}, unique: true}}`, 197, ""},
	{nil, `{create: "c", clusteredIndex: {key: {_id: 1}, unique: false}}`, 5979700, ""},
	{nil, `{create: "c", clusteredIndex: {key: {_id: 1}}}`, 40414, "unique"},
	{nil, `{create: "c", clusteredIndex: {key: {_id: 1}, unique: true, nonsense: 1}}`, 40415, "nonsense"},
	{nil, `{create: "c", clusteredIndex: {key: {_id: 1}, unique: true, v: 1}}`, 5979704, ""},
	{[]string{`{create: "base"}`}, `{create: "c", viewOn: "base", ` + clusteredKey + `}`, 6026500, ""},
	{[]string{`{create: "c", ` + clusteredKey + `}`}, `{dropIndexes: "c", index: "_id_"}`, 5979800, ""},
	{[]string{`{create: "c", ` + clusteredKey + `}`}, createOne(anyTTLIndex), 0, ""},
	{[]string{`{create: "c", ` + clusteredKey + `}`}, `{collMod: "c", expireAfterSeconds: []}`, 14, ""},
	{[]string{`{create: "c", ` + clusteredKey + `}`}, `{collMod: "c", expireAfterSeconds: -1}`, 72, "cannot be less than 0"},
	{[]string{`{create: "c", ` + clusteredKey + `}`}, `{collMod: "c", expireAfterSeconds: 20000000000}`, 72, "option cannot exceed time since last epoch"},
}

const aSeries = `{create: "c", timeseries: {timeField: "t", metaField: "m"}}`

var seriesClauses = []clause{
	{[]string{aSeries}, aSeries, 0, ""},
	{[]string{aSeries}, `{create: "c", timeseries: {timeField: "t"}}`, 48, ""},
	{[]string{aSeries}, `{create: "c", timeseries: {timeField: "t", metaField: "m"}, expireAfterSeconds: 5}`, 48, ""},
	{nil, `{create: "c", timeseries: {timeField: "t"}, expireAfterSeconds: {"$numberLong": "4611686018427387904"}}`, 72, "cannot overflow int64_t when cast as milliseconds"},
	{[]string{aSeries}, `{collMod: "c", validator: {}}`, 72, ""},
	{[]string{aSeries}, `{collMod: "c", viewOn: "x", pipeline: []}`, 72, ""},
	{[]string{aSeries}, `{collMod: "system.buckets.c", timeseries: {granularity: "hours"}}`, 73, ""},
	{[]string{aSeries}, createOne(`key: {a: 1}, name: "n", sparse: true`), 72, ""},
	{[]string{aSeries}, createOne(`key: {m: 1}, name: "n", unique: true`), 72, ""},
	{[]string{aSeries, `{insert: "c", documents: [{t: d(0), m: 1}]}`}, `{update: "c", updates: [{q: {}, u: {$set: {m: 2}}}]}`, 72, "Cannot perform a non-multi update"},
	{[]string{aSeries}, `{update: "c", updates: [{q: {}, u: {$set: {m: 2}}, multi: true, upsert: true}]}`, 72, "an upsert"},
	{[]string{`{create: "c", timeseries: {timeField: "t"}}`}, `{update: "c", updates: [{q: {}, u: {$set: {m: 2}}, multi: true}]}`, 72, "that does not have a metaField"},
	{[]string{aSeries}, `{update: "c", updates: [{q: {}, u: [{$set: {m: 2}}], multi: true}]}`, 72, "using a pipeline update"},
	{[]string{aSeries}, `{update: "c", updates: [{q: {}, u: {$set: {a: 2}}, multi: true}]}`, 72, "which updates a field that is not the metaField"},
	{[]string{aSeries, `{insert: "c", documents: [{t: d(0), m: 1}]}`}, `{update: "c", updates: [{q: {m: 1}, u: {$set: {m: 2}}, multi: true}]}`, 0, `"nModified": {"$numberInt":"1"}`},
	{[]string{aSeries}, `{findAndModify: "c", query: {}, sort: {time: 1}, remove: true}`, 72, "with a query and sort on a time-series collection"},
	{[]string{`{create: "c", timeseries: {timeField: "t", bucketMaxSpanSeconds: 200, bucketRoundingSeconds: 200}}`}, `{listCollections: 1, filter: {name: "c"}}`, 0, `"timeseries": {"timeField": "t","bucketMaxSpanSeconds": {"$numberInt":"200"},"bucketRoundingSeconds": {"$numberInt":"200"}}`},
}

var documentClauses = []clause{
	{nil, `{create: "c", documentTtl: {default: "5"}}`, 14, ""},
	{nil, `{create: "c", documentTtl: {default: 2147483648}}`, 2, "The default time to live '2147483648' is invalid"},
	{[]string{`{create: "c"}`}, `{collMod: "c", documentTtl: {invalid: "ignore"}}`, 40414, ""},
	{[]string{`{create: "c"}`}, `{collMod: "c", documentTtl: {default: 5}}`, 0, `"documentTtl_old": null,"documentTtl_new": {"default": {"$numberInt":"5"},"invalid": "reject","exposeTs": false}`},
	{[]string{`{create: "c", documentTtl: {default: 5}}`}, `{collMod: "c", documentTtl: {default: null}}`, 0, `"documentTtl_new": null`},
	{[]string{`{create: "c", documentTtl: {default: 5}}`}, `{collMod: "c", documentTtl: {nonsense: 1}}`, 40415, ""},
	{[]string{`{create: "c", documentTtl: {default: 5}, indexingPolicy: {indexingMode: "lazy"}}`}, `{listCollections: 1, filter: {name: "c"}}`, 0, `"indexingPolicy": {"indexingMode": "lazy"}`},
	{[]string{`{create: "c", documentTtl: {default: 5}}`}, `{listCollections: 1, filter: {name: "c"}}`, 0, `"options": {"documentTtl": {"default": {"$numberInt":"5"},"invalid": "reject","exposeTs": false}}`},
	{[]string{`{create: "c", documentTtl: {default: 5}}`, `{insert: "c", documents: [{_id: 1, _ts: 7}]}`}, `{find: "c"}`, 0, `[{"_id": {"$numberInt":"1"}}]`},
	{nil, createOne(`key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 5.9`), 0, ""},
	{[]string{createOne(`key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 5.9`)}, `{listIndexes: "c"}`, 0, `"name": "_ts_1","expireAfterSeconds": {"$numberInt":"5"}`},
	{[]string{`{create: "c", documentTtl: {default: 5}}`}, createOne(`key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 6`), 85, ""},
	{[]string{`{create: "c", documentTtl: {default: 5}}`}, `{collMod: "c", index: {keyPattern: {_ts: 1}, expireAfterSeconds: 6}}`, 0, `"expireAfterSeconds_old": {"$numberLong":"5"},"expireAfterSeconds_new": {"$numberLong":"6"}`},
	{nil, createOne(`key: {_ts: -1}, name: "n", expireAfterSeconds: 5`), 0, ""},
}

const aQueue = `{create: "q", messageQueue: {}}`

var queueClauses = []clause{
	{nil, `{create: "q", messageQueue: {lockDuration: 0}}`, 2, ""},
	{nil, `{create: "q", messageQueue: {lockDuration: "one minute"}}`, 2, ""},
	{nil, `{create: "q", messageQueue: {deadLetteringOnMessageExpiration: "yes"}}`, 14, ""},
	{nil, `{create: "q", messageQueue: {requiresSession: true, forwardTo: "p"}}`, 72, ""},
	{nil, `{create: "q", messageQueue: {enablePartitioning: true}}`, 72, ""},
	{nil, `{create: "q", messageQueue: {forwardTo: "p"}}`, 26, ""},
	{[]string{aQueue}, `{collMod: "q", messageQueue: {requiresSession: true}}`, 72, "cannot be changed"},
	{[]string{aQueue}, `{collMod: "q", messageTopic: {}}`, 72, "is a message queue and cannot be made a message topic"},
	{nil, `{create: "q", messageQueue: {}, messageTopic: {}}`, 72, "'messageTopic' is not allowed with 'messageQueue'"},
	{nil, `{create: "t", messageTopic: {}, capped: true, size: 100}`, 72, "'capped' is not allowed with 'messageTopic'"},
	{nil, `{create: "s", messageSubscription: {topic: "t"}}`, 26, ""},
	{[]string{`{create: "q.deadletterqueue"}`}, aQueue, 48, ""},
	{[]string{aQueue}, `{collMod: "q", messageQueue: {lockDuration: 2.5}}`, 0, ""},
	{[]string{aQueue, `{collMod: "q", messageQueue: {lockDuration: 2.5}}`}, `{listCollections: 1, filter: {name: "q"}}`, 0, `"lockDuration": "PT2.5S"`},
	{[]string{aQueue}, `{mqSend: "q", messages: [{a: 1}, {a: 2}]}`, 0, `"sequenceNumbers": [{"$numberLong":"1"},{"$numberLong":"2"}]`},
	{[]string{aQueue}, `{mqSend: "q", messages: [{_mq: {state: "active"}}]}`, 2, ""},
	{[]string{aQueue}, `{mqSend: "q.deadletterqueue", messages: [{}]}`, 20, ""},
	{[]string{aQueue}, `{mqReceive: "q", maxMessages: 0}`, 2, ""},
	{[]string{aQueue}, `{mqReceive: "q", maxMessages: 1001}`, 2, ""},
	{[]string{aQueue}, `{mqReceive: "q", maxWaitTimeMS: 60001}`, 2, ""},
	{[]string{aQueue}, `{mqReceive: "q", mode: "peek"}`, 2, ""},
	{[]string{aQueue}, `{mqReceive: "q", subQueue: "other"}`, 2, ""},
	{[]string{aQueue}, `{mqReceive: "q", mode: "receiveAndDelete"}`, 0, `"messages": []`},
	{[]string{aQueue, `{mqSend: "q", messages: [{a: 1}]}`}, `{mqReceive: "q", sequenceNumbers: [{"$numberLong": "1"}]}`, 90404, "The message does not exist or is locked"}, // not deferred
	{[]string{aQueue}, `{mqCancelScheduled: "q", sequenceNumber: {"$numberLong": "1"}}`, 90404, ""},
	{[]string{aQueue}, `{mqComplete: "q", lockToken: {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}`, 90410, lostLock},
	{[]string{aQueue}, `{mqAbandon: "q", lockToken: {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}`, 90410, lostLock},
	{[]string{aQueue}, `{mqDefer: "q", lockToken: {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}`, 90410, lostLock},
	{[]string{aQueue}, `{mqDeadLetter: "q", lockToken: {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}`, 90410, lostLock},
	{[]string{aQueue}, `{mqRenewLock: "q", lockToken: {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}`, 90410, lostLock},
	{[]string{`{create: "p"}`}, `{mqSend: "p", messages: [{}]}`, 20, "is not a message queue"},
	{[]string{aQueue}, `{update: "q", updates: [{q: {}, u: {a: 1}}]}`, 20, ""},
}

var combinationClauses = []clause{
	{[]string{`{create: "c", ` + clusteredKey + `, expireAfterSeconds: 10}`}, createOne(anyTTLIndex), 0, ""},
	{[]string{`{create: "c", ` + clusteredKey + `, expireAfterSeconds: 10}`}, `{collMod: "c", documentTtl: {default: 5}}`, 0, ""},
	{[]string{aSeries}, `{collMod: "c", documentTtl: {default: 5}}`, 72, ""},
	{[]string{aSeries}, `{collMod: "c", messageQueue: {}}`, 72, ""},
	{nil, `{create: "c", documentTtl: {default: 5}, capped: true, size: 4096}`, 72, ""},
	{[]string{`{create: "base"}`}, `{create: "c", documentTtl: {default: 5}, viewOn: "base"}`, 72, ""},
	{[]string{`{create: "c", documentTtl: {default: 5}}`}, `{convertToCapped: "c", size: 4096}`, 72, ""},
	{nil, `{create: "c", documentTtl: {default: 5}, validator: {a: {$gt: 1}}}`, 0, ""},
	// The validator is checked before the ttl.
	{[]string{`{create: "c", documentTtl: {default: 5}, validator: {a: {$gt: 1}}}`}, `{insert: "c", documents: [{a: 0, ttl: 0}]}`, 121, ""},
	{[]string{`{create: "c", documentTtl: {default: 5}, validator: {a: {$gt: 1}}}`}, `{insert: "c", documents: [{a: 2, ttl: 0}]}`, 2, "The input ttl '0' is invalid"},
}

var clockClauses = []clause{
	{nil, `{testClock: 1}`, 13, ""},
	{nil, `admin {testClock: 1, advanceMillis: 5, advanceSeconds: 5}`, 72, ""},
	{nil, `admin {testClock: 1, set: 5}`, 14, ""},
	{nil, `admin {runExpirationPass: 1, targets: ["nonsense"]}`, 2, ""},
	{nil, `admin {runExpirationPass: 1, targets: ["ttl", "clustered", "timeseries", "documentTtl", "messageQueue"]}`, 0,
		`{"deleted": {"ttl": {"$numberLong":"0"},"clustered": {"$numberLong":"0"},"timeseriesBuckets": {"$numberLong":"0"},"documentTtl": {"$numberLong":"0"},"messagesDropped": {"$numberLong":"0"},"messagesDeadLettered": {"$numberLong":"0"},"queuesDropped": {"$numberLong":"0"}},"subPasses": {"$numberLong":"1"}`},
	{nil, `admin {testClock: 1, advanceMillis: 500}`, 0, `"now": {"$date":{"$numberLong":"1767225600500"}},"frozen": true,"offsetMillis": `},
	{nil, `admin {testClock: 1, freeze: false}`, 0, `"frozen": false`},
	{nil, `admin {testClock: 1, reset: true}`, 0, `"frozen": false`},
}

// The tests that the README names exist.
func TestReadmeNamesTests(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	defined := map[string]string{} // by package
	cell := regexp.MustCompile("(?:([\\w/]+) )?((?:`Test\\w+`(?:, )?)+)")
	for _, m := range cell.FindAllStringSubmatch(string(text), -1) {
		dir := "."
		if m[1] != "" && m[1] != "of" {
			dir = filepath.Join("..", m[1])
		}
		if defined[dir] == "" {
			files, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
			rooms, _ := filepath.Glob(filepath.Join(dir, "*", "*_test.go"))
			for _, f := range append(files, rooms...) {
				source, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				defined[dir] += string(source)
			}
		}
		for _, name := range regexp.MustCompile(`Test\w+`).FindAllString(m[2], -1) {
			if !strings.Contains(defined[dir], "func "+name+"(") {
				t.Errorf("%s has no %s", dir, name)
			}
		}
	}
}
