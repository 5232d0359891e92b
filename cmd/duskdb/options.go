package main

import "strings"

// kind is the type of an option's value, in the words of mongod's messages.
type kind string

const (
	boolean kind = "bool"
	integer kind = "int"
	number  kind = "double"
	text    kind = "string"
	list    kind = "list"
	mapping kind = "map"
)

// use says how DuskDB treats an option of mongod.
type use int

const (
	served  use = iota // it works as in mongod
	ignored            // accepted without effect
	refused            // the server does not start with it
)

// option is a setting of mongod 8.0 (Community): a key of its configuration
// file, a flag of its command line, or both. The source is MongoDB's manual,
// "Configuration File Settings and Command-Line Options Mapping".
type option struct {
	key  string // dotted key in the configuration file; "": command line only
	flag string // name on the command line; "": configuration file only
	kind kind
	use  use
	// parameter is the server parameter that the option sets; "": none. A flag
	// that is not in the table of flags needs it, or has no effect.
	parameter string
	note      string // reason for ignoring or refusing it, or how it differs
}

// Reasons that several options share.
const (
	noWiredTiger = "WiredTiger is not used: DuskDB has storage engines of its own"
	noMembers    = "there is only one member"
	noSharding   = "DuskDB has no sharding"
	oneFile      = "the storage engine decides which files there are"
	noInside     = "an internal setting of mongod"
	noKerberos   = "the logins that it is for are not offered"
)

