package parameters_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/parameters"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Every parameter is taken with its default as text at the start, and as a value while the
// server runs, unless it cannot be set then; a value of another type is refused, and changes
// nothing.
func TestEveryParameter(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	seen := map[string]bool{}
	for _, p := range parameters.Table() {
		if seen[p.Name] || seen[p.Former] {
			t.Errorf("%s stands twice in the table", p.Name)
		}
		seen[p.Name], seen[p.Former] = true, p.Former != ""
		if parameters.Missing(p.Name) != "" {
			t.Errorf("%s stands among those that are missing", p.Name)
		}
		err := h.Svc.Params.Load(map[string]string{p.Name: asText(p.Initial)})
		switch {
		case p.TestOnly:
			if said := fmt.Sprint(err); said != "BadValue: --setParameter '"+p.Name+"' only available when used with 'enableTestCommands'" {
				t.Errorf("%s at the start: %s", p.Name, said)
			}
			h.Refuses([]harness.Refusal{{DB: "admin", Command: `{setParameter: 1, "` + p.Name + `": 1}`, Code: 72, Text: "Server parameter: '" + p.Name + "' is disabled"}})
			continue
		case !p.Startup:
			if said := fmt.Sprint(err); said != `BadValue: Cannot use --setParameter to set "`+p.Name+`" at startup` {
				t.Errorf("%s at the start: %s", p.Name, said)
			}
		case err != nil && !sentinels[p.Name]:
			t.Errorf("%s at the start: %v", p.Name, err)
		}
		get := func() string {
			return h.Admin(`{getParameter: 1, "` + p.Name + `": 1}`).Lookup(p.Name).String()
		}
		if got := get(); got != p.Initial.String() && !strings.HasPrefix(p.Name, "log") {
			t.Errorf("%s is %s at first, want %s", p.Name, got, p.Initial)
		}
		if !p.Runtime {
			h.Refuses([]harness.Refusal{{DB: "admin", Command: `{setParameter: 1, "` + p.Name + `": 1}`, Code: 20, Text: "not allowed to change [" + p.Name + "] at runtime"}})
			continue
		}
		was := get()
		if _, err := p.Check(p.Initial); err != nil && !sentinels[p.Name] {
			t.Errorf("%s: its default is refused: %v", p.Name, err)
		}
		if p.Initial.Kind() == value.KindBool {
			continue // any value is one
		}
		if reply := h.Admin(`{setParameter: 1, "` + p.Name + `": [1]}`); reply.Lookup("ok").Truthy() || get() != was {
			t.Errorf("%s: an array answered %s, and it is %s", p.Name, reply, get())
		}
	}
	if len(seen) < 450 {
		t.Errorf("the table has %d parameters", len(seen))
	}
}

// sentinels have a default that mongod itself would refuse: it stands for "not set".
var sentinels = map[string]bool{
	"ocspStaplingRefreshPeriodSecs": true, "tlsOCSPStaplingTimeoutSecs": true,
	"sslMode": true, "tlsMode": true, // a start decides
	"storageEngineConcurrentReadTransactions": true, "storageEngineConcurrentWriteTransactions": true,
}

// asText is a value as it is given on the command line.
func asText(v value.Value) string {
	switch v.Kind() {
	case value.KindString:
		return v.Str()
	case value.KindArray:
		return strings.Trim(strings.ReplaceAll(v.String(), `"`, ""), "[ ]")
	case value.KindDocument:
		return v.Doc().JSON()
	case value.KindDouble: // in messages, doubles have fewer digits
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	}
	return v.String()
}

// What is without effect is in the log once, with the reason.
func TestSaidOnce(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	h := harness.NewWith(t, kernel.Options{Log: zerolog.New(&log), Parameters: map[string]string{"enableFlowControl": "false", "featureFlagNone": "true", "notablescan": "true"}})
	for range 3 {
		h.Admin(`{setParameter: 1, enableFlowControl: true, maxSessionsNone: 1}`)
		h.Admin(`{setParameter: 1, internalQueryCacheSize: 7}`)
	}
	if got := h.Admin(`{getParameter: 1, internalQueryCacheMaxEntriesPerCollection: 1}`).Lookup("internalQueryCacheMaxEntriesPerCollection").SafeInt64(); got != 7 {
		t.Errorf("a former name sets %d", got)
	}
	for name, want := range map[string]int{"enableFlowControl": 1, "featureFlagNone": 1, "internalQueryCacheSize": 1, "notablescan": 0} {
		if n := strings.Count(log.String(), `"parameter":"`+name+`"`); n != want {
			t.Errorf("%s is in the log %d times: %s", name, n, &log)
		}
	}
}

