package parameters

import "slices"

// engineParameters are those of WiredTiger, of its tickets and of its checkpoints.
func engineParameters() []parameter {
	return without("WiredTiger is not used: DuskDB has storage engines of its own", []parameter{
		boolean("allowUnsafeUntimestampedWrites", atStart, false),
		integer("collectionSamplingLogIntervalSeconds", always, 10, gte(0)).also("oplogSamplingLogIntervalSeconds"),
		boolean("enableAutoCompaction", atStart, false),
		integer("lowPriorityAdmissionBypassThreshold", always, 500, gte(0)),
		boolean("maintainValidCursorsAcrossSBEReadCommands", atStart, false),
		boolean("maintainValidCursorsAcrossSBEYield", atStart, false),
		long("maxOplogTruncationPointsAfterStartup", atStart, 100, gte(0)),
		long("maxOplogTruncationPointsDuringStartup", atStart, 100, gte(0)),
		long("minOplogTruncationPoints", atStart, 10, gte(1)),
		integer("minSnapshotHistoryWindowInSeconds", always, 300, gte(0)),
		integer("operationMemoryPoolBlockInitialSizeKB", always, 1, gte(1)),
		integer("operationMemoryPoolBlockMaxSizeKB", always, 2048, gte(1)),
		integer("oplogTruncationPointSizeMB", atStart, 0),
		text("storageEngineConcurrencyAdjustmentAlgorithm", always, "throughputProbing", "throughputProbing", "fixedConcurrentTransactions"),
		integer("storageEngineConcurrencyAdjustmentIntervalMillis", always, 100, gte(1)),
		integer("storageEngineConcurrentReadTransactions", always, 0, gt(0)).also("wiredTigerConcurrentReadTransactions"),
		integer("storageEngineConcurrentWriteTransactions", always, 0, gt(0)).also("wiredTigerConcurrentWriteTransactions"),
		boolean("storageGlobalParams.directoryperdb", never, false),
		boolean("takeUnstableCheckpointOnShutdown", atStart, false),
		integer("temporarilyUnavailableBackoffBaseMs", always, 1000, gte(0)),
		integer("temporarilyUnavailableMaxRetries", always, 10, gte(0)),
		integer("throughputProbingInitialConcurrency", atStart, 0, gte(0)),
		double("throughputProbingConcurrencyMovingAverageWeight", always, 0.2, gt(0), lte(1)),
		integer("throughputProbingMaxConcurrency", always, 128, gt(0)),
		integer("throughputProbingMinConcurrency", always, 4, gte(1)),
		double("throughputProbingReadWriteRatio", always, 0.5, gte(0), lte(1)),
		double("throughputProbingStepMultiple", always, 0.1, gt(0), lte(1)),
		double("transactionTooLargeForCacheThreshold", always, 0.75, gte(0), lte(1)),
		integer("wiredTigerCursorCacheSize", always, -100, lte(0)),
		text("wiredTigerEngineRuntimeConfig", atRunTime, ""),
		integer("wiredTigerFileHandleCloseIdleTime", atStart, 600, gte(1)),
		integer("wiredTigerFileHandleCloseMinimum", atStart, 2000, gte(0)),
		integer("wiredTigerFileHandleCloseScanInterval", atStart, 10, gte(1)),
		double("wiredTigerMaxCacheOverflowSizeGB", atRunTime, 0, gte(0)),
		integer("wiredTigerSessionCloseIdleTimeSecs", always, 300, gte(0)),
		boolean("wiredTigerSkipTableLoggingChecksDuringValidation", atStart, false),
		boolean("wiredTigerSkipTableLoggingChecksOnStartup", atStart, false),
	})
}

