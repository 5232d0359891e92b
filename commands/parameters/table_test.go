package parameters_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/parameters"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// limits are the numbers among mongod's parameters with their defaults, and the
// least and the greatest value they take, as the manual and the definitions of
// mongod 8.0 have them.
var limits = map[string]struct{ initial, least, most int64 }{
	"ttlMonitorSleepSecs":                                 {60, 1, math.MaxInt32},
	"ttlMonitorSubPassTargetSecs":                         {60, 0, math.MaxInt32},
	"ttlIndexDeleteTargetTimeMS":                          {1000, 0, math.MaxInt32},
	"ttlIndexDeleteTargetDocs":                            {50000, 0, math.MaxInt32},
	"cursorTimeoutMillis":                                 {600000, math.MinInt32, math.MaxInt32},
	"journalCommitInterval":                               {100, 1, 500},
	"transactionLifetimeLimitSeconds":                     {60, 1, math.MaxInt32},
	"maxTransactionLockRequestTimeoutMillis":              {5, -1, math.MaxInt32},
	"internalQueryMaxBlockingSortMemoryUsageBytes":        {100 << 20, 0, math.MaxInt64},
	"internalDocumentSourceGroupMaxMemoryBytes":           {100 << 20, 1, math.MaxInt64},
	"internalQueryFacetBufferSizeBytes":                   {100 << 20, 1, math.MaxInt64},
	"internalLookupStageIntermediateDocumentMaxSizeBytes": {100 << 20, 16 << 20, math.MaxInt64},
	"internalQueryMaxPushBytes":                           {100 << 20, 1, math.MaxInt32},
	"internalQueryExecYieldIterations":                    {1000, 0, math.MaxInt32},
	"internalQueryJavaScriptFnTimeoutMillis":              {60000, 1, math.MaxInt32},
	"jsHeapLimitMB":                                       {1100, 1, math.MaxInt32},
	"syncdelay":                                           {60, 0, 1 << 20},
	"authFailedDelayMs":                                   {0, 0, 5000},
	"scramIterationCount":                                 {10000, 5000, math.MaxInt32},
	"scramSHA256IterationCount":                           {15000, 5000, math.MaxInt32},
	"localLogicalSessionTimeoutMinutes":                   {30, 1, math.MaxInt32},
	"logicalSessionRefreshMillis":                         {300000, 1, math.MaxInt32},
	"ingressConnectionEstablishmentRatePerSec":            {math.MaxInt32, 1, math.MaxInt32},
	"ingressConnectionEstablishmentMaxQueueDepth":         {0, 0, math.MaxInt32},
	"logLevel": {0, 0, 5},
	"internalDocumentSourceSetWindowFieldsMaxMemoryBytes": {100 << 20, 1, math.MaxInt64},
	"internalDocumentSourceBucketAutoMaxMemoryBytes":      {100 << 20, 1, math.MaxInt64},
	"internalQueryFacetMaxOutputDocSizeBytes":             {100 << 20, 1, math.MaxInt64},
	"internalQueryTopNAccumulatorBytes":                   {100 << 20, 1, math.MaxInt32},
	"internalQueryMaxAddToSetBytes":                       {100 << 20, 1, math.MaxInt32},
	"internalQueryMaxRangeBytes":                          {100 << 20, 1, math.MaxInt32},
	"internalQueryMaxMapReduceExpressionBytes":            {100 << 20, 1, math.MaxInt32},
}

// What is out of bounds changes nothing, in mongod's words; the bounds themselves do.
func TestBoundsOfNumbers(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for name, want := range limits {
		get := func() int64 {
			return h.Admin(`{getParameter: 1, ` + name + `: 1}`).Lookup(name).SafeInt64()
		}
		set := func(n string) value.Doc {
			return h.Admin(fmt.Sprintf(`{setParameter: 1, %s: {$numberLong: %q}}`, name, n))
		}
		if got := get(); got != want.initial {
			t.Errorf("%s is %d at first, want %d", name, got, want.initial)
		}
		const refused = "Invalid value for parameter %s: %d is not %s than or equal to %d"
		var out []harness.Refusal
		if want.least > math.MinInt64 {
			out = append(out, harness.Refusal{Code: 2, Command: strconv.FormatInt(want.least-1, 10), Text: fmt.Sprintf(refused, name, want.least-1, "greater", want.least)})
		}
		if want.most < math.MaxInt64 {
			out = append(out, harness.Refusal{Code: 2, Command: strconv.FormatInt(want.most+1, 10), Text: fmt.Sprintf(refused, name, want.most+1, "less", want.most)})
		}
		for _, r := range out {
			if reply := set(r.Command); reply.Lookup("code").Int32() != r.Code || reply.Lookup("errmsg").Str() != r.Text || get() != want.initial {
				t.Errorf("%s: %s, want %q", r.Command, reply, r.Text)
			}
		}
		if reply := h.Admin(`{setParameter: 1, ` + name + `: "x"}`); reply.Lookup("code").Int32() != 2 {
			t.Errorf("%s: a string answered %s", name, reply)
		}
		for _, n := range []int64{want.most, want.least} {
			if reply := set(strconv.FormatInt(n, 10)); !reply.Lookup("ok").Truthy() || get() != n {
				t.Errorf("%s: %d answered %s, and it is %d", name, n, reply, get())
			}
		}
	}
}

