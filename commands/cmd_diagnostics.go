package commands

import (
	"runtime"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// diagnosticCommands describe the server and what it does.
func diagnosticCommands() []command {
	return []command{
		{name: "buildInfo", aliases: []string{"buildinfo"}, run: runBuildInfo, flags: preAuth | bare, help: "version and build of the server"},
		{name: "hostInfo", run: runHostInfo, flags: bare, action: "hostInfo", on: onCluster, help: "the machine"},
		{name: "whatsmyuri", run: runWhatsMyURI, flags: preAuth, help: "the client's address"},
		{name: "getCmdLineOpts", run: runGetCmdLineOpts, flags: adminOnly | bare, action: "getCmdLineOpts", on: onCluster, help: "the command line"},
		{name: "listCommands", run: runListCommands, flags: preAuth, help: "list the commands"},
		{name: "getLog", run: runGetLog, flags: adminOnly | bare, action: "getLog", on: onCluster, help: "recent log lines"},
		{name: "serverStatus", run: runServerStatus, action: "serverStatus", on: onCluster, help: "counters and gauges of the server"},
		{name: "top", run: runTop, flags: adminOnly, action: "top", on: onCluster, help: "use of each collection"},
		{name: "currentOp", run: runCurrentOp, flags: adminOnly, action: "inprog", on: onCluster, help: "running operations"},
		{name: "killOp", run: runKillOp, flags: adminOnly, action: "killop", on: onCluster, help: "end a running operation"},
		{name: "connPoolStats", run: runConnPoolStats, action: "connPoolStats", on: onCluster, help: "outgoing connections"},
		{name: "lockInfo", run: runLockInfo, flags: adminOnly | bare, action: "serverStatus", on: onCluster, help: "locks held"},
		{name: "features", run: runFeatures, help: "features of the build"},
		{name: "profile", run: runProfile, action: "enableProfiler", on: onDatabase, help: "profile the operations of a database"},
		{name: "fsync", run: runFsync, flags: adminOnly, action: "fsync", on: onCluster, help: "flush to disk, and lock writes"},
		{name: "fsyncUnlock", run: runFsyncUnlock, flags: adminOnly, action: "unlock", on: onCluster, help: "unlock writes"},
		{name: "shutdown", run: runShutdown, flags: adminOnly, action: "shutdown", on: onCluster, help: "stop the server"},
	}
}

func runBuildInfo(c *Call) error {
	b := c.reply
	b.String("version", ServerVersion).String("gitVersion", "duskdb-"+c.svc.options.DuskDB)
	b.StartArray("modules").End()
	b.String("allocator", "go").String("javascriptEngine", c.svc.scripts.Name()).String("sysInfo", "deprecated")
	b.StartArray("versionArray")
	for _, part := range versionParts() {
		b.Int32("", part)
	}
	b.End()
	b.StartDocument("openssl").String("running", "Go crypto/tls").String("compiled", runtime.Version()).End()
	b.StartDocument("buildEnvironment").String("distmod", "").String("distarch", runtime.GOARCH).
		String("cc", runtime.Version()).String("target_arch", runtime.GOARCH).String("target_os", runtime.GOOS).End()
	b.Int32("bits", 64).Bool("debug", false).Int32("maxBsonObjectSize", MaxDocumentBytes)
	b.StartArray("storageEngines").String("", "bunt").End()
	b.StartDocument("duskdb").String("version", c.svc.options.DuskDB).End()
	return nil
}

func versionParts() [4]int32 {
	var parts [4]int32
	for i, s := range strings.SplitN(ServerVersion, ".", 3) {
		for _, ch := range s {
			parts[i] = parts[i]*10 + ch - '0'
		}
	}
	return parts
}

func runWhatsMyURI(c *Call) error {
	c.reply.String("you", c.conn.Remote)
	return nil
}

func runGetCmdLineOpts(c *Call) error {
	c.reply.StartArray("argv")
	for _, a := range c.svc.options.Argv {
		c.reply.String("", a)
	}
	c.reply.End()
	parsed := c.svc.options.Parsed
	if parsed == nil {
		parsed = value.EmptyDoc
	}
	c.reply.Document("parsed", parsed)
	return nil
}

func runListCommands(c *Call) error {
	c.reply.StartDocument("commands")
	for _, cmd := range c.svc.commands {
		c.reply.StartDocument(cmd.name).String("help", cmd.help).Bool("requiresAuth", cmd.flags&preAuth == 0).
			String("secondaryOk", map[bool]string{true: "never", false: "always"}[cmd.flags&writes != 0]).
			Bool("adminOnly", cmd.flags&adminOnly != 0)
		in, deprecated := apiVersions(cmd.name)
		for _, versions := range [][2]string{{"apiVersions", in}, {"deprecatedApiVersions", deprecated}} {
			c.reply.StartArray(versions[0])
			for i := range len(versions[1]) {
				c.reply.String("", versions[1][i:i+1])
			}
			c.reply.End()
		}
		c.reply.End()
	}
	c.reply.End()
	return nil
}

// runGetLog answers with the recent lines of the log, oldest first.
func runGetLog(c *Call) error {
	_, which := c.Body.First()
	if which.Kind() == value.KindNull {
		return mongoerr.New(mongoerr.IDLFailedToParse, "BSON field 'getLog.getLog' is missing but a required field")
	}
	if which.Kind() != value.KindString {
		return mongoerr.New(mongoerr.TypeMismatch, "Argument to getLog must be of type String; found "+which.String()+" of type "+which.Kind().String())
	}
	var lines []string
	switch which.Str() {
	case "*":
		c.reply.StartArray("names").String("", "global").String("", "startupWarnings").End()
		return nil
	case "global":
		lines = c.svc.options.Lines.Last()
	case "startupWarnings":
		lines = c.svc.startupWarnings()
	default:
		return mongoerr.Newf(mongoerr.OperationFailed, "No log named '%s'", which.Str())
	}
	c.reply.Int32("totalLinesWritten", int32(len(lines)))
	c.reply.StartArray("log")
	for _, line := range lines {
		c.reply.String("", line)
	}
	c.reply.End()
	return nil
}

// startupWarnings are what an operator should know.
func (s *Service) startupWarnings() []string { return s.options.Warnings }

func runConnPoolStats(c *Call) error {
	c.reply.Int32("numClientConnections", 0).Int32("numAScopedConnections", 0).Int32("totalInUse", 0).
		Int32("totalAvailable", 0).Int32("totalCreated", 0).Int32("totalRefreshing", 0)
	c.reply.StartDocument("pools").End()
	c.reply.StartDocument("hosts").End()
	return nil
}

func runLockInfo(c *Call) error {
	c.reply.StartArray("lockInfo").End()
	return nil
}

func runFeatures(c *Call) error {
	c.reply.StartDocument("js").Bool("utf8", true).End()
	c.reply.StartDocument("oidMachine").Int32("", 0).End()
	return nil
}

type shutdownArgs struct {
	Shutdown value.Value `arg:"shutdown,required"`
	Force    looseBool   `arg:"force"`
	Timeout  *int64      `arg:"timeoutSecs"`
}

var shutdownSpec = newArgs[shutdownArgs]("shutdown")

// runShutdown asks the program to stop. Embedded servers, which have nobody
// to ask, refuse.
func runShutdown(c *Call) error {
	var a shutdownArgs
	if err := shutdownSpec.decode(c.Body, &a); err != nil {
		return err
	}
	if c.svc.options.Shutdown == nil {
		return mongoerr.New(mongoerr.IllegalOperation, "an embedded server is shut down by the program around it")
	}
	c.response.Close = true
	c.svc.options.Shutdown()
	return nil
}

type killOpArgs struct {
	KillOp value.Value `arg:"killOp"`
	Op     value.Value `arg:"op"`
}

// killOpSpec takes any field: mongod does not read it by IDL.
var killOpSpec = newArgs[killOpArgs]("killOp").lenient()

func runKillOp(c *Call) error {
	var a killOpArgs
	if err := killOpSpec.decode(c.Body, &a); err != nil {
		return err
	}
	id, ok := a.Op.AsInt64()
	switch {
	case a.Op.IsMissing() && !c.Body.Has("op"):
		return mongoerr.New(mongoerr.NoSuchKey, "Missing expected field \"op\"")
	case !a.Op.IsNumber():
		return mongoerr.Newf(mongoerr.TypeMismatch, "Expected field \"op\" to have a value exactly representable as a 64-bit integer, but found op: %s", c.Body.Lookup("op"))
	case !ok:
		return mongoerr.Newf(mongoerr.BadValue, "Expected field \"op\" to have a value exactly representable as a 64-bit integer, but found op: %s", a.Op)
	}
	if id != int64(int32(id)) {
		return mongoerr.Newf(26823, "invalid op : %s. Op ID cannot be represented with 32 bits", a.Op)
	}
	c.svc.ops.kill(errKilled, func(op *operation) bool { return int64(op.id) == id })
	c.reply.String("info", "attempting to kill op")
	return nil
}