// mongodOptions are all options of mongod, in the order of its manual.
var mongodOptions = []option{
	{key: "systemLog.verbosity", flag: "verbose", kind: integer},
	{key: "systemLog.quiet", flag: "quiet", kind: boolean},
	{key: "systemLog.traceAllExceptions", flag: "traceExceptions", kind: boolean, use: ignored, note: noInside},
	{key: "systemLog.syslogFacility", flag: "syslogFacility", kind: text, use: refused, note: "DuskDB does not log to syslog: log to standard error or to --logpath"},
	{key: "systemLog.path", flag: "logpath", kind: text},
	{key: "systemLog.logAppend", flag: "logappend", kind: boolean},
	{key: "systemLog.logRotate", flag: "logRotate", kind: text},
	{key: "systemLog.destination", kind: text, note: "file; syslog is refused"},
	{flag: "syslog", kind: boolean, use: refused, note: "DuskDB does not log to syslog: log to standard error or to --logpath"},
	{key: "systemLog.timeStampFormat", flag: "timeStampFormat", kind: text, use: ignored, note: "times are always in ISO 8601, with the time zone's offset"},
	{key: "systemLog.component", kind: mapping, parameter: "logComponentVerbosity"},

	{key: "processManagement.fork", flag: "fork", kind: boolean, note: "needs --logpath; not on Windows"},
	{key: "processManagement.pidFilePath", flag: "pidfilepath", kind: text},
	{key: "processManagement.timeZoneInfo", flag: "timeZoneInfo", kind: text, use: ignored, note: "the time zones are part of the binary"},

	{key: "net.port", flag: "port", kind: integer},
	{key: "net.bindIp", flag: "bind_ip", kind: text},
	{key: "net.bindIpAll", flag: "bind_ip_all", kind: boolean},
	{key: "net.maxIncomingConnections", flag: "maxConns", kind: integer},
	{key: "net.maxIncomingConnectionsOverride", kind: list, use: ignored, note: "maxIncomingConnections applies to every connection"},
	{key: "net.listenBacklog", flag: "listenBacklog", kind: integer, use: ignored, note: "the system's limit applies"},
	{key: "net.wireObjectCheck", kind: boolean, use: ignored, note: "requests are always checked"},
	{flag: "objcheck", kind: boolean, use: ignored, note: "requests are always checked"},
	{flag: "noobjcheck", kind: boolean, use: ignored, note: "requests are always checked"},
	{key: "net.ipv6", flag: "ipv6", kind: boolean, note: "--bind_ip accepts IPv6 addresses without it"},
	{key: "net.unixDomainSocket.enabled", kind: boolean},
	{flag: "nounixsocket", kind: boolean, use: ignored, note: "a Unix socket is created only if --unixSocketPrefix or --bind_ip names one"},
	{key: "net.unixDomainSocket.pathPrefix", flag: "unixSocketPrefix", kind: text, note: "no default; without it no Unix socket is created"},
	{key: "net.unixDomainSocket.filePermissions", flag: "filePermissions", kind: integer},
	{key: "net.compression.compressors", flag: "networkMessageCompressors", kind: text},
	{key: "net.grpcPort", flag: "grpcPort", kind: integer, use: refused, note: "DuskDB does not speak gRPC"},
	{key: "net.routerPort", flag: "routerPort", kind: integer, use: refused, note: noSharding},
	{key: "net.serviceExecutor", kind: text, use: ignored, note: noInside},
	{key: "net.transportLayer", kind: text, use: ignored, note: noInside},

	{key: "net.tls.mode", flag: "tlsMode", kind: text},
	{key: "net.tls.certificateKeyFile", flag: "tlsCertificateKeyFile", kind: text},
	{key: "net.tls.certificateKeyFilePassword", flag: "tlsCertificateKeyFilePassword", kind: text},
	{key: "net.tls.certificateSelector", flag: "tlsCertificateSelector", kind: text, use: refused, note: "certificates can only be read from files"},
	{key: "net.tls.clusterCertificateSelector", flag: "tlsClusterCertificateSelector", kind: text, use: ignored, note: noMembers},
	{key: "net.tls.clusterFile", flag: "tlsClusterFile", kind: text, use: ignored, note: noMembers},
	{key: "net.tls.clusterPassword", flag: "tlsClusterPassword", kind: text, use: ignored, note: noMembers},
	{key: "net.tls.CAFile", flag: "tlsCAFile", kind: text},
	{key: "net.tls.clusterCAFile", flag: "tlsClusterCAFile", kind: text, use: refused, note: "put the certificate authorities for clients into tlsCAFile"},
	{key: "net.tls.CRLFile", flag: "tlsCRLFile", kind: text},
	{key: "net.tls.allowConnectionsWithoutCertificates", flag: "tlsAllowConnectionsWithoutCertificates", kind: boolean},
	{key: "net.tls.allowInvalidCertificates", flag: "tlsAllowInvalidCertificates", kind: boolean, note: "a client with an invalid certificate can connect, but not log in with it"},
	{key: "net.tls.allowInvalidHostnames", flag: "tlsAllowInvalidHostnames", kind: boolean, use: ignored, note: noMembers},
	{key: "net.tls.disabledProtocols", flag: "tlsDisabledProtocols", kind: text},
	{key: "net.tls.tlsCipherConfig", flag: "tlsCipherConfig", kind: text, use: refused, note: "Go chooses the cipher suites"},
	{key: "net.tls.logVersions", flag: "tlsLogVersions", kind: text, use: ignored, note: "TLS versions are not logged"},
	{key: "net.tls.FIPSMode", flag: "tlsFIPSMode", kind: boolean, use: refused, note: "DuskDB has no FIPS mode"},
	{key: "net.tls.clusterAuthX509.attributes", flag: "tlsClusterAuthX509Attributes", kind: text, use: ignored, note: noMembers},
	{key: "net.tls.clusterAuthX509.extensionValue", flag: "tlsClusterAuthX509ExtensionValue", kind: text, use: ignored, note: noMembers},

	{key: "security.keyFile", flag: "keyFile", kind: text},
	{key: "security.clusterAuthMode", flag: "clusterAuthMode", kind: text, use: ignored, note: noMembers},
	{key: "security.authorization", kind: text},
	{flag: "auth", kind: boolean},
	{flag: "noauth", kind: boolean},
	{key: "security.transitionToAuth", flag: "transitionToAuth", kind: boolean, use: refused, note: "either all clients must log in or none"},
	{key: "security.javascriptEnabled", kind: boolean},
	{flag: "noscripting", kind: boolean},
	{key: "security.clusterIpSourceAllowlist", flag: "clusterIpSourceAllowlist", kind: list, use: ignored, note: noMembers},
	{key: "security.enableLocalhostAuthBypass", kind: boolean, parameter: "enableLocalhostAuthBypass"},
	{key: "security.authenticationMechanisms", kind: list, parameter: "authenticationMechanisms"},
	{key: "security.sasl.hostName", kind: text, use: ignored, note: noKerberos},
	{key: "security.sasl.serviceName", kind: text, use: ignored, note: noKerberos},
	{key: "security.sasl.saslauthdSocketPath", kind: text, use: ignored, note: noKerberos},
	{key: "security.authSchemaVersion", kind: integer, use: ignored, note: noInside},

	{key: "setParameter", flag: "setParameter", kind: mapping},
	{flag: "notablescan", kind: boolean, parameter: "notablescan"},

	{key: "storage.dbPath", flag: "dbpath", kind: text},
	{key: "storage.engine", flag: "storageEngine", kind: text, note: "bunt, pebble or postgres, see [storage engines](engines.md); wiredTiger stands for bunt"},
	{key: "storage.directoryPerDB", flag: "directoryperdb", kind: boolean, use: ignored, note: oneFile},
	{key: "storage.syncPeriodSecs", flag: "syncdelay", kind: number, parameter: "syncdelay"},
	{key: "storage.journal.commitIntervalMs", flag: "journalCommitInterval", kind: integer, parameter: "journalCommitInterval"},
	{key: "storage.journal.enabled", flag: "journal", kind: boolean, use: ignored, note: "the log is always written"},
	{flag: "nojournal", kind: boolean, use: refused, note: "the log is always written"},
	{key: "storage.oplogMinRetentionHours", flag: "oplogMinRetentionHours", kind: number},
	{key: "storage.queryableBackupMode", flag: "queryableBackupMode", kind: boolean, use: refused, note: "DuskDB has no read-only mode"},
	{key: "storage.groupCollections", flag: "groupCollections", kind: boolean, use: ignored, note: oneFile},
	{key: "storage.inMemory.engineConfig.inMemorySizeGB", flag: "inMemorySizeGB", kind: number, use: ignored, note: "use --memoryLimit"},
	{key: "storage.inMemory.engineConfig.statisticsLogDelaySecs", flag: "inMemoryStatisticsLogDelaySecs", kind: integer, use: ignored, note: "nothing is logged about the engine"},
	{key: "storage.restore", flag: "restore", kind: boolean, use: refused, note: "use duskdb restore"},
	{key: "storage.magicRestore", flag: "magicRestore", kind: boolean, use: refused, note: "use duskdb restore"},
	{flag: "repair", kind: boolean},
	{flag: "upgrade", kind: boolean, use: ignored, note: "data of older versions is read directly"},
	{key: "storage.wiredTiger.engineConfig.cacheSizeGB", flag: "wiredTigerCacheSizeGB", kind: number, use: ignored, note: "use --cacheSize with the engine pebble, else --memoryLimit"},
	{key: "storage.wiredTiger.engineConfig.statisticsLogDelaySecs", flag: "wiredTigerStatisticsLogDelaySecs", kind: integer, use: ignored, note: noWiredTiger},
	{key: "storage.wiredTiger.engineConfig.journalCompressor", flag: "wiredTigerJournalCompressor", kind: text, use: ignored, note: noWiredTiger},
	{key: "storage.wiredTiger.engineConfig.directoryForIndexes", flag: "wiredTigerDirectoryForIndexes", kind: boolean, use: ignored, note: oneFile},
	{key: "storage.wiredTiger.engineConfig.maxCacheOverflowFileSizeGB", flag: "wiredTigerMaxCacheOverflowFileSizeGB", kind: number, use: ignored, note: noWiredTiger},
	{key: "storage.wiredTiger.engineConfig.zstdCompressionLevel", flag: "zstdDefaultCompressionLevel", kind: integer, use: ignored, note: noWiredTiger},
	{key: "storage.wiredTiger.engineConfig.configString", flag: "wiredTigerEngineConfigString", kind: text, use: ignored, note: noWiredTiger},
	{key: "storage.wiredTiger.collectionConfig.blockCompressor", flag: "wiredTigerCollectionBlockCompressor", kind: text, use: ignored, note: noWiredTiger},
	{key: "storage.wiredTiger.collectionConfig.configString", flag: "wiredTigerCollectionConfigString", kind: text, use: ignored, note: noWiredTiger},
	{key: "storage.wiredTiger.indexConfig.prefixCompression", flag: "wiredTigerIndexPrefixCompression", kind: boolean, use: ignored, note: noWiredTiger},
	{key: "storage.wiredTiger.indexConfig.configString", flag: "wiredTigerIndexConfigString", kind: text, use: ignored, note: noWiredTiger},

	{key: "operationProfiling.mode", kind: text},
	{flag: "profile", kind: integer},
	{key: "operationProfiling.slowOpThresholdMs", flag: "slowms", kind: integer},
	{key: "operationProfiling.slowOpSampleRate", flag: "slowOpSampleRate", kind: number},
	{key: "operationProfiling.filter", flag: "profileFilter", kind: text, use: refused, note: "set it with the profile command"},

	{key: "replication.oplogSizeMB", flag: "oplogSize", kind: integer},
	{key: "replication.replSetName", kind: text},
	{flag: "replSet", kind: text},
	{key: "replication.serverless", flag: "serverless", kind: text, use: refused, note: "DuskDB has no tenants"},
	{key: "replication.enableMajorityReadConcern", flag: "enableMajorityReadConcern", kind: boolean, use: ignored, note: "it is always enabled"},

	{key: "sharding.clusterRole", kind: text, use: refused, note: noSharding},
	{key: "sharding.archiveMovedChunks", flag: "moveParanoia", kind: boolean, use: ignored, note: noSharding},
	{flag: "noMoveParanoia", kind: boolean, use: ignored, note: noSharding},
	{flag: "configsvr", kind: boolean, use: refused, note: noSharding},
	{flag: "shardsvr", kind: boolean, use: refused, note: noSharding},
	{flag: "maintenanceMode", kind: text, use: refused, note: "stop the server and start it without --replSet"},

	{key: "cloud.monitoring.free.state", flag: "enableFreeMonitoring", kind: text, use: ignored, note: "no data is sent to MongoDB"},
	{key: "cloud.monitoring.free.tags", flag: "freeMonitoringTag", kind: list, use: ignored, note: "no data is sent to MongoDB"},

	{flag: "cpu", kind: boolean, use: ignored, note: "see --metricsPprof"},
	{flag: "sysinfo", kind: boolean, use: refused, note: "use the command hostInfo"},
	{flag: "outputConfig", kind: boolean, use: refused, note: "use the command getCmdLineOpts"},
	{flag: "configExpand", kind: text, use: refused, note: "values are used as they are written"},
	{flag: "shutdown", kind: boolean},
}