// writeParameters are those of writes, of building indexes and of the log of changes.
func writeParameters() []parameter {
	return slices.Concat(without("index builds need no memory or disk of their own", []parameter{
		boolean("enableIndexBuildCommitQuorum", always, true),
		integer("indexBuildMinAvailableDiskSpaceMB", always, 500, gte(0), lte(8_000_000)),
		integer("internalIndexBuildBulkLoadYieldIterations", always, 1000, gte(1)),
		integer("maxIndexBuildDrainBatchSize", always, 1000, gte(1)),
		integer("maxIndexBuildDrainMemoryUsageMegabytes", always, 16, gte(1)),
		integer("maxIndexBuildMemoryUsageMegabytes", always, 200, gte(50)),
		integer("maxNumActiveUserIndexBuilds", always, 3, gte(0)),
		integer("resumableIndexBuildMajorityOpTimeTimeoutMillis", always, 10_000, gte(0)),
		boolean("useReadOnceCursorsForIndexBuilds", always, true),
	}), without("writes are made as DuskDB's storage engines make them", []parameter{
		integer("batchedDeletesTargetBatchDocs", always, 10, gte(0)),
		integer("batchedDeletesTargetBatchTimeMS", always, 5, gte(0)),
		long("batchedDeletesTargetStagedDocBytes", always, 2<<20, gte(0)),
		boolean("bypassDocumentValidationDuringRestore", always, false),
		integer("indexMaxNumGeneratedKeysPerDocument", atStart, 100_000, gte(200)),
		integer("maxNumberOfBatchedOperationsInSingleOplogEntry", atStart, 2147483647, gte(1)),
		integer("maxNumberOfInsertsBatchInsertsForRenameAcrossDatabases", always, 500, gte(1), lte(16<<20)),
		integer("maxNumberOfTransactionOperationsInSingleOplogEntry", atStart, 2147483647, gte(1)),
		integer("maxSizeOfBatchedInsertsForRenameAcrossDatabasesBytes", always, 4<<20, gte(1), lte(16<<20)),
		integer("maxSizeOfBatchedOperationsInSingleOplogEntryBytes", atStart, 16<<20, gte(1)),
		integer("upsertMaxRetryAttemptsOnDuplicateKeyError", always, 100, gte(0)),
	}), without("pre-images expire with the document that they belong to", []parameter{
		integer("expiredChangeStreamPreImageRemovalJobSleepSecs", always, 10, gte(1)),
		integer("preImagesCollectionTruncateMarkersMinBytes", atStart, 32<<20, gte(1)),
	}), without("validate reads what it needs", []parameter{
		integer("maxValidateMBperSec", always, 0, gte(0)),
		integer("maxValidateMemoryUsageMB", always, 200, gt(0)),
	}), without("measurements are stored in DuskDB's own form", []parameter{
		boolean("performTimeseriesCompressionIntermediateDataIntegrityCheckOnInsert", always, false),
		boolean("performTimeseriesCompressionIntermediateDataIntegrityCheckOnReopening", always, true),
		integer("timeseriesBucketMaxCount", atStart, 1000, gte(1), lte(20_000)),
		integer("timeseriesBucketMaxSize", atStart, 128_000, gte(1)),
		integer("timeseriesBucketMinCount", atStart, 10, gte(1)),
		integer("timeseriesBucketMinSize", always, 5<<10, gte(1)),
		long("timeseriesIdleBucketExpiryMemoryUsageThreshold", always, 5),
		integer("timeseriesIdleBucketExpiryMaxCountPerAttempt", atStart, 3, gte(2)),
		integer("timeseriesInsertMaxRetriesOnDuplicates", always, 32, gte(1)),
		integer("timeseriesLargeMeasurementThreshold", always, 32, gte(0)),
		long("timeseriesSideBucketCatalogMemoryUsageThreshold", always, 100<<20),
		boolean("timeseriesValidateCompressedBuckets", always, true),
	}))
}

// transactionParameters are those of transactions and of sessions.
func transactionParameters() []parameter {
	return without("transactions and sessions take no locks and no threads", []parameter{
		integer("AbortExpiredTransactionsSessionCheckoutTimeout", always, 100, gte(0)),
		boolean("disableLogicalSessionCacheRefresh", atStart, false),
		integer("internalSessionsReapThreshold", always, 1000, gte(0)),
		integer("TransactionRecordMinimumLifetimeMinutes", atStart, 30, gte(1)),
	})
}
