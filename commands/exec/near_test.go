package exec_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// degree is the length in metres of a degree on the sphere of mongod, whose radius is 6378.1 km.
const degree = math.Pi / 180 * 6378100

// places has points on the equator at 0, 1, 2, 4, 8… degrees east, _id 0, 1, 2…, and the
// same in a plane.
func places(t *testing.T, n int) *harness.Harness {
	t.Helper()
	h := harness.New(t)
	var docs []string
	for i := range n {
		x := 0
		if i > 0 {
			x = 1 << (i - 1)
		}
		docs = append(docs, fmt.Sprintf(`{_id: %d, at: {type: "Point", coordinates: [%d, 0]}, flat: [%d, 0], odd: %v}`, i, x, x, i%2 == 1))
	}
	h.OK(`{insert: "c", documents: [` + strings.Join(docs, ", ") + `]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {at: "2dsphere"}, name: "at"}, {key: {flat: "2d"}, name: "flat"}]}`)
	return h
}

// $near and $nearSphere give the nearest first: all, so many, or those in a ring.
func TestNear(t *testing.T) {
	t.Parallel()
	h := places(t, 8) // as far as 64 degrees
	const origin = `{$geometry: {type: "Point", coordinates: [0, 0]}`
	for _, tt := range []struct{ filter, options, want string }{
		{`{at: {$near: ` + origin + `}}}`, ``, "0 1 2 3 4 5 6 7"},
		{`{at: {$near: ` + origin + `}}}`, `, limit: 3`, "0 1 2"},
		{`{at: {$near: ` + origin + `}}}`, `, limit: 2, skip: 3`, "3 4"},
		{`{at: {$near: ` + origin + `}}, odd: true}`, `, limit: 3`, "1 3 5"},
		{`{at: {$near: ` + origin + fmt.Sprintf(`, $minDistance: %f, $maxDistance: %f}}}`, 1.5*degree, 9*degree), ``, "2 3 4"},
		{`{at: {$near: ` + origin + fmt.Sprintf(`, $minDistance: %f, $maxDistance: %f}}}`, 1.5*degree, 9*degree), `, limit: 2`, "2 3"},
		{`{at: {$near: ` + origin + fmt.Sprintf(`, $maxDistance: %f}}}`, 3*degree), `, limit: 10`, "0 1 2"},
		{`{at: {$near: {$geometry: {type: "Point", coordinates: [90, 0]}}}}`, `, limit: 4`, "7 6 5 4"},
		{`{at: {$nearSphere: [0, 0]}}`, `, limit: 2`, "0 1"},
		{`{flat: {$near: [0, 0]}}`, ``, "0 1 2 3 4 5 6 7"},
		{`{flat: {$near: [0, 0]}}`, `, limit: 3`, "0 1 2"},
		{`{flat: {$near: [0, 0], $minDistance: 3, $maxDistance: 20}}`, `, limit: 5`, "3 4 5"},
		{`{flat: {$near: [70, 0], $maxDistance: 40}}`, ``, "7 6"},
		{`{at: {$near: ` + origin + `}}}`, `, sort: {_id: -1}, limit: 2`, "7 6"},
	} {
		command := `{find: "c", filter: ` + tt.filter + tt.options + `}`
		if got := ids(harness.Docs(h.OK(command))); got != tt.want {
			t.Errorf("%s gave %s, want %s", command, got, tt.want)
		}
	}
}

// $geoNear adds the distance and the place it was measured to.
func TestGeoNear(t *testing.T) {
	t.Parallel()
	h := places(t, 6)
	const near = `near: {type: "Point", coordinates: [0, 0]}, key: "at", distanceField: "d"`
	for _, tt := range []struct{ stages, want string }{
		{`{$geoNear: {` + near + `}}`, "0 1 2 3 4 5"},
		{`{$geoNear: {` + near + `}}, {$limit: 2}`, "0 1"},
		{`{$geoNear: {` + near + `, query: {odd: true}}}`, "1 3 5"},
		{`{$geoNear: {` + near + fmt.Sprintf(`, minDistance: %f, maxDistance: %f}}`, 0.5*degree, 5*degree), "1 2 3"},
		{`{$geoNear: {` + near + fmt.Sprintf(`, maxDistance: %f}}, {$limit: 2}`, 5*degree), "0 1"},
		{`{$geoNear: {near: [0, 0], key: "flat", distanceField: "d", maxDistance: 3}}`, "0 1 2"},
		{`{$geoNear: {near: [0, 0], key: "flat", distanceField: "d"}}, {$limit: 3}`, "0 1 2"},
		{`{$geoNear: {near: [0, 0], key: "at", spherical: true, distanceField: "d"}}, {$limit: 1}`, "0"},
		{`{$geoNear: {near: [0, 0], distanceField: "d"}}, {$limit: 2}`, "0 1"}, // the only 2d index
	} {
		command := `{aggregate: "c", pipeline: [` + tt.stages + `], cursor: {}}`
		if got := ids(harness.Docs(h.OK(command))); got != tt.want {
			t.Errorf("%s gave %s, want %s", command, got, tt.want)
		}
	}
	docs := harness.Docs(h.OK(`{aggregate: "c", pipeline: [{$geoNear: {` + near + `, includeLocs: "place", distanceMultiplier: 0.001}}, {$skip: 2}, {$limit: 1}], cursor: {}}`))
	if d := docs[0].Lookup("d").Double(); math.Abs(d-2*degree/1000) > 1e-6 {
		t.Errorf("2 degrees are %v km", d)
	}
	if got := docs[0].Lookup("place").Doc().Lookup("coordinates").String(); got != "[ 2, 0 ]" {
		t.Errorf("measured to %s", got)
	}
}

