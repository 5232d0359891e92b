package diagnostics

import (
	"runtime"
	"strings"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func runBuildInfo(c *kernel.Call) error {
	b := c.Reply
	version := c.Svc.Options.Dialect.Version()
	if c.Svc.Options.Security.Auth && c.User == nil && c.Svc.Params.Value(kernel.BuildInfoMode).Str() == kernel.VersionOnly {
		appendVersion(b.String("version", version), version)
		return nil
	}
	b.String("version", version).String("gitVersion", "duskdb-"+c.Svc.Options.DuskDB)
	b.StartArray("modules").End()
	b.String("allocator", "go").String("javascriptEngine", c.Svc.Scripts.Name()).String("sysInfo", "deprecated")
	appendVersion(b, version)
	b.StartDocument("openssl").String("running", "Go crypto/tls").String("compiled", runtime.Version()).End()
	b.StartDocument("buildEnvironment").String("distmod", "").String("distarch", runtime.GOARCH).
		String("cc", runtime.Version()).String("target_arch", runtime.GOARCH).String("target_os", runtime.GOOS).End()
	b.Int32("bits", 64).Bool("debug", false).Int32("maxBsonObjectSize", kernel.MaxDocumentBytes)
	b.StartArray("storageEngines").String("", "bunt").End()
	b.StartDocument("duskdb").String("version", c.Svc.Options.DuskDB).End()
	return nil
}

func appendVersion(b *value.Builder, version string) {
	b.StartArray("versionArray")
	for _, part := range versionParts(version) {
		b.Int32("", part)
	}
	b.End()
}

func versionParts(version string) [4]int32 {
	var parts [4]int32
	for i, s := range strings.SplitN(version, ".", 3) {
		for _, ch := range s {
			parts[i] = parts[i]*10 + ch - '0'
		}
	}
	return parts
}

func runWhatsMyURI(c *kernel.Call) error {
	c.Reply.String("you", c.Conn.Remote)
	return nil
}

func runGetCmdLineOpts(c *kernel.Call) error {
	c.Reply.StartArray("argv")
	for _, a := range c.Svc.Options.Argv {
		c.Reply.String("", a)
	}
	c.Reply.End()
	parsed := c.Svc.Options.Parsed
	if parsed == nil {
		parsed = value.EmptyDoc
	}
	c.Reply.Document("parsed", parsed)
	return nil
}

func runListCommands(c *kernel.Call) error {
	c.Reply.StartDocument("commands")
	for _, cmd := range c.Svc.Commands {
		c.Reply.StartDocument(cmd.Name).String("help", cmd.Help).Bool("requiresAuth", !cmd.Has(kernel.PreAuth)).
			Bool("secondaryOk", cmd.OnSecondary() == kernel.Always).Bool("adminOnly", cmd.Has(kernel.AdminOnly))
		if cmd.OnSecondary() == kernel.OptIn {
			c.Reply.Bool("secondaryOverrideOk", true)
		}
		in, deprecated := gate.ApiVersions(cmd.Name)
		for _, versions := range [][2]string{{"apiVersions", in}, {"deprecatedApiVersions", deprecated}} {
			c.Reply.StartArray(versions[0])
			for i := range len(versions[1]) {
				c.Reply.String("", versions[1][i:i+1])
			}
			c.Reply.End()
		}
		c.Reply.End()
	}
	c.Reply.End()
	return nil
}

// runGetLog answers with the recent lines of the log, oldest first.
func runGetLog(c *kernel.Call) error {
	_, which := c.Body.First()
	if which.Kind() == value.KindNull {
		return mongoerr.MissingField("getLog.getLog")
	}
	if which.Kind() != value.KindString {
		return mongoerr.New(mongoerr.TypeMismatch, "Argument to getLog must be of type String; found "+which.String()+" of type "+which.Kind().String())
	}
	var lines []string
	var total int64
	switch which.Str() {
	case "*":
		c.Reply.StartArray("names").String("", "global").String("", "startupWarnings").End()
		return nil
	case "global":
		lines, total = c.Svc.Options.Lines.Last()
	case "startupWarnings":
		lines = startupWarnings(c.Svc)
		total = int64(len(lines))
	default:
		return mongoerr.Newf(mongoerr.OperationFailed, "No log named '%s'", which.Str())
	}
	c.Reply.Append("totalLinesWritten", value.Int(total))
	c.Reply.StartArray("log")
	for _, line := range lines {
		c.Reply.String("", line)
	}
	c.Reply.End()
	return nil
}

// startupWarnings returns the warnings that the server logged when it started.
func startupWarnings(s *kernel.Service) []string { return s.Options.Warnings }

func runConnPoolStats(c *kernel.Call) error {
	c.Reply.Int32("numClientConnections", 0).Int32("numAScopedConnections", 0).Int32("totalInUse", 0).
		Int32("totalAvailable", 0).Int32("totalCreated", 0).Int32("totalRefreshing", 0)
	c.Reply.StartDocument("pools").End()
	c.Reply.StartDocument("hosts").End()
	return nil
}

func runLockInfo(c *kernel.Call) error {
	c.Reply.StartArray("lockInfo").End()
	return nil
}

func runFeatures(c *kernel.Call) error {
	c.Reply.StartDocument("js").Bool("utf8", true).End()
	c.Reply.StartDocument("oidMachine").Int32("", 0).End()
	return nil
}

type shutdownArgs struct {
	Shutdown value.Value    `arg:"shutdown,required"`
	Force    args.LooseBool `arg:"force"`
	Timeout  *int64         `arg:"timeoutSecs"`
}

var shutdownSpec = args.New[shutdownArgs]("shutdown")

// runShutdown stops the server process. Embedded servers refuse the command.
func runShutdown(c *kernel.Call) error {
	var a shutdownArgs
	if err := shutdownSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if c.Svc.Options.Shutdown == nil {
		return mongoerr.New(mongoerr.IllegalOperation, "an embedded server is shut down by the program around it")
	}
	c.Response.Close = true
	c.Svc.Options.Shutdown()
	return nil
}

type killOpArgs struct {
	KillOp value.Value `arg:"killOp"`
	Op     value.Value `arg:"op"`
}

// killOpSpec takes any field: mongod does not read it by IDL.
var killOpSpec = args.New[killOpArgs]("killOp").Lenient()

func runKillOp(c *kernel.Call) error {
	var a killOpArgs
	if err := killOpSpec.Decode(c.Body, &a); err != nil {
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
	c.Svc.Ops.Kill(kernel.ErrKilled, func(op *kernel.Operation) bool { return int64(op.ID) == id })
	c.Reply.String("info", "attempting to kill op")
	return nil
}