// What manages servers marks them with a short text, which hello shows.
func TestAutomationServiceDescriptor(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	if h.Admin(`{hello: 1}`).Has("automationServiceDescriptor") {
		t.Error("hello shows an empty descriptor")
	}
	h.Admin(`{setParameter: 1, automationServiceDescriptor: "mine"}`)
	if got := h.Admin(`{hello: 1}`).Lookup("automationServiceDescriptor").Str(); got != "mine" {
		t.Errorf("hello shows %q", got)
	}
	h.Refuses([]harness.Refusal{
		{DB: "admin", Command: `{setParameter: 1, automationServiceDescriptor: "` + strings.Repeat("x", 65) + `"}`, Code: 15, Text: "Value for parameter automationServiceDescriptor must be no more than 64 bytes"},
		{DB: "admin", Command: `{setParameter: 1, automationServiceDescriptor: 1}`, Code: 14, Text: "Value for parameter automationServiceDescriptor must be of type 'string'"},
	})
}

// limits are bounds of parameters, as the definitions of mongod 8.0 have them, and how they
// are refused.
var limits = map[string]struct {
	refused, most string
	words         string
}{
	"ttlMonitorSleepSecs":                                 {"0", "", "greater than 0"},
	"ttlMonitorSubPassTargetSecs":                         {"-1", "", "greater than or equal to 0"},
	"journalCommitInterval":                               {"501", "500", "less than or equal to 500"},
	"transactionLifetimeLimitSeconds":                     {"0", "1", "greater than or equal to 1"},
	"internalQueryMaxBlockingSortMemoryUsageBytes":        {"-1", "0", "greater than or equal to 0"},
	"internalQueryMaxPushBytes":                           {"0", "1", "greater than 0"},
	"internalLookupStageIntermediateDocumentMaxSizeBytes": {"16777215", "16777216", "greater than or equal to 16777216"},
	"authFailedDelayMs":                                   {"5001", "5000", "less than or equal to 5000"},
	"scramIterationCount":                                 {"4999", "5000", "greater than or equal to 5000"},
	"ingressConnectionEstablishmentRatePerSec":            {"0", "1", "greater than or equal to 1"},
	"logLevel":                             {"6", "5", "less than or equal to 5"},
	"replBatchLimitBytes":                  {"16777215", "16777216", "greater than or equal to 16777216"},
	"internalQueryFLERewriteMemoryLimit":   {"16777216", "16777215", "less than 16777216"},
	"transactionTooLargeForCacheThreshold": {"1.5", "0.5", "less than or equal to 1"},
}

// What is out of bounds changes nothing, in mongod's words; the bounds themselves do.
func TestBoundsOfNumbers(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for name, want := range limits {
		get := func() string { return h.Admin(`{getParameter: 1, ` + name + `: 1}`).Lookup(name).String() }
		was := get()
		text := fmt.Sprintf("Invalid value for parameter %s: %s is not %s", name, want.refused, want.words)
		h.Refuses([]harness.Refusal{{DB: "admin", Command: `{setParameter: 1, ` + name + `: ` + want.refused + `}`, Code: 2, Text: text}})
		if get() != was {
			t.Errorf("%s is %s, was %s", name, get(), was)
		}
		if want.most == "" {
			continue
		}
		if reply := h.Admin(`{setParameter: 1, ` + name + `: ` + want.most + `}`); !reply.Lookup("ok").Truthy() || get() != want.most {
			t.Errorf("%s: %s answered %s, and it is %s", name, want.most, reply, get())
		}
	}
}

