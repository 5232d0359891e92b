package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/server"
)

// form is a way to start mongod that is often seen: in compose files, images, scripts of CI,
// roles of Ansible and packages.
type form struct {
	args   string // DIR, KEY, PEM and CONF stand for paths
	config string // text of CONF
	want   string // error, mongod's reason; "": it starts
}

var forms = []form{
	// Command lines of containers and of compose files.
	{args: "mongod"},
	{args: "mongod --auth"},
	{args: "mongod --noauth"},
	{args: "--bind_ip_all"},
	{args: "mongod --bind_ip 0.0.0.0"},
	{args: "mongod --replSet rs0 --bind_ip_all"},
	{args: "mongod --replSet rs0 --bind_ip localhost,127.0.0.1"},
	{args: "--replSet rs0 --bind_ip 127.0.0.1,localhost --port 0 --dbpath DIR"},
	{args: "--replSet rs0 --keyFile KEY --bind_ip_all"},
	{args: "mongod --replSet=rs0 --keyFile=KEY --auth --bind_ip=0.0.0.0 --port=0"},
	{args: "mongod --wiredTigerCacheSizeGB 1.5 --oplogSize 128 --replSet rs0"},
	{args: "mongod --oplogSize 128 --replSet rs0 --storageEngine=wiredTiger"},
	{args: "--wiredTigerCacheSizeGB 0.25 --quiet --logpath /dev/null"},
	{args: "mongod --storageEngine inMemory --inMemorySizeGB 1"},
	{args: "mongod --storageEngine ephemeralForTest --dbpath DIR"},
	{args: "--dbpath DIR --port 0 --nounixsocket --ipv6 --bind_ip ::1,localhost"},
	{args: "--replSet rs0 --slowOpSampleRate 0 --setParameter ttlMonitorEnabled=false --setParameter diagnosticDataCollectionEnabled=false --setParameter logicalSessionRefreshMillis=6000000 --setParameter enableFlowControl=false --setParameter oplogFetcherUsesExhaust=false --setParameter disableResumableRangeDeleter=true --setParameter enableShardedIndexConsistencyCheck=false --setParameter enableFinerGrainedCatalogCacheRefresh=false",
		want: "Unknown --setParameter 'enableFinerGrainedCatalogCacheRefresh': MongoDB has removed it"},
	{args: "--replSet rs --slowOpSampleRate 0 --setParameter enableFlowControl=false --setParameter oplogFetcherUsesExhaust=false --setParameter periodicNoopIntervalSecs=1 --setParameter shutdownTimeoutMillisForSignaledShutdown=100"},
	{args: "mongod --setParameter maxIndexBuildMemoryUsageMegabytes=500 --setParameter connPoolMaxConnsPerHost=100"},
	{args: "mongod --setParameter internalQueryMaxBlockingSortMemoryUsageBytes=335544320 --setParameter internalQueryFrameworkControl=forceClassicEngine"},
	{args: "mongod --setParameter wiredTigerConcurrentReadTransactions=256 --setParameter wiredTigerConcurrentWriteTransactions=256"},
	{args: "mongod --setParameter authenticationMechanisms=SCRAM-SHA-1,SCRAM-SHA-256 --auth"},
	{args: "mongod --setParameter transactionLifetimeLimitSeconds=300 --setParameter maxTransactionLockRequestTimeoutMillis=3000 --setParameter cursorTimeoutMillis=300000"},
	{args: "mongod --setParameter enableTestCommands=1 --setParameter internalQueryDefaultDOP=2 --replSet rs0"},
	{args: "mongod --setParameter featureFlagTimeseriesUpdatesSupport=true"},
	{args: "mongod --setParameter mirrorReads={samplingRate:0.1} --setParameter tcmallocReleaseRate=5.0"},
	{args: "mongod --setParameter suppressNoTLSPeerCertificateWarning=1 --setParameter tlsWithholdClientCertificate=true"},
	{args: "mongod --profile 1 --slowms 200 --slowOpSampleRate 0.5 -vv"},
	{args: "mongod --logpath DIR/m.log --logappend --logRotate reopen --timeStampFormat iso8601-utc --pidfilepath DIR/m.pid"},
	{args: "mongod --directoryperdb --journal --wiredTigerDirectoryForIndexes --wiredTigerCollectionBlockCompressor zstd"},
	{args: "mongod --networkMessageCompressors zstd,snappy --maxConns 500 --syncdelay 30 --journalCommitInterval 50"},
	{args: "mongod --noscripting --notablescan --objcheck --timeZoneInfo /usr/share/zoneinfo"},
	{args: "mongod --enableMajorityReadConcern false --replSet rs0"},
	{args: "mongod --enableFreeMonitoring off"},
	{args: "mongod --tlsMode disabled --unixSocketPrefix DIR --filePermissions 0777"},
	{args: "mongod --clusterAuthMode keyFile --keyFile KEY --replSet rs0"},
	{args: "mongod --smallfiles", want: "unknown flag --smallfiles"},
	{args: "mongod --noprealloc --replSet rs1", want: "unknown flag --noprealloc"},
	{args: "mongod --nojournal", want: "--nojournal is not supported"},
	{args: "mongod --shardsvr --replSet rs0", want: "--shardsvr is not supported: DuskDB has no sharding"},
	{args: "mongod --configsvr --replSet cfg", want: "--configsvr is not supported: DuskDB has no sharding"},
	{args: "mongod --setParameter auditAuthorizationSuccess=true", want: "Unknown --setParameter 'auditAuthorizationSuccess': MongoDB Enterprise has it"},
	{args: "mongod --setParameter internalQueryExecMaxBlockingSortBytes=1", want: "Unknown --setParameter 'internalQueryExecMaxBlockingSortBytes'"},
	{args: "mongod --setParameter notablescan=1 --setParameter notablescan=0", want: "Key Value Option: setParameter has a duplicate key from the same source: notablescan"},
	{args: "mongod --setParameter replWriterThreadCount=0", want: `Bad value for parameter "replWriterThreadCount": Invalid value for parameter replWriterThreadCount: 0 is not greater than or equal to 1`},

	// Configuration files: packages, images, Ansible, tutorials.
	{args: "--config CONF", config: "storage:\n  dbPath: DIR\nsystemLog:\n  destination: file\n  logAppend: true\n  path: DIR/mongod.log\nnet:\n  port: 0\n  bindIp: 127.0.0.1\nprocessManagement:\n  timeZoneInfo: /usr/share/zoneinfo\n#security:\n#replication:\n"},
	{args: "-f CONF", config: "storage:\n  dbPath: DIR\n  journal:\n    enabled: true\n  engine: wiredTiger\n  wiredTiger:\n    engineConfig: {cacheSizeGB: 0.25, directoryForIndexes: true}\nnet:\n  bindIp: localhost,127.0.0.1\n  maxIncomingConnections: 1000\nsecurity:\n  authorization: enabled\n"},
	{args: "--config CONF", config: "systemLog: {destination: file, quiet: false, logAppend: true, logRotate: reopen, path: DIR/m.log, verbosity: 0}\nnet:\n  port: 0\n  unixDomainSocket: {enabled: true, pathPrefix: DIR}\n  ipv6: false\n  bindIpAll: false\n  bindIp: 127.0.0.1\nprocessManagement: {fork: false, pidFilePath: DIR/m.pid}\nsetParameter:\n  enableLocalhostAuthBypass: true\nsecurity:\n  authorization: disabled\nstorage: {dbPath: DIR, directoryPerDB: false}\n"},
	{args: "--config CONF", config: "net:\n  bindIp: 0.0.0.0\n  bindIpAll: true\nsecurity:\n  keyFile: KEY\n  authorization: enabled\nreplication:\n  replSetName: rs0\n  oplogSizeMB: 200\n  enableMajorityReadConcern: true\nsharding:\n"},
	{args: "--config CONF", config: "storage:\n  dbPath: DIR\n  inMemory:\n    engineConfig:\n      inMemorySizeGB: 2\n  engine: inMemory\noperationProfiling:\n  mode: slowOp\n  slowOpThresholdMs: 100\n  slowOpSampleRate: 0.1\n"},
	{args: "--config CONF", config: "setParameter:\n  maxSessions: 100000\n  minSnapshotHistoryWindowInSeconds: 60\n  storageEngineConcurrentReadTransactions: 128\n  ttlMonitorSleepSecs: 10\n  logComponentVerbosity: {network: {verbosity: 1}}\nsecurity:\n  authenticationMechanisms: [SCRAM-SHA-1, SCRAM-SHA-256]\n  sasl: {serviceName: mongodb}\ncloud: {monitoring: {free: {state: 'off'}}}\n"},
	{args: "-f CONF --replSet rs0", config: "# mongodb.conf of old packages\ndbpath=DIR\n#where to log\nlogpath=DIR/mongodb.log\nlogappend=true\nbind_ip = 127.0.0.1\n#port = 27017\njournal=true\n#cpu = true\n#auth = true\n"},
	{args: "-f CONF", config: "dbpath=DIR\nbind_ip = 127.0.0.1\nport = 0\njournal=true\nquiet=true\nnohttpinterface=true\n", want: "Error parsing INI config file: unrecognised option 'nohttpinterface'"},
	{args: "--config CONF", config: "net:\n  bindIp:\n    - 127.0.0.1\n    - 10.0.0.1\n", want: "Scalar option 'net.bindIp' must be a single value"},
	{args: "--config CONF", config: "storage:\n  mmapv1: {smallFiles: true}\n", want: "Unrecognized option: storage.mmapv1"},
	{args: "--config CONF", config: "security:\n  enableEncryption: true\n  encryptionKeyFile: KEY\n", want: "Unrecognized option: security.enableEncryption"},
	{args: "--config CONF", config: "auditLog: {destination: file, format: JSON, path: DIR/a.json}\n", want: "Unrecognized option: auditLog"},
	{args: "--config CONF", config: "sharding: {clusterRole: shardsvr}\n", want: "sharding.clusterRole is not supported: DuskDB has no sharding"},
	{args: "--config CONF", config: "replication:\nreplSetName: rs0\n", want: "Unrecognized option: replSetName"},
}

