package queue

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func TestParseDuration(t *testing.T) {
	tests := []struct {
		in   value.Value
		want int64
		code mongoerr.Code
	}{
		{value.String("PT1M"), 60_000, 0},
		{value.String("PT5M"), 300_000, 0},
		{value.String("P14D"), 14 * 86_400_000, 0},
		{value.String("P1DT2H3M4.5S"), 93_784_500, 0},
		{value.String("P1W"), 7 * 86_400_000, 0},
		{value.String("P1Y2M"), (365 + 60) * 86_400_000, 0},
		{value.String("PT0.001S"), 1, 0},
		{value.String("PT0S"), 0, 0},
		{value.String("-PT1S"), -1000, 0},
		{value.String(unlimitedText), Unlimited, 0},
		{value.String("P99999999999D"), Unlimited, 0},
		{value.Int32(30), 30_000, 0},
		{value.Int64(300), 300_000, 0},
		{value.Double(0.001), 1, 0},
		{value.Double(1.005), 1005, 0},
		{value.Double(-2), -2000, 0},
		{value.Double(math.Inf(1)), Unlimited, 0},
		{value.Int64(math.MaxInt64), Unlimited, 0},
		{value.Double(math.NaN()), 0, mongoerr.BadValue},
		{value.String(""), 0, mongoerr.BadValue},
		{value.String("P"), 0, mongoerr.BadValue},
		{value.String("PT"), 0, mongoerr.BadValue},
		{value.String("P1DT"), 0, mongoerr.BadValue},
		{value.String("1M"), 0, mongoerr.BadValue},
		{value.String("PT1"), 0, mongoerr.BadValue},
		{value.String("PTS"), 0, mongoerr.BadValue},
		{value.String("PT1S1M"), 0, mongoerr.BadValue},
		{value.String("P1H"), 0, mongoerr.BadValue},
		{value.String("PT1.5M"), 0, mongoerr.BadValue},
		{value.String("PT1..5S"), 0, mongoerr.BadValue},
		{value.String("00:01:00"), 0, mongoerr.BadValue},
		{value.Bool(true), 0, mongoerr.TypeMismatch},
		{value.Null(), 0, mongoerr.TypeMismatch},
	}
	for _, tt := range tests {
		got, err := parseDuration("x", tt.in)
		if mongoerr.CodeOf(err) != tt.code || got != tt.want {
			t.Errorf("%s: %d, %v; want %d, code %d", tt.in, got, err, tt.want, tt.code)
		}
	}
}

// The error of a wrong duration has examples that are right.
func TestExamplesOfDurations(t *testing.T) {
	_, err := parseDuration("x", value.String("1m"))
	examples := regexp.MustCompile("'(P[0-9A-Z]+)'").FindAllStringSubmatch(fmt.Sprint(err), -1)
	if len(examples) != 2 {
		t.Fatalf("%v has %d examples", err, len(examples))
	}
	for _, example := range examples {
		if _, err := parseDuration("x", value.String(example[1])); err != nil {
			t.Error(err)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	tests := []struct {
		ms   int64
		want string
	}{
		{0, "PT0S"}, {1, "PT0.001S"}, {1000, "PT1S"}, {30_000, "PT30S"}, {60_000, "PT1M"}, {300_000, "PT5M"},
		{86_400_000, "P1D"}, {93_784_500, "P1DT2H3M4.5S"}, {3_600_001, "PT1H0.001S"}, {Unlimited, unlimitedText},
	}
	for _, tt := range tests {
		if got := formatDuration(tt.ms); got != tt.want {
			t.Errorf("%d: %s, want %s", tt.ms, got, tt.want)
		}
	}
}

func TestDurationRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(0, 1<<42).Draw(t, "ms")
		if got, ok := parseISO(formatDuration(ms)); !ok || got != ms {
			t.Fatalf("%d -> %s -> %d, %v", ms, formatDuration(ms), got, ok)
		}
	})
}

