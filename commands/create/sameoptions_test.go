package create_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/internal/mongoerr"
)

// createVariants has, for each option of create that is compared with those of an
// existing collection, ways to give it or to leave it out. Ways of one class make the
// same collection (CollectionOptions::matchesStorageOptions).
var createVariants = map[string][]struct{ arguments, class string }{
	"capped":                       {{"", "none"}, {`capped: false`, "none"}, {`capped: true, size: 4096`, "4096"}, {`capped: true, size: 4096.0`, "4096"}, {`capped: true, size: 8192`, "8192"}},
	"max":                          {{`capped: true, size: 4096`, "none"}, {`capped: true, size: 4096, max: 0`, "unlimited"}, {`capped: true, size: 4096, max: 2147483647`, "unlimited"}, {`capped: true, size: 4096, max: 1`, "1"}},
	"storageEngine":                {{"", "none"}, {`storageEngine: {}`, "none"}, {`storageEngine: {wiredTiger: {}}`, "empty"}, {`storageEngine: {wiredTiger: {configString: ""}}`, "string"}},
	"indexOptionDefaults":          {{"", "none"}, {`indexOptionDefaults: {}`, "none"}, {`indexOptionDefaults: {storageEngine: {wiredTiger: {}}}`, "empty"}},
	"validator":                    {{"", "none"}, {`validator: {a: 0}`, "0"}, {`validator: {a: 0.0}`, "0"}, {`validator: {a: 0, b: 1}`, "a, b"}, {`validator: {b: 1, a: 0}`, "b, a"}},
	"validationLevel":              {{`validator: {a: 0}`, "strict"}, {`validator: {a: 0}, validationLevel: "strict"`, "strict"}, {`validator: {a: 0}, validationLevel: "off"`, "off"}},
	"validationAction":             {{`validator: {a: 0}`, "error"}, {`validator: {a: 0}, validationAction: "error"`, "error"}, {`validator: {a: 0}, validationAction: "warn"`, "warn"}},
	"collation":                    {{"", "simple"}, {`collation: {locale: "simple"}`, "simple"}, {`collation: {locale: "fr"}`, "fr"}, {`collation: {locale: "fr", strength: 3}`, "fr"}, {`collation: {locale: "fr", strength: 1}`, "fr1"}},
	"changeStreamPreAndPostImages": {{"", "off"}, {`changeStreamPreAndPostImages: {enabled: false}`, "off"}, {`changeStreamPreAndPostImages: {enabled: true}`, "on"}},
	"viewOn":                       {{"", "collection"}, {`viewOn: "d"`, "d"}, {`viewOn: "d", pipeline: []`, "d"}, {`viewOn: "e"`, "e"}},
	"pipeline":                     {{`viewOn: "d"`, "none"}, {`viewOn: "d", pipeline: [{$match: {a: 0}}]`, "match"}, {`viewOn: "d", pipeline: [{$match: {}}]`, "empty"}},
	"clusteredIndex":               {{"", "none"}, {`clusteredIndex: {key: {_id: 1}, unique: true}`, "_id_"}, {`clusteredIndex: {key: {_id: 1}, unique: true, v: 2, name: "_id_"}`, "_id_"}, {`clusteredIndex: {key: {_id: 1}, unique: true, name: "n"}`, "n"}},
	"expireAfterSeconds": {{`clusteredIndex: {key: {_id: 1}, unique: true}`, "none"}, {`clusteredIndex: {key: {_id: 1}, unique: true}, expireAfterSeconds: 0`, "0"}, {`clusteredIndex: {key: {_id: 1}, unique: true}, expireAfterSeconds: 0.0`, "0"},
		{`clusteredIndex: {key: {_id: 1}, unique: true}, expireAfterSeconds: 3600`, "3600"}},
	"timeseries": {{"", "none"}, {`timeseries: {timeField: "t"}`, "t"}, {`timeseries: {timeField: "t", granularity: "seconds"}`, "t"}, {`timeseries: {timeField: "t", granularity: "hours"}`, "hours"}, {`timeseries: {timeField: "t", metaField: "m"}`, "m"},
		{`timeseries: {timeField: "t"}, expireAfterSeconds: 0`, "0"}, {`timeseries: {timeField: "t"}, expireAfterSeconds: 3600`, "3600"}},
	"documentTtl": {{"", "none"}, {`documentTtl: {default: -1}`, "on"}, {`documentTtl: {default: 1}`, "1"}},
}

// A collection is made again with two ways to give one option, in both directions.
func TestCreateAgain(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	again := func(arguments string) string {
		return strings.TrimSuffix(`{create: "c", `+arguments, ", ") + "}"
	}
	for option, variants := range createVariants {
		for _, old := range variants {
			h.OK(again(old.arguments))
			for _, wanted := range variants {
				r := h.Run(again(wanted.arguments))
				same, code, text := old.class == wanted.class, r.Lookup("code").SafeInt64(), r.Lookup("errmsg").Str()
				if same && code != 0 || !same && (code != int64(mongoerr.NamespaceExists) || !strings.HasPrefix(text, "namespace test.c already exists, but with different options: ")) {
					t.Errorf("%s: {%s} again as {%s}: %s", option, old.arguments, wanted.arguments, r)
				}
			}
			h.OK(`{drop: "c"}`)
		}
	}
}