// What is not a number: its default, and whether it may be given at start-up and set
// while the server runs.
func TestOtherParameters(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for name, want := range map[string]struct {
		initial          string
		startup, runtime bool
	}{
		"ttlMonitorEnabled":               {`true`, true, true},
		"ttlMonitorBatchDeletes":          {`true`, true, true},
		"allowDiskUseByDefault":           {`true`, true, true},
		"notablescan":                     {`false`, true, true},
		"quiet":                           {`false`, true, true},
		"requireApiVersion":               {`false`, true, true},
		"enableTestCommands":              {`false`, true, false},
		"acceptApiVersion2":               {`false`, true, false},
		"enableLocalhostAuthBypass":       {`true`, true, false},
		"honorSystemUmask":                {`false`, true, false},
		"processUmask":                    {`""`, true, false},
		"authSchemaVersion":               {`5`, false, false},
		"authenticationMechanisms":        {`[ "SCRAM-SHA-1", "SCRAM-SHA-256", "MONGODB-X509" ]`, true, false},
		"featureCompatibilityVersion":     {`{ version: "8.0" }`, false, false},
		"diagnosticDataCollectionEnabled": {`false`, true, true},
		"documentTtlStrictTsOnly":         {`false`, true, true},
		"documentTtlTsIndex":              {`true`, true, false},
	} {
		d := h.Admin(`{getParameter: {showDetails: true}, ` + name + `: 1}`).Lookup(name).Doc()
		if got := d.Lookup("value").String(); got != want.initial || d.Lookup("settableAtStartup").Bool() != want.startup || d.Lookup("settableAtRuntime").Bool() != want.runtime {
			t.Errorf("%s: %s, want %+v", name, d, want)
		}
		if !want.runtime {
			h.Refuses([]harness.Refusal{{DB: "admin", Command: `{setParameter: 1, ` + name + `: 1}`, Code: 20, Text: "not allowed to change [" + name + "] at runtime"}})
		}
		if err := h.Svc.Params.Load(map[string]string{name: "7"}); !want.startup && fmt.Sprint(err) != "BadValue: Cannot use --setParameter to set '"+name+"' at startup" {
			t.Errorf("%s at startup: %v", name, err)
		}
	}
}

// Some parameters are kept where the work is done: what is set takes effect there.
func TestParametersTakeEffect(t *testing.T) {
	t.Parallel()
	h := harness.NewWith(t, kernel.Options{Parameters: map[string]string{"authenticationMechanisms": "SCRAM-SHA-256,MONGODB-X509", "jsHeapLimitMB": "900"}})
	if got := h.Svc.Params.Value("authenticationMechanisms").String(); got != `[ "SCRAM-SHA-256", "MONGODB-X509" ]` {
		t.Errorf("mechanisms %s", got)
	}
	h.Admin(`{setParameter: 1, internalQueryJavaScriptHeapSizeLimitMB: 50, internalQueryJavaScriptFnTimeoutMillis: 1234, requireApiVersion: true}`)
	s := h.Svc.Scripts
	if s.HeapLimitMB.Load() != 50 || s.TimeoutMS.Load() != 1234 || s.MostHeapMB.Load() != 900 {
		t.Errorf("scripts have %d MB of %d, and %d ms", s.HeapLimitMB.Load(), s.MostHeapMB.Load(), s.TimeoutMS.Load())
	}
	h.Fails(498870, `{ping: 1}`)
	mechanisms := h.Svc.Params.Lines["authenticationMechanisms"]
	if v, err := mechanisms.Check(value.NewArray(value.String("SCRAM-SHA-1"))); err != nil || v.String() != `[ "SCRAM-SHA-1" ]` {
		t.Errorf("an array: %s, %v", v, err)
	}
}

