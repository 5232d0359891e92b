package parameters

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/script"
	"github.com/duskdb/duskdb/value"
)

// New makes the parameters of a server, with their initial values.
func New(s *kernel.Service) *kernel.Parameters {
	p := &kernel.Parameters{Svc: s, Missing: Missing, Lines: map[string]*kernel.Parameter{}, Values: map[string]*atomic.Pointer[value.Value]{}}
	for _, line := range Table() {
		line := line
		cell := &atomic.Pointer[value.Value]{}
		cell.Store(&line.Initial)
		p.Lines[line.Name], p.Values[line.Name] = &line, cell
		if line.Former != "" { // another name of the same value
			former := line
			former.Name = line.Former
			p.Lines[line.Former], p.Values[line.Former] = &former, cell
		}
	}
	if !s.Options.Dialect.Has(dialect.BuildInfoLogin) {
		open := value.String(kernel.OpenToStrangers)
		p.Values[kernel.BuildInfoMode].Store(&open)
	}
	return p
}

// metricsCollections bounds the collections that have metrics of their own.
const metricsCollections = "metricsMaxCollections"

// Table lists every server parameter: those of mongod, with its names and defaults, and
// DuskDB's own.
func Table() []kernel.Parameter {
	list := slices.Concat(kernel.LogParameters(), kernel.EstablishmentParameters(), kernel.TLSParameters(), []kernel.Parameter{kernel.FeatureVersionParameter()})
	for _, of := range [][]parameter{
		expiryParameters(), commandParameters(), memoryParameters(), queryStatsParameters(), serverParameters(), noEffectParameters(),
	} {
		for _, p := range of {
			list = append(list, kernel.Parameter(p))
		}
	}
	return list
}

// expiryParameters are those of the expiry of documents. documentTtl* (semantics.md §4.2) and
// metricsMaxCollections are DuskDB's own.
func expiryParameters() []parameter {
	return []parameter{
		boolean("documentTtlStrictTsOnly", always, false),
		boolean("documentTtlTsIndex", atStart, true),
		integer("documentTtlPurgeYieldThreshold", always, 64, gte(0)),
		boolean("enableTestClock", atStart, false),
		integer(metricsCollections, always, 200, gte(0), lte(100_000)).onChange(func(s *kernel.Service, v value.Value) {
			if s.Monitor != nil {
				s.Monitor.Metrics().CountCollections(int(v.SafeInt64()))
			}
		}),
		text("testClockStart", atStart, ""),
		long("ttlIndexDeleteTargetDocs", always, 50_000, gte(0)),
		integer("ttlIndexDeleteTargetTimeMS", always, 1000, gte(0)),
		boolean("ttlMonitorBatchDeletes", always, true),
		boolean("ttlMonitorEnabled", always, true),
		integer("ttlMonitorSleepSecs", always, 60, gt(0)).onChange(func(s *kernel.Service, _ value.Value) {
			if s.Monitor != nil {
				s.Monitor.ParametersChanged()
			}
		}),
		integer("ttlMonitorSubPassTargetSecs", always, 60, gte(0)),
	}
}

// commandParameters are those that commands obey.
func commandParameters() []parameter {
	return []parameter{
		boolean("acceptApiVersion2", atStart, false),
		boolean("allowDiskUseByDefault", always, true),
		line("automationServiceDescriptor", always, value.String(""), checkDescriptor),
		long("cursorTimeoutMillis", always, 600_000),
		boolean("enableTestCommands", atStart, false),
		integer("internalQueryJavaScriptFnTimeoutMillis", always, script.DefaultTimeout, gt(0)).
			onChange(func(s *kernel.Service, v value.Value) { s.Scripts.TimeoutMS.Store(v.SafeInt64()) }),
		integer("localLogicalSessionTimeoutMinutes", always, 30, gte(1)),
		integer("maxSessions", atStart, session.DefaultMax, gt(0)).onChange(func(s *kernel.Service, v value.Value) { s.Sessions.Max = int(v.SafeInt64()) }),
		boolean("notablescan", always, false),
		boolean("requireApiVersion", always, false).onChange(func(s *kernel.Service, v value.Value) { s.RequireAPI.Store(v.Truthy()) }),
		integer("transactionLifetimeLimitSeconds", always, 60, gte(1)),
	}
}