// Parameters that mongod does not have are refused, with the reason if there is one.
func TestMissing(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for name, reason := range map[string]string{
		"auditAuthorizationSuccess": ": MongoDB Enterprise has it", "loadRoutingTableOnStartup": ": mongos has it",
		"internalQueryExecMaxBlockingSortBytes": ": MongoDB has removed it", "noSuch": "",
	} {
		if got, want := fmt.Sprint(h.Svc.Params.Load(map[string]string{name: "1"})), "BadValue: Unknown --setParameter '"+name+"'"+reason; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		h.Refuses([]harness.Refusal{{DB: "admin", Command: `{setParameter: 1, ` + name + `: 1}`, Code: 72, Text: "attempted to set unrecognized parameter [" + name + "], use help:true to see options "}})
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
		"featureCompatibilityVersion":     {`{ version: "8.2" }`, false, false},
		"diagnosticDataCollectionEnabled": {`true`, true, true},
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
		if err := h.Svc.Params.Load(map[string]string{name: "7"}); !want.startup && fmt.Sprint(err) != `BadValue: Cannot use --setParameter to set "`+name+`" at startup` {
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
	if s.HeapLimitMB.Load() != 50 || s.TimeoutMS.Load() != 1234 || s.MaxHeapMB.Load() != 900 {
		t.Errorf("scripts have %d MB of %d, and %d ms", s.HeapLimitMB.Load(), s.MaxHeapMB.Load(), s.TimeoutMS.Load())
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
	const unread = "BadValue: Failed parsing new changeStreamOptions value"
	for _, tt := range []struct{ name, d, err string }{
		{"changeStreamOptions", `{preAndPostImages: {expireAfterSeconds: "off"}}`, ""},
		{"changeStreamOptions", `{preAndPostImages: {expireAfterSeconds: 1}}`, ""},
		{"changeStreamOptions", `{preAndPostImages: {}}`, unread + "BSON field 'changeStreamOptions.expireAfterSeconds' is missing but a required field"},
		{"changeStreamOptions", `{}`, unread + "BSON field 'changeStreamOptions.preAndPostImages' is missing but a required field"},
		{"changeStreamOptions", `{preAndPostImages: {expireAfterSeconds: "on"}}`, "BadValue: Non-numeric value of 'expireAfterSeconds' should be 'off'"},
		{"changeStreamOptions", `{preAndPostImages: {expireAfterSeconds: 0}}`, "BadValue: Numeric value of 'expireAfterSeconds' should be positive"},
		{"changeStreamOptions", `{preAndPostImages: {expireAfterSeconds: -5}}`, "BadValue: Numeric value of 'expireAfterSeconds' should be positive"},
		{"changeStreamOptions", `{preAndPostImages: {expireAfterSeconds: true}}`, unread + "BSON field 'changeStreamOptions.preAndPostImages.expireAfterSeconds' is the wrong type 'bool', expected types '[string, long, int, decimal, double]'"},
		{"changeStreamOptions", `{preAndPostImages: 1}`, unread + "invalid parameter: expected an object (preAndPostImages)"},
		{"changeStreams", `{}`, ""},
		{"changeStreams", `{expireAfterSeconds: null}`, ""},
		{"changeStreams", `{expireAfterSeconds: 1}`, ""},
		{"changeStreams", `{expireAfterSeconds: 0}`, "BadValue: BSON field 'expireAfterSeconds' value must be > 0, actual value '0'"},
		{"changeStreams", `{expireAfterSeconds: "1"}`, "TypeMismatch: BSON field 'changeStreams.expireAfterSeconds' is the wrong type 'string', expected types " + types},
		{"pauseMigrationsDuringMultiUpdates", `{}`, ""},
		{"pauseMigrationsDuringMultiUpdates", `{enabled: null}`, ""},
		{"pauseMigrationsDuringMultiUpdates", `{enabled: true}`, ""},
		{"pauseMigrationsDuringMultiUpdates", `{enabled: 1}`, "TypeMismatch: BSON field 'pauseMigrationsDuringMultiUpdates.enabled' is the wrong type 'int', expected type 'bool'"},
		{"fleDisableSubstringPreviewParameterLimits", `{shouldOverride: true}`, ""},
		{"fleDisableSubstringPreviewParameterLimits", `{shouldOverride: "x"}`, "TypeMismatch: BSON field 'fleDisableSubstringPreviewParameterLimits.shouldOverride' is the wrong type 'string', expected type 'bool'"},
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
		if !harness.Fits(said, tt.err) {
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
