package diagnostics

import (
	"github.com/duskdb/duskdb/commands/ddl"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/pipeline"
)

// Commands returns the commands that describe the server and look after it.
func Commands() []kernel.Command {
	return []kernel.Command{
		// The server and its operations.
		{Name: "buildInfo", Aliases: []string{"buildinfo"}, Run: runBuildInfo, Flags: kernel.Bare, Help: "version and build of the server"},
		{Name: "hostInfo", Run: runHostInfo, Flags: kernel.Bare, Action: "hostInfo", On: kernel.OnCluster, Help: "the machine"},
		{Name: "whatsmyuri", Run: runWhatsMyURI, Flags: kernel.PreAuth, Help: "the client's address"},
		{Name: "getCmdLineOpts", Run: runGetCmdLineOpts, Flags: kernel.AdminOnly | kernel.Bare, Action: "getCmdLineOpts", On: kernel.OnCluster, Help: "the command line"},
		{Name: "listCommands", Run: runListCommands, Flags: kernel.PreAuth, Help: "list the commands"},
		{Name: "getLog", Run: runGetLog, Flags: kernel.AdminOnly | kernel.Bare, Action: "getLog", On: kernel.OnCluster, Help: "recent log lines"},
		{Name: "serverStatus", Run: runServerStatus, Action: "serverStatus", On: kernel.OnCluster, Help: "counters and gauges of the server"},
		{Name: "getDiagnosticData", Run: runGetDiagnosticData, Flags: kernel.AdminOnly, Help: "the figures that monitoring gathers"},
		{Name: "top", Run: runTop, Flags: kernel.AdminOnly, Action: "top", On: kernel.OnCluster, Help: "use of each collection"},
		{Name: "currentOp", Run: runCurrentOp, Flags: kernel.AdminOnly, Action: "inprog", On: kernel.OnCluster, Help: "running operations"},
		{Name: "killOp", Run: runKillOp, Flags: kernel.AdminOnly, Action: "killop", On: kernel.OnCluster, Help: "end a running operation"},
		{Name: "connPoolStats", Run: runConnPoolStats, Action: "connPoolStats", On: kernel.OnCluster, Help: "outgoing connections"},
		{Name: "lockInfo", Run: runLockInfo, Flags: kernel.AdminOnly | kernel.Bare, Action: "serverStatus", On: kernel.OnCluster, Help: "locks held"},
		{Name: "features", Run: runFeatures, Help: "features of the build"},
		{Name: "profile", Run: runProfile, Action: "enableProfiler", On: kernel.OnDatabase, Help: "profile the operations of a database"},
		{Name: "fsync", Run: runFsync, Flags: kernel.AdminOnly, Action: "fsync", On: kernel.OnCluster, Help: "flush to disk, and lock writes"},
		{Name: "fsyncUnlock", Run: runFsyncUnlock, Flags: kernel.AdminOnly, Action: "unlock", On: kernel.OnCluster, Help: "unlock writes"},
		{Name: "shutdown", Run: runShutdown, Flags: kernel.AdminOnly, Action: "shutdown", On: kernel.OnCluster, Help: "stop the server"},

		// Small questions that clients ask.
		{Name: "whatsmysni", Run: runWhatsMySNI, Help: "the server name of the client's TLS handshake"},
		{Name: "availableQueryOptions", Aliases: []string{"availablequeryoptions"}, Run: runAvailableQueryOptions, Help: "the option bits of old queries"},
		{Name: "validateDBMetadata", Run: runValidateDBMetadata, Action: "validate", On: kernel.OnDatabase, Help: "find what the stable API does not cover"},

		// Sizes of collections and databases.
		{Name: "collStats", Aliases: []string{"collstats"}, Run: runCollStats, Flags: kernel.SecondaryOk, Action: "collStats", On: kernel.OnCollection, Help: "sizes of a collection"},
		{Name: "dbStats", Aliases: []string{"dbstats"}, Run: runDBStats, Flags: kernel.SecondaryOk | kernel.Profiled, Action: "dbStats", On: kernel.OnDatabase, Help: "sizes of a database"},
		{Name: "dataSize", Aliases: []string{"datasize"}, Run: pipeline.RunDataSize, Flags: kernel.SecondaryOk, Action: "find", On: kernel.OnCollection, Help: "size of a range of documents"},
		{Name: "validate", Run: ddl.RunValidate, Action: "validate", On: kernel.OnCollection, Help: "check a collection and its indexes"},

		// Hashes of what is stored.
		{Name: "dbHash", Aliases: []string{"dbhash"}, Run: runDBHash, Flags: kernel.Reads | kernel.TimedRead, Action: "dbHash", On: kernel.OnDatabase, Help: "hashes of the collections of a database"},
		{Name: "filemd5", Run: runFileMD5, Flags: kernel.Reads, Action: "find", On: kernel.OnDatabase, Help: "hash of a GridFS file"},

		// The server's clock and what expires (semantics.md §11).
		{Name: "testClock", Run: runTestClock, Flags: kernel.AdminOnly, Action: "setParameter", On: kernel.OnCluster, Enabled: hasTestClock, Help: "read or move the server's clock"},
		{Name: "runExpirationPass", Run: runExpirationPass, Flags: kernel.AdminOnly | kernel.NeedsPrimary, Action: "setParameter", On: kernel.OnCluster, Enabled: hasTestClock, Help: "remove at once what has expired"},
		{Name: "explainExpiry", Run: runExplainExpiry, Action: "find", On: kernel.OnCollection, Help: "when and why a document expires"},
		{Name: "expirationStats", Run: runExpirationStats, Action: "collStats", On: kernel.OnDatabase, Help: "what expires, and when"},

		// Order in the store and in the log.
		{Name: "compact", Run: runCompact, Action: "compact", On: kernel.OnCollection, Help: "give back the space of deleted documents"},
		{Name: "autoCompact", Run: runAutoCompact, Flags: kernel.AdminOnly, Action: "compact", On: kernel.OnCluster, Help: "compact in the background"},
		{Name: "reIndex", Aliases: []string{"reindex"}, Run: runReIndex, Flags: kernel.Writes, Action: "reIndex", On: kernel.OnCollection, Help: "build the indexes of a collection anew"},
		{Name: "setIndexCommitQuorum", Run: runSetIndexCommitQuorum, Flags: kernel.Writes, Action: "createIndex", On: kernel.OnCollection, Help: "change the quorum of an index build"},
		{Name: "logRotate", Run: runLogRotate, Flags: kernel.AdminOnly, Action: "logRotate", On: kernel.OnCluster, Help: "begin a new log file"},
		{Name: "logApplicationMessage", Run: runLogApplicationMessage, Flags: kernel.AdminOnly, Action: "applicationMessage", On: kernel.OnCluster, Help: "write a message to the log"},
		{Name: "dropConnections", Run: runDropConnections, Flags: kernel.AdminOnly, Action: "dropConnections", On: kernel.OnCluster, Help: "drop outgoing connections"},

		// Copies of all data.
		{Name: "duskBackup", Run: runBackup, Flags: kernel.AdminOnly, Action: "fsync", On: kernel.OnCluster, Help: "write a consistent copy of all data to a new directory of the server's machine, or send it"},

		// Tests: with enableTestCommands no command needs authentication.
		{Name: "configureFailPoint", Run: runConfigureFailPoint, Flags: kernel.AdminOnly | kernel.PreAuth | kernel.NoFailPoint, Enabled: forTests, Help: "have commands fail, for tests"},
		{Name: "testDeprecation", Run: doNothing, Enabled: forTests, Help: "do nothing; stands for a command that API version 1 deprecates"},
		{Name: "testDeprecationInVersion2", Run: doNothing, Enabled: forTests, Help: "do nothing; stands for a command that API version 2 deprecates"},
		{Name: "testRemoval", Run: doNothing, Enabled: forTests, Help: "do nothing; stands for a command that API version 2 drops"},
		{Name: "testVersion2", Run: doNothing, Enabled: forTests, Help: "do nothing; stands for a command of API version 2"},
		{Name: "testVersions1And2", Run: doNothing, Enabled: forTests, Help: "do nothing; stands for a command of API versions 1 and 2"},
		{Name: "waitForFailPoint", Run: runWaitForFailPoint, Flags: kernel.AdminOnly | kernel.PreAuth | kernel.NoFailPoint, Enabled: forTests, Help: "wait until a fail point has taken effect"},
	}
}

// hasTestClock reports whether the clock of the server can be moved.
func hasTestClock(s *kernel.Service) bool { return s.Options.TestClock }

// forTests reports whether the server has the commands for tests.
func forTests(s *kernel.Service) bool { return s.Params.Bool("enableTestCommands") }

func doNothing(*kernel.Call) error { return nil }
