package parameters

import (
	"math"
	"strings"
	"sync/atomic"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/query/script"
	"github.com/duskdb/duskdb/value"
)

// New makes the parameters of a server, with their initial values.
func New(s *kernel.Service) *kernel.Parameters {
	p := &kernel.Parameters{Svc: s, Lines: map[string]*kernel.Parameter{}, Values: map[string]*atomic.Pointer[value.Value]{}}
	for _, line := range Table() {
		line := line
		p.Lines[line.Name] = &line
		cell := &atomic.Pointer[value.Value]{}
		cell.Store(&line.Initial)
		p.Values[line.Name] = cell
	}
	return p
}

// metricsCollections bounds the collections that have metrics of their own.
const metricsCollections = "metricsMaxCollections"

// Table lists every server parameter. Those of mongod keep its
// names and defaults; documentTtl* (semantics.md §4.2) and metricsMaxCollections are DuskDB's.
func Table() []kernel.Parameter {
	boolean := func(name string, initial, runtime bool) kernel.Parameter {
		return kernel.Parameter{Name: name, Initial: value.Bool(initial), Startup: true, Runtime: runtime, Check: kernel.CheckBool}
	}
	integer := func(name string, initial, least, most int64) kernel.Parameter {
		return kernel.Parameter{Name: name, Initial: value.Int(initial), Startup: true, Runtime: true, Check: kernel.CheckInt(name, least, most)}
	}
	sleep := integer("ttlMonitorSleepSecs", 60, 1, math.MaxInt32)
	sleep.OnChange = func(s *kernel.Service, _ value.Value) {
		if s.Monitor != nil {
			s.Monitor.ParametersChanged()
		}
	}
	heap := integer("internalQueryJavaScriptHeapSizeLimitMB", script.DefaultHeapLimitMB, 1, math.MaxInt32)
	heap.OnChange = func(s *kernel.Service, v value.Value) { s.Scripts.HeapLimitMB.Store(v.SafeInt64()) }
	most := integer("jsHeapLimitMB", 1100, 1, math.MaxInt32)
	most.OnChange = func(s *kernel.Service, v value.Value) { s.Scripts.MostHeapMB.Store(v.SafeInt64()) }
	limit := integer("internalQueryJavaScriptFnTimeoutMillis", script.DefaultTimeout, 1, math.MaxInt32)
	limit.OnChange = func(s *kernel.Service, v value.Value) { s.Scripts.TimeoutMS.Store(v.SafeInt64()) }
	metrics := integer(metricsCollections, 200, 0, 100_000)
	metrics.OnChange = func(s *kernel.Service, v value.Value) {
		if s.Monitor != nil {
			s.Monitor.Metrics().CountCollections(int(v.SafeInt64()))
		}
	}
	requireAPI := boolean("requireApiVersion", false, true)
	requireAPI.OnChange = func(s *kernel.Service, v value.Value) { s.RequireAPI.Store(v.Truthy()) }
	return append(append(kernel.LogParameters(), kernel.EstablishmentParameters()...), []kernel.Parameter{
		boolean("ttlMonitorEnabled", true, true),
		sleep,
		boolean("ttlMonitorBatchDeletes", true, true),
		integer("ttlMonitorSubPassTargetSecs", 60, 0, math.MaxInt32),
		integer("ttlIndexDeleteTargetTimeMS", 1000, 0, math.MaxInt32),
		integer("ttlIndexDeleteTargetDocs", 50000, 0, math.MaxInt32),
		integer("documentTtlPurgeYieldThreshold", 64, 0, math.MaxInt32),
		boolean("documentTtlStrictTsOnly", false, true),
		metrics,
		boolean("documentTtlTsIndex", true, false),
		boolean("enableTestClock", false, false),
		integer("cursorTimeoutMillis", 600000, math.MinInt32, math.MaxInt32),
		integer("journalCommitInterval", 100, 1, 500),
		integer("transactionLifetimeLimitSeconds", 60, 1, math.MaxInt32),
		integer("transactionSizeLimitBytes", 128<<20, 1, math.MaxInt64),
		integer("maxTransactionLockRequestTimeoutMillis", 5, -1, math.MaxInt32),
		integer("internalQueryMaxBlockingSortMemoryUsageBytes", 100<<20, 0, math.MaxInt64),
		integer("internalDocumentSourceGroupMaxMemoryBytes", 100<<20, 1, math.MaxInt64),
		integer("internalDocumentSourceBucketAutoMaxMemoryBytes", 100<<20, 1, math.MaxInt64),
		integer("internalDocumentSourceSetWindowFieldsMaxMemoryBytes", 100<<20, 1, math.MaxInt64),
		integer("internalQueryFacetBufferSizeBytes", 100<<20, 1, math.MaxInt64),
		integer("internalQueryFacetMaxOutputDocSizeBytes", 100<<20, 1, math.MaxInt64),
		integer("internalLookupStageIntermediateDocumentMaxSizeBytes", 100<<20, kernel.MaxDocumentBytes, math.MaxInt64),
		integer("internalQueryMaxPushBytes", 100<<20, 1, math.MaxInt32),
		integer("internalQueryMaxAddToSetBytes", 100<<20, 1, math.MaxInt32),
		integer("internalQueryMaxRangeBytes", 100<<20, 1, math.MaxInt32),
		integer("internalQueryMaxMapReduceExpressionBytes", 100<<20, 1, math.MaxInt32),
		integer("internalQueryTopNAccumulatorBytes", 100<<20, 1, math.MaxInt32),
		integer("internalQueryExecYieldIterations", 1000, 0, math.MaxInt32),
		boolean("allowDiskUseByDefault", true, true),
		boolean("notablescan", false, true),
		boolean("enableTestCommands", false, false),
		requireAPI,
		heap,
		most,
		limit,
		boolean("acceptApiVersion2", false, false),
		boolean("quiet", false, true),
		{Name: "loadBalancerPort", Initial: value.Int32(0), Startup: true, Check: kernel.CheckInt("loadBalancerPort", 0, math.MaxUint16)},
		{Name: "diagnosticDataCollectionEnabled", Initial: value.Bool(false), Startup: true, Runtime: true, Check: kernel.CheckNoDiagnosticData},
		integer("syncdelay", 60, 0, 1<<20),
		integer("authFailedDelayMs", 0, 0, 5000),
		integer("scramIterationCount", 10000, 5000, math.MaxInt32),
		integer("scramSHA256IterationCount", 15000, 5000, math.MaxInt32),
		integer("localLogicalSessionTimeoutMinutes", 30, 1, math.MaxInt32),
		integer("logicalSessionRefreshMillis", 300000, 1, math.MaxInt32),
		boolean("enableLocalhostAuthBypass", true, false),
		boolean("honorSystemUmask", false, false),
		{Name: "processUmask", Initial: value.String(""), Startup: true, Check: kernel.CheckString("processUmask")},
		{Name: "authSchemaVersion", Initial: value.Int32(5), Check: kernel.CheckInt("authSchemaVersion", 5, 5)},
		{
			Name: "testClockStart", Initial: value.String(""), Startup: true,
			Check: kernel.CheckString("testClockStart"),
		},
		{
			Name: "authenticationMechanisms", Startup: true, Check: checkMechanisms,
			Initial: value.NewArray(value.String("SCRAM-SHA-1"), value.String("SCRAM-SHA-256"), value.String("MONGODB-X509")),
		},
		{
			Name: "featureCompatibilityVersion", Check: kernel.CheckString("featureCompatibilityVersion"),
			Initial: value.Document(value.NewDoc("version", value.String("8.0"))),
		},
	}...)
}

// checkMechanisms reads the list of mechanisms, also as comma-separated
// text.
func checkMechanisms(v value.Value) (value.Value, error) {
	if v.Kind() == value.KindArray {
		return v, nil
	}
	var names []value.Value
	for _, name := range splitList(v.Str()) {
		names = append(names, value.String(name))
	}
	return value.NewArray(names...), nil
}

// splitList splits comma-separated text.
func splitList(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}
