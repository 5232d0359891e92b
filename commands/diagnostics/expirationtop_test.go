package diagnostics_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// forecastMany fills t0 to t11, of which the i-th has i+1 documents that expire i minutes
// after the start, a queue, and a collection with document TTL.
func forecastMany(t *testing.T) *harness.Harness {
	t.Helper()
	h := harness.New(t)
	for i := range 12 {
		h.OK(fmt.Sprintf(`{createIndexes: "t%d", indexes: [{key: {at: 1}, name: "at_1", expireAfterSeconds: %d}]}`, i, i*60))
		docs := strings.Repeat(`, {at: {$date: "2026-01-01T00:00:00Z"}}`, i+1)
		h.OK(fmt.Sprintf(`{insert: "t%d", documents: [%s]}`, i, docs[2:]))
	}
	h.OK(`{create: "jobs", messageQueue: {defaultMessageTimeToLive: 7200}}`)
	h.OK(`{mqSend: "jobs", messages: [{a: 1}, {a: 2, _mq: {scheduledEnqueueTimeUtc: {$date: "2026-01-01T00:00:30Z"}}}]}`)
	h.OK(`{create: "sessions", documentTtl: {default: 600}}`)
	h.OK(`{insert: "sessions", documents: [{_id: 1}, {_id: 2, ttl: 60}, {_id: 3, ttl: -1}]}`)
	h.OK(`{create: "idle", documentTtl: {default: -1}}`)
	return h
}

func shownForecasts(reply value.Doc) string {
	var names []string
	for v := range reply.Lookup("collections").Doc().Values() {
		names = append(names, strings.TrimPrefix(v.Doc().Lookup("ns").Str(), "test."))
	}
	return strings.Join(names, " ")
}