// What mongod's validators of cluster parameters refuse, and what is taken.
func TestChecksOfClusterParameters(t *testing.T) {
	t.Parallel()
	const types = "'[long, int, decimal, double]'"
	for _, tt := range []struct{ name, d, err string }{
		{"changeStreamOptions", `{preAndPostImages: {expireAfterSeconds: "off"}}`, ""},
		{"changeStreamOptions", `{preAndPostImages: {expireAfterSeconds: 1}}`, ""},
		{"changeStreamOptions", `{preAndPostImages: {}}`, ""},
		{"changeStreamOptions", `{preAndPostImages: {expireAfterSeconds: "on"}}`, "BadValue: Non-numeric value of 'expireAfterSeconds' should be 'off'"},
		{"changeStreamOptions", `{preAndPostImages: {expireAfterSeconds: 0}}`, "BadValue: Numeric value of 'expireAfterSeconds' should be positive"},
		{"changeStreamOptions", `{preAndPostImages: {expireAfterSeconds: -5}}`, "BadValue: Numeric value of 'expireAfterSeconds' should be positive"},
		{"changeStreamOptions", `{preAndPostImages: {expireAfterSeconds: true}}`, "TypeMismatch: BSON field 'changeStreamOptions.preAndPostImages.expireAfterSeconds' is the wrong type 'bool', expected types '[string, long, int, decimal, double]'"},
		{"changeStreamOptions", `{preAndPostImages: 1}`, "BadValue: *"},
		{"changeStreams", `{}`, ""},
		{"changeStreams", `{expireAfterSeconds: null}`, ""},
		{"changeStreams", `{expireAfterSeconds: 1}`, ""},
		{"changeStreams", `{expireAfterSeconds: 0}`, "BadValue: BSON field 'expireAfterSeconds' value must be > 0, actual value '0'"},
		{"changeStreams", `{expireAfterSeconds: "1"}`, "TypeMismatch: BSON field 'changeStreams.expireAfterSeconds' is the wrong type 'string', expected types " + types},
		{"pauseMigrationsDuringMultiUpdates", `{}`, ""},
		{"pauseMigrationsDuringMultiUpdates", `{enabled: null}`, ""},
		{"pauseMigrationsDuringMultiUpdates", `{enabled: true}`, ""},
		{"pauseMigrationsDuringMultiUpdates", `{enabled: 1}`, "TypeMismatch: BSON field 'pauseMigrationsDuringMultiUpdates.enabled' is the wrong type 'int', expected type 'bool'"},
		{"defaultMaxTimeMS", `{readOperations: 0}`, ""},
		{"defaultMaxTimeMS", `{readOperations: 5000}`, ""},
		{"defaultMaxTimeMS", `{}`, "IDLFailedToParse: BSON field 'defaultMaxTimeMS.readOperations' is missing but a required field"},
		{"defaultMaxTimeMS", `{readOperations: -1}`, "BadValue: BSON field 'readOperations' value must be >= 0, actual value '-1'"},
		{"defaultMaxTimeMS", `{readOperations: "1"}`, "TypeMismatch: BSON field 'defaultMaxTimeMS.readOperations' is the wrong type 'string', expected types " + types},
	} {
		err := parameters.ClusterParameters[tt.name].Check(harness.Relaxed(tt.d))
		said := ""
		if err != nil {
			said = err.Error()
		}
		if begin, open := strings.CutSuffix(tt.err, "*"); said != tt.err && !(open && strings.HasPrefix(said, begin)) {
			t.Errorf("%s %s: %q, want %q", tt.name, tt.d, said, tt.err)
		}
	}
}

// A server does not start without the settings that administrators have made.
func TestSettingsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	if err := parameters.CheckSettings(h.Svc); err != nil {
		t.Fatal(err)
	}
	e := &harness.Breakable{Engine: h.Svc.Engine}
	h.Svc.Engine = e
	for ns, want := range map[storage.Namespace]string{
		kernel.ConcernNamespace: "read the settings of the cluster: read config.settings: " + harness.ErrBroken.Error(),
		kernel.ClusterNamespace: "read the settings of the cluster: read config.clusterParameters: " + harness.ErrBroken.Error(),
	} {
		e.Broken = ns
		h.Svc.Settings = kernel.NewSettings() // as a server that starts
		if err := parameters.CheckSettings(h.Svc); !errors.Is(err, harness.ErrBroken) || err.Error() != want {
			t.Errorf("%s: %v, want %s", ns, err, want)
		}
	}
}