// TestForms starts the server in the ways that people start mongod.
func TestForms(t *testing.T) {
	if len(forms) < 50 {
		t.Errorf("there are %d forms", len(forms))
	}
	for _, f := range forms {
		err := startForm(t, f)
		if f.want == "" && err != nil || f.want != "" && (err == nil || !strings.Contains(err.Error(), f.want)) {
			t.Errorf("%s\n%s: %v, want %q", f.args, f.config, err, f.want)
		}
	}
}

// startForm opens the server of a form, and closes it.
func startForm(t *testing.T, f form) error {
	dir := t.TempDir()
	paths := strings.NewReplacer("DIR", dir, "KEY", filepath.Join(dir, "key"), "CONF", filepath.Join(dir, "conf"))
	for name, text := range map[string]string{"key": "secretsecret", "conf": paths.Replace(f.config)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := tryParse(t, strings.Fields(paths.Replace(f.args))...)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(s.DBPath, dir) { // the default is a directory below this one
		s.DBPath = server.Memory
	}
	s.Port = 0 // the one that is given may be taken
	if err := s.Mongod.apply(s); err != nil {
		return err
	}
	r := &instance{log: zerolog.Nop(), stop: make(chan struct{})}
	if err := s.configure(r, &server.LogLines{}, &server.LogLimit{}); err != nil {
		return err
	}
	r.cfg.Lines = nil
	srv, err := openServer(r.cfg, nil)
	if err != nil {
		return err
	}
	return srv.Close(context.Background())
}
