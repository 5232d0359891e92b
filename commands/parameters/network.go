package parameters

import "slices"

// networkParameters are those of connections, in and out, and of TLS.
func networkParameters() []parameter {
	return slices.Concat(without("the server opens no connections to other servers", []parameter{
		integer("connPoolMaxConnsPerHost", atStart, 200),
		integer("connPoolMaxInUseConnsPerHost", atStart, 2147483647),
		boolean("httpVerboseLogging", atStart, false),
		boolean("tcpFastOpenClient", atStart, true),
		boolean("tlsWithholdClientCertificate", atStart, false).also("sslWithholdClientCertificate"),
		text("tlsX509ClusterAuthDNOverride", always, ""),
		document("tlsClusterAuthX509Override", atStart, `{}`),
	}), without("the Go runtime serves the connections", []parameter{
		document("maxIncomingConnectionsOverride", atRunTime, `{"ranges": []}`),
		boolean("pessimisticConnectivityCheckForAcceptedConnections", always, false),
		integer("reservedServiceExecutorRecursionLimit", always, 8, gte(1)),
		integer("slowConnectionThresholdMillis", always, 100, gte(0)),
		integer("synchronousServiceExecutorRecursionLimit", always, 8, gte(1)),
		integer("tcpFastOpenQueueSize", atStart, 1024, gt(0)),
		boolean("tcpFastOpenServer", atStart, true),
	}), without("requests are not queued before they begin", []parameter{
		integer("ingressAdmissionControllerMaxQueueDepth", always, 2147483647, gte(0)),
		integer("ingressAdmissionControllerTicketPoolSize", always, 1_000_000, gte(0)),
		boolean("ingressAdmissionControlEnabled", always, true),
		double("ingressRequestAdmissionBurstCapacitySecs", always, 2147483647, gt(0)),
		integer("ingressRequestAdmissionRatePerSec", always, 2147483647, gt(0)),
		boolean("ingressRequestRateLimiterEnabled", always, false),
	}), without("OCSP is not used", []parameter{
		integer("ocspCacheSize", atStart, 300, gt(0)),
		boolean("ocspEnabled", atStart, true),
		long("ocspStaplingRefreshPeriodSecs", atStart, -1, gte(1)).also("ocspValidationRefreshPeriodSecs"),
		integer("tlsOCSPSlowResponderWarningSecs", atStart, 5, gte(1)),
		integer("tlsOCSPStaplingTimeoutSecs", atStart, -1, gte(1)),
		integer("tlsOCSPVerifyTimeoutSecs", atStart, 4, gte(1)),
	}), without("there is no search server", []parameter{
		text("mongotHost", atStart, ""),
		text("searchIndexManagementHostAndPort", atStart, ""),
		text("searchTLSMode", atStart, "globalTLS", "globalTLS", "disabled", "allowTLS", "preferTLS", "requireTLS"),
		boolean("skipAuthenticationToMongot", atStart, false),
		boolean("skipAuthenticationToSearchIndexManagementServer", atStart, false),
		boolean("useGrpcForSearch", atStart, false),
	}), without("the Go library chooses the cipher suites, and the log does not warn", []parameter{
		boolean("disableNonTLSConnectionLogging", atStart, false).also("disableNonSSLConnectionLogging"),
		text("opensslCipherConfig", atStart, ""),
		text("opensslCipherSuiteConfig", atStart, ""),
		text("opensslDiffieHellmanParameters", atStart, ""),
		boolean("suppressNoTLSPeerCertificateWarning", atStart, false),
		integer("tlsX509ExpirationWarningThresholdDays", atStart, 30, gte(0)),
	}))
}

// accessParameters are those of logins and of the cache of users.
func accessParameters() []parameter {
	return slices.Concat(without("the login that they are for is not offered", []parameter{
		boolean("allowRolesFromX509Certificates", atStart, true),
		boolean("enforceUserClusterSeparation", atStart, true),
		text("saslauthdPath", atStart, ""),
		text("saslHostName", atStart, ""),
		text("saslServiceName", atStart, ""),
		text("tlsCATrusts", atStart, ""),
	}), without("users are read again when they change", []parameter{
		integer("authorizationManagerCacheSize", atStart, 100, gte(0)),
		boolean("roleGraphInvalidationIsFatal", always, false).forTests(),
		integer("userCacheInvalidationIntervalSecs", always, 30, gte(1), lte(86_400)),
	}))
}