// memoryParameters limit the memory of a command.
func memoryParameters() []parameter {
	return []parameter{
		long("internalDocumentSourceBucketAutoMaxMemoryBytes", always, 100<<20, gt(0)),
		long("internalDocumentSourceGroupMaxMemoryBytes", always, 100<<20, gt(0)),
		long("internalDocumentSourceSetWindowFieldsMaxMemoryBytes", always, 100<<20, gt(0)),
		long("internalLookupStageIntermediateDocumentMaxSizeBytes", always, 100<<20, gte(kernel.MaxDocumentBytes)),
		long("internalQueryFacetBufferSizeBytes", always, 100<<20, gt(0)),
		long("internalQueryFacetMaxOutputDocSizeBytes", always, 100<<20, gt(0)),
		integer("internalQueryJavaScriptHeapSizeLimitMB", always, script.DefaultHeapLimitMB, gte(1)).
			onChange(func(s *kernel.Service, v value.Value) { s.Scripts.HeapLimitMB.Store(v.SafeInt64()) }),
		long("internalQueryMaxAddToSetBytes", always, 100<<20, gt(0)),
		long("internalQueryMaxBlockingSortMemoryUsageBytes", always, 100<<20, gte(0)),
		integer("internalQueryMaxConcatArraysBytes", always, 100<<20, gt(0)),
		integer("internalQueryMaxMapReduceExpressionBytes", always, 100<<20, gt(0)),
		integer("internalQueryMaxPushBytes", always, 100<<20, gt(0)),
		integer("internalQueryMaxRangeBytes", always, 100<<20, gt(0)),
		integer("internalQueryMaxSetUnionBytes", always, 100<<20, gt(0)),
		integer("internalQueryTopNAccumulatorBytes", always, 100<<20, gt(0)),
		integer("jsHeapLimitMB", always, 1100, gte(1)).
			onChange(func(s *kernel.Service, v value.Value) { s.Scripts.MaxHeapMB.Store(v.SafeInt64()) }),
		long("transactionSizeLimitBytes", always, 128<<20, gte(1)),
	}
}

// serverParameters are those of the process, its files and its connections.
func serverParameters() []parameter {
	return []parameter{
		line("authenticationMechanisms", atStart, value.NewArray(value.String("SCRAM-SHA-1"), value.String("SCRAM-SHA-256"), value.String("MONGODB-X509")), checkList),
		integer("authFailedDelayMs", always, 0, gte(0), lte(5000)),
		line(kernel.BuildInfoMode, always, value.String(kernel.NeedsLogin), checkBuildInfoMode),
		integer("authSchemaVersion", never, 5, gte(5), lte(5)),
		boolean("enableLocalhostAuthBypass", atStart, true),
		boolean("honorSystemUmask", atStart, false),
		integer("loadBalancerPort", atStart, 0, gte(0), lte(math.MaxUint16)),
		text("processUmask", atStart, ""),
		boolean("quiet", always, false),
		integer("scramIterationCount", always, 10_000, gte(5000)),
		integer("scramSHA256IterationCount", always, 15_000, gte(5000)),
	}
}

func checkBuildInfoMode(v value.Value) (value.Value, error) {
	const name = kernel.BuildInfoMode
	switch v.Str() {
	case kernel.NeedsLogin, kernel.VersionOnly, kernel.OpenToStrangers:
		return v, nil
	}
	return v, mongoerr.Newf(mongoerr.BadValue, "Invalid value for Server Parameter: '%s' :: caused by :: Enumeration value '%s' for field '%[1]s' is not a valid value.", name, v.Str())
}

// checkDescriptor checks the text with which programs that manage servers mark theirs; hello
// shows it.
func checkDescriptor(v value.Value) (value.Value, error) {
	const limit = 64
	if v.Kind() != value.KindString {
		return v, mongoerr.New(mongoerr.TypeMismatch, "Value for parameter automationServiceDescriptor must be of type 'string'")
	}
	if len(v.Str()) > limit {
		return v, mongoerr.Newf(mongoerr.Overflow, "Value for parameter automationServiceDescriptor must be no more than %d bytes", limit)
	}
	return v, nil
}

// checkList reads a list, also as comma-separated text.
func checkList(v value.Value) (value.Value, error) {
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
