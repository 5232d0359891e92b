package match

import (
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/text"
)

// TestEveryOperator checks the tables against the operators that MongoDB
// documents.
func TestEveryOperator(t *testing.T) {
	documented := strings.Fields(`$eq $gt $gte $in $lt $lte $ne $nin $and $nor $not $or $exists $type $expr
		$jsonSchema $mod $regex $options $text $where $all $elemMatch $size $bitsAllClear $bitsAllSet $bitsAnyClear
		$bitsAnySet $geoIntersects $geoWithin $near $nearSphere $comment $sampleRate $alwaysTrue $alwaysFalse`)
	names := Operators()
	for _, name := range documented {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not in the tables", name)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("not sorted: %v", names)
	}
}

func TestSpecialPlaces(t *testing.T) {
	ix, err := text.NewIndex(doc(`{a: 1}`), "none", "")
	if err != nil {
		t.Fatal(err)
	}
	const txt, near = `{$text: {$search: "x"}}`, `{p: {$near: [0, 0]}}`
	for filter, want := range map[string]string{
		txt:                                    "",
		near:                                   "",
		`{$and: [` + near + `, {a: 1}]}`:       "",
		`{$or: [` + txt + `, {a: 1}]}`:         "",
		`{$or: [` + near + `, {a: 1}]}`:        "geo $near must be top-level expr",
		`{$and: [` + near + `, ` + near + `]}`: "Too many geoNear expressions",
		`{$and: [` + txt + `, ` + txt + `]}`:   "Too many text expressions",
		`{$nor: [` + txt + `]}`:                "text expression not allowed in nor",
		`{$and: [` + txt + `, ` + near + `]}`:  "text and geoNear not allowed in same query",
	} {
		_, err := Compile(doc(filter), Options{AllowNear: true, Text: ix})
		got := ""
		if e := mongoerr.From(err); e != nil {
			got = e.Message
		}
		if got != want {
			t.Errorf("%s: %q, want %q", filter, got, want)
		}
	}
}