// deprecatedKeys are former names of keys that mongod 8.0 still reads.
var deprecatedKeys = map[string]string{
	"net.ssl.PEMKeyFile":                          "net.tls.certificateKeyFile",
	"net.ssl.PEMKeyPassword":                      "net.tls.certificateKeyFilePassword",
	"net.ssl.CAFile":                              "net.tls.CAFile",
	"net.ssl.CRLFile":                             "net.tls.CRLFile",
	"net.ssl.clusterFile":                         "net.tls.clusterFile",
	"net.ssl.clusterPassword":                     "net.tls.clusterPassword",
	"net.ssl.clusterCAFile":                       "net.tls.clusterCAFile",
	"net.ssl.allowConnectionsWithoutCertificates": "net.tls.allowConnectionsWithoutCertificates",
	"net.ssl.allowInvalidCertificates":            "net.tls.allowInvalidCertificates",
	"net.ssl.allowInvalidHostnames":               "net.tls.allowInvalidHostnames",
	"net.ssl.disabledProtocols":                   "net.tls.disabledProtocols",
	"net.ssl.FIPSMode":                            "net.tls.FIPSMode",
	"net.ssl.mode":                                "net.tls.mode", // with allowSSL, preferSSL, requireSSL
	"net.ssl.sslCipherConfig":                     "net.tls.tlsCipherConfig",
	"net.ssl.certificateSelector":                 "net.tls.certificateSelector",
	"net.ssl.clusterCertificateSelector":          "net.tls.clusterCertificateSelector",
	"net.ssl.weakCertificateValidation":           "net.tls.allowConnectionsWithoutCertificates",
	"net.tls.weakCertificateValidation":           "net.tls.allowConnectionsWithoutCertificates",
	"security.clusterIpSourceWhitelist":           "security.clusterIpSourceAllowlist",
}

