package parameters

import "strings"

// Missing says why mongod, too, refuses a parameter at the start; "" if it says nothing but
// that it does not know it.
func Missing(name string) string {
	for reason, names := range missing {
		for known := range strings.FieldsSeq(names) {
			if known == name {
				return reason
			}
		}
	}
	return ""
}

// missing are parameters that the Community edition of mongod 8.0 does not have, by the reason.
var missing = map[string]string{
	"MongoDB Enterprise has it": `
		auditAuthorizationSuccess auditConfigPollingFrequencySecs auditEncryptionHeaderMetadataFile
		auditEncryptKeyWithKMIPGet awsSTSRetryCount JWKSMinimumQuiescePeriodSecs
		ldapConnectionPoolHostRefreshIntervalMillis ldapConnectionPoolIdleHostTimeoutSecs
		ldapConnectionPoolMaximumConnectionsInProgressPerHost ldapConnectionPoolMaximumConnectionsPerHost
		ldapConnectionPoolMinimumConnectionsPerHost ldapConnectionPoolUseLatencyForHostPriority
		ldapDebug ldapForceMultiThreadMode ldapQueryPassword ldapQueryUser ldapRetryCount ldapServers
		ldapShouldRefreshUserCacheEntries ldapTimeoutMS ldapUserCacheInvalidationInterval
		ldapUserCacheRefreshInterval ldapUserCacheStalenessInterval ldapUserToDNMapping
		ldapUseConnectionPool ldapValidateLDAPServerConfig oidcIdentityProviders`,
	"mongos has it": `
		activeFaultDurationSecs healthMonitoringIntensities healthMonitoringIntervals
		loadRoutingTableOnStartup maxTimeMSForHedgedReads mongosShutdownTimeoutMillisForSignaledShutdown
		opportunisticSecondaryTargeting progressMonitor readHedgingMode
		warmMinConnectionsInShardingTaskExecutorPoolOnStartup
		warmMinConnectionsInShardingTaskExecutorPoolOnStartupWaitMS`,
	"MongoDB has removed it": `
		cloudFreeMonitoringEndpointURL enableFinerGrainedCatalogCacheRefresh failIndexKeyTooLong
		internalProhibitShardOperationRetry internalQueryAlwaysMergeOnPrimaryShard
		internalQueryCacheFeedbacksStored internalQueryEnableCascadesOptimizer
		internalQueryExecMaxBlockingSortBytes internalQueryForceClassicEngine
		newCollectionsUsePowerOf2Sizes
		opensslFIPSMode
		storageEngineQueueingPolicy storeFindAndModifyImagesInSideCollection
		supportCompatibilityFormPrivilegeDocuments textSearchEnabled
		wiredTigerPrefixSearchForUniqueIndexes`,
}