func FuzzParseISO(f *testing.F) {
	for _, s := range []string{"PT1M", "P1DT2H3M4.5S", unlimitedText, "-PT1S", "P", "P1H", "PT1e5S"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if ms, ok := parseISO(s); ok && (ms > Unlimited || ms < -Unlimited) {
			t.Errorf("%q: %d", s, ms)
		}
	})
}

func TestParseConfig(t *testing.T) {
	tests := []struct {
		kind     Kind // 0: Queue
		in, want string
		code     mongoerr.Code
		fragment string
	}{
		{0, `{}`, `{"defaultMessageTimeToLive": "P10675199DT2H48M5.4775807S", "deadLetteringOnMessageExpiration": false,
			"lockDuration": "PT1M", "maxDeliveryCount": 10, "autoDeleteOnIdle": "P10675199DT2H48M5.4775807S"}`, 0, ""},
		{0, `{"defaultMessageTimeToLive": 1209600, "deadLetteringOnMessageExpiration": true, "lockDuration": 0.5,
			"maxDeliveryCount": 1, "autoDeleteOnIdle": "PT5M"}`,
			`{"defaultMessageTimeToLive": "P14D", "deadLetteringOnMessageExpiration": true, "lockDuration": "PT0.5S",
			"maxDeliveryCount": 1, "autoDeleteOnIdle": "PT5M"}`, 0, ""},
		{in: `{"lockDuration": "PT5M0.001S"}`, code: 2, fragment: "at most PT5M"},
		{in: `{"lockDuration": 0}`, code: 2},
		{in: `{"lockDuration": "soon"}`, code: 2, fragment: "ISO 8601"},
		{in: `{"lockDuration": true}`, code: 14},
		{in: `{"lockDuration": null}`, code: 14},
		{in: `{"defaultMessageTimeToLive": -1}`, code: 2, fragment: "greater than zero"},
		{in: `{"autoDeleteOnIdle": "PT4M59.999S"}`, code: 2, fragment: "at least PT5M"},
		{in: `{"maxDeliveryCount": 1.5}`, code: 2},
		{in: `{"maxDeliveryCount": 2147483648}`, code: 2},
		{in: `{"maxDeliveryCount": "3"}`, code: 14},
		{in: `{"deadLetteringOnMessageExpiration": 1}`, code: 14},
		{in: `{"colour": 1}`, code: 40415, fragment: "BSON field 'create.messageQueue.colour' is an unknown field."},
		{in: `{"deadLetterOf": "x"}`, code: 72},
		{in: `{"enablePartitioning": true}`, code: 72, fragment: "The message queue property 'enablePartitioning' is not supported"},
		{in: `{"topic": "x"}`, code: 72, fragment: "A message queue does not have the property 'topic'"},
		{in: `{"rules": []}`, code: 72, fragment: "A message queue does not have the property 'rules'"},
		{in: `{"requiresSession": true, "forwardTo": "x"}`, code: 72, fragment: "'forwardTo' is not allowed with 'requiresSession'"},
		{in: `{"requiresSession": 1}`, code: 14},
		{in: `{"forwardTo": 1}`, code: 14},
		{in: `{"duplicateDetectionHistoryTimeWindow": 19}`, code: 2, fragment: "from PT20S to P7D"},
		{in: `{"duplicateDetectionHistoryTimeWindow": "P7DT0.001S"}`, code: 2},
		{0, `{"requiresSession": true, "requiresDuplicateDetection": true, "forwardDeadLetteredMessagesTo": "d", "expireOnReceiveOnly": true}`,
			`{"defaultMessageTimeToLive": "P10675199DT2H48M5.4775807S", "deadLetteringOnMessageExpiration": false,
			"lockDuration": "PT1M", "maxDeliveryCount": 10, "autoDeleteOnIdle": "P10675199DT2H48M5.4775807S",
			"requiresSession": true, "requiresDuplicateDetection": true, "duplicateDetectionHistoryTimeWindow": "PT10M",
			"forwardDeadLetteredMessagesTo": "d", "expireOnReceiveOnly": true}`, 0, ""},
		{Topic, `{}`, `{"defaultMessageTimeToLive": "P10675199DT2H48M5.4775807S", "autoDeleteOnIdle": "P10675199DT2H48M5.4775807S"}`, 0, ""},
		{kind: Topic, in: `{"lockDuration": 5}`, code: 72, fragment: "A message topic does not have the property 'lockDuration'"},
		{Subscription, `{"topic": "t"}`, `{"topic": "t", "defaultMessageTimeToLive": "P10675199DT2H48M5.4775807S", "deadLetteringOnMessageExpiration": false,
			"deadLetteringOnFilterEvaluationExceptions": true, "lockDuration": "PT1M", "maxDeliveryCount": 10,
			"autoDeleteOnIdle": "P10675199DT2H48M5.4775807S", "rules": [{"name": "$Default", "filter": true}]}`, 0, ""},
		{kind: Subscription, in: `{}`, code: 40414, fragment: "create.messageSubscription.topic"},
		{kind: Subscription, in: `{"topic": ""}`, code: 2},
		{kind: Subscription, in: `{"topic": "t", "requiresDuplicateDetection": true}`, code: 72},
		{kind: Subscription, in: `{"topic": "t", "rules": {}}`, code: 14},
		{kind: Subscription, in: `{"topic": "t", "rules": [1]}`, code: 14},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"filter": true}]}`, code: 40414, fragment: "rules.name"},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"name": "a"}]}`, code: 2, fragment: "needs either filter or correlationFilter"},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"name": "a", "filter": true, "correlationFilter": {"a": 1}}]}`, code: 2},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"name": "a", "filter": true}, {"name": "a", "filter": false}]}`, code: 2, fragment: "two rules with the name 'a'"},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"name": "", "filter": true}]}`, code: 2},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"name": "a", "filter": "quantity > 5"}]}`, code: 72, fragment: "SQL is not supported"},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"name": "a", "sqlFilter": "quantity > 5"}]}`, code: 72, fragment: "SQL is not supported"},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"name": "a", "filter": true, "action": "SET a = 1"}]}`, code: 72, fragment: "SQL is not supported"},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"name": "a", "filter": {"$where": "true"}}]}`, code: 2},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"name": "a", "filter": {"a": {"$wrong": 1}}}]}`, code: 2, fragment: "$wrong"},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"name": "a", "correlationFilter": {}}]}`, code: 2, fragment: "at least one"},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"name": "a", "correlationFilter": {"$or": []}}]}`, code: 2},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"name": "a", "correlationFilter": {"n": {"$gt": 1}}}]}`, code: 2, fragment: "use 'filter' instead"},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"name": "a", "filter": {"$expr": {"$function": {"body": "function() {}", "args": [], "lang": "js"}}}}]}`, code: 2, fragment: "$function is not allowed in this context"},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"name": "a", "filter": true, "action": {"$set": {"_id": 1}}}]}`, code: 2, fragment: "'_id'"},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"name": "a", "filter": true, "action": {"$set": {"_mq.sessionId": "x"}}}]}`, code: 2},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"name": "a", "filter": true, "action": {"b": 1}}]}`, code: 2, fragment: "update operators"},
		{kind: Subscription, in: `{"topic": "t", "rules": [{"name": "a", "filter": true, "colour": 1}]}`, code: 40415},
	}
	e := &env{t: t}
	for _, tt := range tests {
		kind := cmp.Or(tt.kind, Queue)
		c, err := ParseConfig("create", kind, value.Document(value.MustJSON(tt.in)))
		if tt.code != 0 {
			e.fails(err, tt.code, tt.fragment)
			continue
		}
		e.must(err)
		if got, want := c.Doc().String(), value.MustJSON(tt.want).String(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", tt.in, got, want)
		}
		again, err := ParseConfig("create", kind, value.Document(c.Doc()))
		if e.must(err); !reflect.DeepEqual(again, c) {
			t.Errorf("%s: read back as %+v", tt.in, again)
		}
	}
	_, err := ParseConfig("create", Queue, value.String("x"))
	e.fails(err, mongoerr.TypeMismatch, "create.messageQueue")
}