// deprecatedFlags are former names of flags that mongod 8.0 still reads.
var deprecatedFlags = map[string]string{
	"sslMode":                                "tlsMode", // with allowSSL, preferSSL, requireSSL
	"sslOnNormalPorts":                       "tlsMode=requireTLS",
	"tlsOnNormalPorts":                       "tlsMode=requireTLS",
	"sslPEMKeyFile":                          "tlsCertificateKeyFile",
	"sslPEMKeyPassword":                      "tlsCertificateKeyFilePassword",
	"sslCAFile":                              "tlsCAFile",
	"sslCRLFile":                             "tlsCRLFile",
	"sslClusterFile":                         "tlsClusterFile",
	"sslClusterPassword":                     "tlsClusterPassword",
	"sslClusterCAFile":                       "tlsClusterCAFile",
	"sslCipherConfig":                        "tlsCipherConfig",
	"sslDisabledProtocols":                   "tlsDisabledProtocols",
	"sslAllowConnectionsWithoutCertificates": "tlsAllowConnectionsWithoutCertificates",
	"sslWeakCertificateValidation":           "tlsAllowConnectionsWithoutCertificates",
	"tlsWeakCertificateValidation":           "tlsAllowConnectionsWithoutCertificates",
	"sslAllowInvalidCertificates":            "tlsAllowInvalidCertificates",
	"sslAllowInvalidHostnames":               "tlsAllowInvalidHostnames",
	"sslCertificateSelector":                 "tlsCertificateSelector",
	"sslClusterCertificateSelector":          "tlsClusterCertificateSelector",
	"sslFIPSMode":                            "tlsFIPSMode",
	"clusterIpSourceWhitelist":               "clusterIpSourceAllowlist",
	"dur":                                    "journal",
	"nodur":                                  "nojournal",
}