// The short form has a page of the collections in an order, and totals of all (semantics.md
// §12).
func TestTopForecast(t *testing.T) {
	t.Parallel()
	h := forecastMany(t)
	for args, want := range map[string]string{
		`top: 3`:                                     "t0 sessions t1",
		`top: 3, skip: 1`:                            "sessions t1 t2",
		`top: 9, skip: 11`:                           "t10 t11 jobs idle",
		`top: 5, skip: 99`:                           "",
		`top: 9, skip: 9223372036854775807`:          "",
		`top: 4, sortBy: "ns"`:                       "idle jobs sessions t0",
		`top: 3, sortBy: "due"`:                      "t11 t10 t9",
		`top: 2, sortBy: "due", horizonSeconds: 240`: "t4 t3",
		`top: 2, sortBy: "pending"`:                  "t11 t10",
		`top: 2, sortBy: "overdue"`:                  "t0 idle",
		`top: 9, search: "T1"`:                       "t1 t10 t11", // "test." has no 1
		`top: 9, search: "none"`:                     "",
		`top: 9, targets: ["messageQueue"]`:          "jobs",
		`top: 9, targets: ["documentTtl"]`:           "sessions idle",
	} {
		if got := shownForecasts(h.OK(`{expirationStats: 1, ` + args + `}`)); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	if got := shownForecasts(h.OK(`{expirationStats: 1, top: 1, sortBy: "bytes"}`)); got != "t11" {
		t.Errorf("the largest is %s", got)
	}
	r := h.OK(`{expirationStats: 1, top: 1, search: "t1", horizonSeconds: 240, buckets: 4}`)
	one := r.Lookup("collections").Doc().Index(0).Doc()
	if one.Lookup("due").SafeInt64() != 2 || one.Lookup("bytes").SafeInt64() == 0 || one.Lookup("policies").Doc().Index(0).Doc().Has("histogram") {
		t.Errorf("of t1: %s", one)
	}
	totals := r.Lookup("totals").Doc()
	if totals.Lookup("collections").SafeInt64() != 15 || totals.Lookup("found").SafeInt64() != 3 {
		t.Errorf("numbers of collections: %s", totals)
	}
	var got []string
	for v := range totals.Lookup("policies").Doc().Values() {
		p := v.Doc()
		text := fmt.Sprint(p.Lookup("policy").Str(), " ", p.Lookup("lane").Str(), " ", p.Lookup("pending").SafeInt64(), " ", p.Lookup("overdue").SafeInt64(), ":")
		for b := range p.Lookup("histogram").Doc().Values() {
			text += fmt.Sprint(" ", (b.Doc().Lookup("until").DateTime()-harness.TestStart.UnixMilli())/1000, "=", b.Doc().Lookup("count").SafeInt64())
		}
		got = append(got, text)
	}
	// t1 … t4 fall due at the ends of the parts, which belong to them.
	want := "ttl  78 1: 60=2 120=3 180=4 240=5, documentTtl inherit 1 0:, documentTtl own 1 0: 60=1, messageQueue expiry 1 0:, messageQueue lock 0 0:, messageQueue schedule 1 0: 60=1"
	if all := strings.Join(got, ", "); all != want {
		t.Errorf("totals\n%s, want\n%s", all, want)
	}
}

// The short form counts the collections without a policy, and lists them: what can have one but
// has none, under the name that clients know.
func TestTopForecastWithoutPolicy(t *testing.T) {
	t.Parallel()
	h := forecastMany(t)
	h.OK(`{insert: "tokens", documents: [{a: 1}, {a: 2}]}`)
	h.OK(`{insert: "large", documents: [{a: "` + strings.Repeat("x", 5000) + `"}]}`)
	h.OK(`{create: "empty"}`)
	h.OK(`{create: "v", viewOn: "tokens", pipeline: []}`)
	h.OK(`{create: "weather", timeseries: {timeField: "t"}}`)
	h.OK(`{create: "kept", timeseries: {timeField: "t"}, expireAfterSeconds: 60}`)
	h.RunOn("config", harness.Relaxed(`{create: "mine"}`))
	for args, want := range map[string]string{
		`top: 9`:                    "empty large tokens weather",
		`top: 2, skip: 1`:           "large tokens",
		`top: 9, search: "TOK"`:     "tokens",
		`top: 2, sortBy: "bytes"`:   "large tokens",
		`top: 9, skip: 9`:           "",
		`top: 2, sortBy: "nextDue"`: "empty large",
	} {
		if got := shownForecasts(h.OK(`{expirationStats: 1, without: true, ` + args + `}`)); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	r := h.Admin(`{expirationStats: 1, top: 3, without: true, search: "t"}`)
	totals := r.Lookup("totals").Doc()
	if totals.Lookup("without").SafeInt64() != 4 || totals.Lookup("collections").SafeInt64() != 16 || totals.Lookup("found").SafeInt64() != 4 {
		t.Errorf("totals %s", totals)
	}
	one := h.OK(`{expirationStats: 1, top: 1, without: true, search: "tokens"}`).Lookup("collections").Doc().Index(0).Doc()
	if one.Lookup("documents").SafeInt64() != 2 || one.Lookup("bytes").SafeInt64() == 0 || one.Has("policies") {
		t.Errorf("of tokens: %s", one)
	}
	h.OK(`{createIndexes: "tokens", indexes: [{key: {at: 1}, name: "at_1", expireAfterSeconds: 60}]}`)
	h.OK(`{collMod: "empty", documentTtl: {default: 60}}`)
	if r := h.OK(`{expirationStats: 1, top: 1, search: "tokens"}`); r.Lookup("totals").Doc().Lookup("without").SafeInt64() != 2 {
		t.Errorf("with two policies more: %s", r)
	}
}

// The totals are those of the long form, whichever page is shown.
func TestTopForecastAddsUp(t *testing.T) {
	t.Parallel()
	h := forecastMany(t)
	h.Advance(90)
	for _, args := range []string{"", ", empty: true", ", buckets: 7", ", horizonSeconds: 601, buckets: 3"} {
		sums := map[string]int64{}
		add := func(v value.Value, sign int64) {
			p := v.Doc()
			key := p.Lookup("policy").Str() + " " + p.Lookup("lane").Str()
			sums[key+" pending"] += sign * p.Lookup("pending").SafeInt64()
			sums[key+" overdue"] += sign * p.Lookup("overdue").SafeInt64()
			for b := range p.Lookup("histogram").Doc().Values() {
				sums[key+" "+b.Doc().Lookup("until").String()] += sign * b.Doc().Lookup("count").SafeInt64()
			}
		}
		for c := range h.OK(`{expirationStats: 1` + args + `}`).Lookup("collections").Doc().Values() {
			for p := range c.Doc().Lookup("policies").Doc().Values() {
				add(p, 1)
			}
		}
		if len(sums) < 10 {
			t.Fatalf("only %v", sums)
		}
		for p := range h.OK(`{expirationStats: 1, top: 1, skip: 3, search: "t1"` + args + `}`).Lookup("totals").Doc().Lookup("policies").Doc().Values() {
			add(p, -1)
		}
		for key, n := range sums {
			if n != 0 {
				t.Errorf("%s: %s differs by %d", args, key, n)
			}
		}
	}
}

// The short form of all databases leaves out those of the server; a database by itself is
// shown.
func TestTopForecastOfAllDatabases(t *testing.T) {
	t.Parallel()
	h := forecastMany(t)
	h.RunOn("config", harness.Relaxed(`{createIndexes: "mine", indexes: [{key: {at: 1}, name: "at_1", expireAfterSeconds: 1}]}`))
	if got := shownForecasts(h.Admin(`{expirationStats: 1, top: 2}`)); got != "t0 sessions" {
		t.Errorf("of all databases: %s", got)
	}
	if r := h.Admin(`{expirationStats: 1, top: 1}`); r.Lookup("totals").Doc().Lookup("collections").SafeInt64() != 15 {
		t.Errorf("of all databases: %s", r)
	}
	if r := h.RunOn("config", harness.Relaxed(`{expirationStats: 1, top: 50, search: "config.mine"}`)); r.Lookup("totals").Doc().Lookup("found").SafeInt64() != 1 {
		t.Errorf("of config: %s", r)
	}
	if got := shownForecasts(h.Admin(`{expirationStats: 1}`)); !strings.Contains(got, "config.mine") {
		t.Errorf("the long form: %s", got)
	}
}

// passes lists the last passes, newest first; targets restricts the list of due documents,
// too.
func TestForecastListsPassesAndTargets(t *testing.T) {
	t.Parallel()
	h := forecastMany(t)
	if r := h.OK(`{expirationStats: 1, passes: true}`); !r.Lookup("passes").Doc().IsEmpty() {
		t.Errorf("before the first pass: %s", r)
	}
	h.Pass(60)
	h.Pass(60)
	var got []string
	for v := range h.OK(`{expirationStats: "idle", passes: true}`).Lookup("passes").Doc().Values() {
		got = append(got, fmt.Sprint((v.Doc().Lookup("at").DateTime()-harness.TestStart.UnixMilli())/1000, "=", v.Doc().Lookup("deleted").Doc().Lookup("ttl").SafeInt64()))
	}
	if all := strings.Join(got, " "); all != "120=3 60=3" {
		t.Errorf("passes %s", all)
	}
	if h.OK(`{expirationStats: "idle"}`).Has("passes") {
		t.Error("passes without being asked for")
	}
	due := h.OK(`{expirationStats: 1, list: 3, targets: ["documentTtl"]}`).Lookup("due").Doc()
	if due.Len() != 1 || due.Index(0).Doc().Lookup("policy").Str() != "documentTtl" {
		t.Errorf("due %s", due)
	}
}

func TestTopForecastRefuses(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for args, code := range map[string]int32{
		`top: 0`: 2, `top: 1001`: 2, `top: "x"`: 14, `top: 1, skip: -1`: 2, `top: 1, sortBy: "name"`: 2,
		`skip: 1`: 72, `search: "x"`: 72, `sortBy: "ns"`: 72, `targets: ["x"]`: 2, `targets: [1]`: 14, `top: 1, search: 1`: 14, `passes: "x"`: 14,
	} {
		r := h.Run(`{expirationStats: 1, ` + args + `}`)
		if got := int32(r.Lookup("code").SafeInt64()); got != code {
			t.Errorf("%s: code %d, want %d: %s", args, got, code, r)
		}
	}
}
