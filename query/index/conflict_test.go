package index

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
)

// variant is one choice of an option: absent ("") or with a value. Variants of the same
// class are the same index.
type variant struct {
	option string
	class  string
}

// comparedOptions has, for each option of a specification, the variants of it that
// mongod takes for the same index (IndexDescriptor::compareIndexOptions). The answer to
// another variant is 85 for the option of an index, and 86, or a second index under
// another name, for an option of its signature.
var comparedOptions = map[string]struct {
	key       string
	signature bool
	variants  []variant
}{
	"expireAfterSeconds":   {`{"a":1}`, false, []variant{{"", "none"}, {`0`, "0"}, {`{"$numberDouble":"0.0"}`, "0"}, {`1`, "1"}, {`3600`, "3600"}, {`{"$numberLong":"3600"}`, "3600"}}},
	"min":                  {`{"l":"2d"}`, false, []variant{{"", "none"}, {`0`, "0"}, {`-180`, "-180"}, {`{"$numberDouble":"-180.0"}`, "-180"}}},
	"max":                  {`{"l":"2d"}`, false, []variant{{"", "none"}, {`0`, "0"}, {`180`, "180"}, {`90`, "90"}}},
	"bits":                 {`{"l":"2d"}`, false, []variant{{"", "none"}, {`26`, "26"}, {`1`, "1"}, {`{"$numberLong":"1"}`, "1"}}},
	"bucketSize":           {`{"a":1}`, false, []variant{{"", "none"}, {`0`, "0"}, {`1`, "1"}}},
	"coarsestIndexedLevel": {`{"l":"2dsphere"}`, false, []variant{{"", "none"}, {`0`, "0"}, {`1`, "1"}}},
	"finestIndexedLevel":   {`{"l":"2dsphere"}`, false, []variant{{"", "none"}, {`23`, "23"}, {`30`, "30"}}},
	"weights":              {`{"t":"text"}`, false, []variant{{"", "1"}, {`{"t":1}`, "1"}, {`{"t":{"$numberDouble":"1.0"}}`, "1"}, {`{"t":2}`, "2"}, {`{"u":1}`, "both"}}},
	"default_language":     {`{"t":"text"}`, false, []variant{{"", "english"}, {`"english"`, "english"}, {`"none"`, "no"}, {`"french"`, "french"}}},
	"language_override":    {`{"t":"text"}`, false, []variant{{"", "language"}, {`"language"`, "language"}, {`"idioma"`, "idioma"}}},
	"storageEngine":        {`{"a":1}`, false, []variant{{"", "none"}, {`{"wiredTiger":{}}`, "empty"}, {`{"wiredTiger":{"configString":""}}`, "string"}}},
	"hidden":               {`{"a":1}`, false, []variant{{"", "false"}, {`false`, "false"}, {`true`, "true"}}},
	"prepareUnique":        {`{"a":1}`, false, []variant{{"", "false"}, {`false`, "false"}, {`0`, "false"}, {`true`, "true"}, {`1`, "true"}}},

	"unique":                  {`{"a":1}`, true, []variant{{"", "false"}, {`false`, "false"}, {`0`, "false"}, {`true`, "true"}, {`1`, "true"}}},
	"sparse":                  {`{"a":1}`, true, []variant{{"", "false"}, {`false`, "false"}, {`0`, "false"}, {`true`, "true"}, {`1`, "true"}}},
	"collation":               {`{"a":1}`, true, []variant{{"", "simple"}, {`{"locale":"simple"}`, "simple"}, {`{"locale":"fr"}`, "fr"}, {`{"locale":"fr","strength":3}`, "fr"}, {`{"locale":"fr","strength":1}`, "fr1"}}},
	"partialFilterExpression": {`{"a":1}`, true, []variant{{"", "none"}, {`{}`, "all"}, {`{"x":0}`, "0"}, {`{"x":{"$eq":0}}`, "0"}, {`{"x":{"$gt":0}}`, "more"}}},
	"wildcardProjection":      {`{"$**":1}`, true, []variant{{"", "none"}, {`{"x":1}`, "x"}, {`{"x":true,"_id":0}`, "x"}, {`{"x":0}`, "not x"}, {`{"x":1,"_id":1}`, "x, _id"}}},

	"v":                    {`{"a":1}`, false, []variant{{"", "same"}, {`1`, "same"}, {`2`, "same"}}},
	"textIndexVersion":     {`{"t":"text"}`, false, []variant{{"", "same"}, {`2`, "same"}, {`3`, "same"}}},
	"2dsphereIndexVersion": {`{"l":"2dsphere"}`, false, []variant{{"", "same"}, {`2`, "same"}, {`3`, "same"}}},
	"background":           {`{"a":1}`, false, []variant{{"", "same"}, {`true`, "same"}, {`false`, "same"}}},
	"dropDups":             {`{"a":1}`, false, []variant{{"", "same"}, {`true`, "same"}, {`false`, "same"}}},
	"ns":                   {`{"a":1}`, false, []variant{{"", "same"}, {`"db.c"`, "same"}}},
	"_id":                  {`{"a":1}`, false, []variant{{"", "same"}, {`1`, "same"}}},
}