// presentFlag gives a flag of the command line its present name.
func presentFlag(arg string) string {
	name, value, valued := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
	now, old := deprecatedFlags[name]
	switch {
	case !old || !strings.HasPrefix(arg, "--"):
		return arg
	case valued:
		return "--" + now + "=" + presentMode(value)
	}
	return "--" + now
}

// presentMode gives the value of sslMode its present name.
func presentMode(value string) string {
	switch value {
	case "allowSSL", "preferSSL", "requireSSL":
		return strings.TrimSuffix(value, "SSL") + "TLS"
	}
	return value
}

// duskdbKeys are the keys of DuskDB's own section of the configuration file.
var duskdbKeys = []option{
	{key: "duskdb.testClock", flag: "test-clock", kind: boolean},
	{key: "duskdb.exitWithStdin", flag: "exit-with-stdin", kind: boolean},
	{key: "duskdb.mongodbVersion", flag: "mongodbVersion", kind: text},
	{key: "duskdb.advertiseHost", flag: "advertiseHost", kind: text},
	{key: "duskdb.cacheSize", flag: "cacheSize", kind: text},
	{key: "duskdb.storageURI", flag: "storageURI", kind: text},
	{key: "duskdb.memoryLimit", flag: "memoryLimit", kind: text},
	{key: "duskdb.metricsPort", flag: "metricsPort", kind: integer},
	{key: "duskdb.metricsBindIp", flag: "metricsBindIp", kind: text},
	{key: "duskdb.metricsPprof", flag: "metricsPprof", kind: boolean},
	{key: "duskdb.consolePort", flag: "consolePort", kind: integer},
	{key: "duskdb.consoleBindIp", flag: "consoleBindIp", kind: text},
	{key: "duskdb.consoleHosts", flag: "consoleHost", kind: list},
	{key: "duskdb.consoleReadOnly", flag: "consoleReadOnly", kind: boolean},
	{key: "duskdb.initdb", flag: "initdb", kind: text},
	{key: "duskdb.logFormat", flag: "logFormat", kind: text},
}