// $near needs an index that can tell what is near.
func TestNearWithoutItsIndex(t *testing.T) {
	t.Parallel()
	h := places(t, 2)
	h.OK(`{insert: "none", documents: [{_id: 1, at: [0, 0]}]}`)
	h.OK(`{insert: "two", documents: [{_id: 1, p: [0, 0], q: [0, 0]}]}`)
	h.OK(`{createIndexes: "two", indexes: [{key: {p: "2d"}, name: "p"}, {key: {q: "2d"}, name: "q"}]}`)
	aggregate := func(coll, stage string) string {
		return `{aggregate: "` + coll + `", pipeline: [{$geoNear: {` + stage + `, distanceField: "d"}}], cursor: {}}`
	}
	for _, tt := range []struct {
		command string
		code    int32
		text    string // some of it
	}{
		{`{find: "none", filter: {at: {$near: [0, 0]}}}`, 291, "unable to find index for $geoNear query"},
		{`{find: "c", filter: {flat: {$near: {$geometry: {type: "Point", coordinates: [0, 0]}}}}}`, 291, "unable to find index for $geoNear query"},
		{aggregate("none", `near: [0, 0]`), 27, "$geoNear requires a 2d or 2dsphere index, but none were found"},
		{aggregate("two", `near: [0, 0]`), 27, "There is more than one 2d index on test.two; unsure which to use for $geoNear"},
		{aggregate("c", `near: {type: "Point", coordinates: [0, 0]}, key: "flat"`), 291, "unable to find index for $geoNear query"},
		{`{aggregate: "c", pipeline: [{$geoNear: {near: [0, 0], key: "flat", distanceField: "d"}}], cursor: {}, hint: {$natural: 1}}`, 2, ""},
	} {
		if text := h.Fails(tt.code, tt.command); !strings.Contains(text, tt.text) {
			t.Errorf("%s said %q, want %q", tt.command, text, tt.text)
		}
	}
}

// Over a time series the measurements are sorted by distance.
func TestGeoNearMeasurements(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "s", timeseries: {timeField: "t", metaField: "m"}}`)
	h.OK(`{createIndexes: "s", indexes: [{key: {at: "2dsphere"}, name: "at"}]}`)
	h.OK(`{insert: "s", documents: [
		{_id: 1, t: {$date: "2026-01-01T00:00:01Z"}, m: "x", at: {type: "Point", coordinates: [3, 0]}},
		{_id: 2, t: {$date: "2026-01-01T00:00:02Z"}, m: "y", at: {type: "Point", coordinates: [1, 0]}},
		{_id: 3, t: {$date: "2026-01-01T00:00:03Z"}, m: "x", at: {type: "Point", coordinates: [2, 0]}}]}`)
	for stages, want := range map[string]string{
		`{$geoNear: {near: {type: "Point", coordinates: [0, 0]}, key: "at", distanceField: "d"}}`:                  "2 3 1",
		`{$geoNear: {near: {type: "Point", coordinates: [0, 0]}, key: "at", distanceField: "d", query: {m: "x"}}}`: "3 1",
		`{$geoNear: {near: {type: "Point", coordinates: [0, 0]}, key: "at", distanceField: "d"}}, {$limit: 1}`:     "2",
	} {
		if got := ids(harness.Docs(h.OK(`{aggregate: "s", pipeline: [` + stages + `], cursor: {}}`))); got != want {
			t.Errorf("%s gave %s, want %s", stages, got, want)
		}
	}
}