// optionsOfTheIndexItself are no variants of one index.
var optionsOfTheIndexItself = map[string]bool{"key": true, "name": true}

// An existing index and a requested one with two variants of one option, under the same
// name and under another, for every option there is and in both directions.
func TestConflictOfEachOption(t *testing.T) {
	for option := range optionChecks {
		if _, compared := comparedOptions[option]; !compared && !optionsOfTheIndexItself[option] {
			t.Errorf("option %s has no variants", option)
		}
	}
	for option, o := range comparedOptions {
		spec := func(name string, v variant) *Spec {
			text := fmt.Sprintf(`{"key":%s,"name":%q`, o.key, name)
			if v.option != "" {
				text += fmt.Sprintf(`,%q:%s`, option, v.option)
			}
			return mustParse(t, text+"}")
		}
		for _, old := range o.variants {
			for _, wanted := range o.variants {
				for _, name := range []string{"n", "m"} {
					code, text := wantedConflict(old.class == wanted.class, o.signature, name == "n")
					err := Conflict([]*Spec{IDSpec(nil), spec("n", old)}, spec(name, wanted), "db.c")
					if mongoerr.CodeOf(err) != code || err != nil && !strings.HasPrefix(mongoerr.From(err).Message, text) {
						t.Errorf("%s: %q exists, %q is wanted as %s: %v, want %d %s", option, old.option, wanted.option, name, err, code, text)
					}
				}
			}
		}
	}
}

func wantedConflict(same, signature, sameName bool) (code mongoerr.Code, text string) {
	switch {
	case same && sameName:
		return mongoerr.IndexAlreadyExists, "Identical index already exists: n"
	case same:
		return mongoerr.IndexOptionsConflict, "Index already exists with a different name: n"
	case signature && sameName:
		return mongoerr.IndexKeySpecsConflict, "An existing index has the same name as the requested index. When index names are not specified, they are auto generated and can cause conflicts. Please refer to our documentation. Requested index: { v: 2, "
	case signature:
		return 0, ""
	case sameName:
		return mongoerr.IndexOptionsConflict, "An equivalent index already exists with the same name but different options. Requested index: { v: 2, "
	}
	return mongoerr.IndexOptionsConflict, "An equivalent index already exists with a different name and options. Requested index: { v: 2, "
}

// The texts show the specifications as mongod's catalog has them.
func TestConflictShowsFlagsFirst(t *testing.T) {
	err := Conflict([]*Spec{mustParse(t, `{"key":{"a":1},"name":"a_1","sparse":true,"unique":true}`)}, mustParse(t, `{"key":{"a":1},"name":"a_1","sparse":true,"hidden":true,"unique":1}`), "db.c")
	const want = `Requested index: { v: 2, unique: true, hidden: true, key: { a: 1 }, name: "a_1", sparse: true }, existing index: { v: 2, unique: true, key: { a: 1 }, name: "a_1", sparse: true }`
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want … %s", err, want)
	}
}
