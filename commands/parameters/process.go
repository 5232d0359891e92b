package parameters

import (
	"slices"

	"github.com/duskdb/duskdb/value"
)

// processParameters are those of the process: its memory, its threads, and what it reports.
func processParameters() []parameter {
	return slices.Concat(without("there is no FTDC: see the metrics", []parameter{
		boolean("diagnosticDataCollectionEnabled", always, true),
		integer("diagnosticDataCollectionDirectorySizeMB", always, 400, gte(10)),
		boolean("diagnosticDataCollectionEnableLatencyHistograms", always, false),
		integer("diagnosticDataCollectionFileSizeMB", always, 10, gte(1)),
		integer("diagnosticDataCollectionPeriodMillis", always, 1000, gte(100)),
		integer("diagnosticDataCollectionSamplesPerChunk", always, 300, gte(2)),
		integer("diagnosticDataCollectionSamplesPerInterimUpdate", always, 10, gte(2)),
		boolean("diagnosticDataCollectionVerboseTCMalloc", always, false),
	}), without("the Go runtime allocates the memory", []parameter{
		long("heapProfilingSampleIntervalBytes", atStart, 256<<10, gte(0)),
		boolean("heapProfilingEnabled", atStart, false),
		boolean("lockCodeSegmentsInMemory", atStart, false),
		boolean("tcmallocAggressiveMemoryDecommit", always, false),
		boolean("tcmallocEnableBackgroundThread", atStart, true),
		long("tcmallocMaxPerCPUCacheSize", always, 0, gte(0)),
		long("tcmallocMaxTotalThreadCacheBytes", always, 1<<30, gte(0)),
		double("tcmallocReleaseRate", always, 0, gte(0)),
	}), without("the JavaScript engine is another one", []parameter{
		boolean("disableJavaScriptJIT", always, true),
		boolean("javascriptProtection", always, false),
	}), without("each is an internal setting of mongod", []parameter{
		boolean("aggregateOperationResourceConsumptionMetrics", atStart, false),
		line("disabledSecureAllocatorDomains", atStart, value.NewArray(), checkList),
		boolean("enableDetailedConnectionHealthMetricLogLines", always, true),
		integer("maxBSONDepth", atStart, 200, gte(32), lte(250)),
		boolean("profileOperationResourceConsumptionMetrics", atStart, false),
		boolean("redactEncryptedFields", always, true),
		boolean("reportOpWriteConcernCountersInServerStatus", atStart, false),
		boolean("startupAuthSchemaValidation", atStart, true),
		integer("shutdownTimeoutMillisForSignaledShutdown", always, 15_000, gte(0)),
		boolean("traceExceptions", atRunTime, false),
		boolean("traceWriteConflictExceptions", always, false),
		integer("watchdogPeriodSeconds", always, -1),
	}))
}
