package diagnostics

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/ddl"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type compactArgs struct {
	Compact value.Value     `arg:"compact,required"`
	Force   args.StrictBool `arg:"force"`
	Target  *int64          `arg:"freeSpaceTargetMB"`
	DryRun  args.StrictBool `arg:"dryRun"`
}

var compactSpec = args.New[compactArgs]("compact")

// runCompact compacts the store. All collections share one log, so that compacting one
// compacts all.
func runCompact(c *kernel.Call) error {
	var a compactArgs
	if err := compactSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	c.TakesLong()
	ns, err := c.LiteralNamespace(a.Compact)
	if err != nil {
		return err
	}
	if err := checkSpaceTarget("compact", a.Target); err != nil {
		return err
	}
	info, err := exec.Lookup(c, ns)
	switch {
	case err != nil:
		return err
	case info == nil:
		return mongoerr.New(mongoerr.NamespaceNotFound, "collection does not exist")
	case catalog.Of(info).Kind == catalog.View:
		return mongoerr.New(mongoerr.CommandNotSupportedOnView, "can't compact a view")
	}
	before, err := c.Svc.Engine.Stats()
	if err != nil {
		return kernel.Translate(ns, err)
	}
	if a.DryRun {
		live := int64(0)
		err := c.View(func(tx storage.Tx) error {
			list, err := tx.Collections("")
			if err == nil {
				live, err = storage.DataBytes(tx, list)
			}
			return err
		})
		c.Reply.Append("estimatedBytesFreed", value.Int(max(before.FileBytes-live, 0)))
		return err
	}
	if err := c.Svc.Engine.Compact(c.Ctx); err != nil {
		return kernel.Translate(ns, err)
	}
	after, err := c.Svc.Engine.Stats()
	if err != nil {
		return kernel.Translate(ns, err)
	}
	c.Reply.Append("bytesFreed", value.Int(max(before.FileBytes-after.FileBytes, 0)))
	return nil
}

func checkSpaceTarget(command string, target *int64) error {
	if target != nil && *target < 1 {
		return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s.freeSpaceTargetMB' value must be >= 1, actual value '%d'", command, *target)
	}
	return nil
}

// maxSpaceTarget is the first number of MB that is too many bytes for a long.
const maxSpaceTarget = 1 << 43

// defaultSpaceTarget is the freeSpaceTargetMB of a command that does not give one.
const defaultSpaceTarget = 20

type autoCompactArgs struct {
	On      bool      `arg:"autoCompact,required"`
	Target  *int64    `arg:"freeSpaceTargetMB"`
	RunOnce args.Flag `arg:"runOnce"`
}

var autoCompactSpec = args.New[autoCompactArgs]("autoCompact")

// runAutoCompact starts or stops a compaction in the background. The store
// also compacts by itself when half of it is garbage.
func runAutoCompact(c *kernel.Call) error {
	var a autoCompactArgs
	if err := autoCompactSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if err := checkSpaceTarget("autoCompact", a.Target); err != nil {
		return err
	}
	wanted := kernel.CompactionOptions{TargetMB: defaultSpaceTarget, Once: a.RunOnce.Or(false)}
	if a.Target != nil {
		wanted.TargetMB = *a.Target
	}
	if a.On && wanted.TargetMB >= maxSpaceTarget {
		return mongoerr.Newf(mongoerr.BadValue, "BSON field 'autoCompact.freeSpaceTargetMB' value must be < %d, actual value '%d'", int64(maxSpaceTarget), wanted.TargetMB)
	}
	auto := &c.Svc.Compaction
	auto.Mu.Lock()
	defer auto.Mu.Unlock()
	switch {
	case !a.On && auto.Cancel != nil:
		auto.Cancel()
		auto.Cancel = nil
	case a.On && auto.Cancel != nil && auto.Options != wanted:
		return mongoerr.New(mongoerr.AlreadyInitialized, "Cannot reconfigure background compaction while it's already running.")
	case a.On && auto.Cancel == nil:
		ctx, cancel := context.WithCancel(c.Svc.Background)
		auto.Cancel, auto.Options = cancel, wanted
		go compactInBackground(c.Svc, ctx, wanted)
	}
	return nil
}

// compactInBackground compacts the store. The compaction is on until it is switched off,
// but for one that runs once: the store compacts by itself what becomes garbage later.
func compactInBackground(s *kernel.Service, ctx context.Context, o kernel.CompactionOptions) {
	if err := s.Engine.Compact(ctx); err != nil && ctx.Err() == nil {
		s.Log.Warn().Err(err).Msg("background compaction failed")
	}
	s.Compaction.Mu.Lock()
	defer s.Compaction.Mu.Unlock()
	if ctx.Err() == nil && o.Once {
		s.Compaction.Cancel()
		s.Compaction.Cancel = nil
	}
}

type reIndexArgs struct {
	Upper value.Value `arg:"reIndex"`
	Lower value.Value `arg:"reindex"`
}

var reIndexSpec = args.New[reIndexArgs]("reIndex")

func runReIndex(c *kernel.Call) error {
	var a reIndexArgs
	if err := reIndexSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.Namespace()
	if err != nil {
		return err
	}
	var specs []value.Doc
	err = c.Update(func(tx storage.Tx) error {
		specs, err = reIndex(c, tx, ns)
		return err
	})
	if err != nil {
		return kernel.Translate(ns, err)
	}
	c.Reply.Int32("nIndexesWas", int32(len(specs))).Int32("nIndexes", int32(len(specs)))
	c.Reply.StartArray("indexes")
	for _, d := range specs {
		c.Reply.Document("", d)
	}
	c.Reply.End()
	return nil
}

// reIndex drops the indexes of a collection and builds them again.
func reIndex(c *kernel.Call, tx storage.Tx, ns storage.Namespace) (specs []value.Doc, err error) {
	coll, err := tx.Collection(ns)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, mongoerr.New(mongoerr.NamespaceNotFound, "collection does not exist")
	}
	if err != nil {
		return nil, err
	}
	m := catalog.Of(coll.Info())
	if m.Kind == catalog.View || m.Kind == catalog.TimeSeries {
		return nil, mongoerr.New(mongoerr.CommandNotSupportedOnView, "can't re-index a view")
	}
	for _, spec := range m.Listed {
		specs = append(specs, spec.Doc())
	}
	for _, spec := range m.Indexes {
		if spec.Clustered {
			continue
		}
		if err := tx.DropIndex(ns, spec.Name); err != nil {
			return nil, err
		}
		if err := ddl.AddIndex(c, tx, ns, spec); err != nil {
			return nil, err
		}
	}
	return specs, nil
}

type setIndexCommitQuorumArgs struct {
	Coll   value.Value `arg:"setIndexCommitQuorum,required"`
	Names  args.Array  `arg:"indexNames,required"`
	Quorum value.Value `arg:"commitQuorum,required"`
}

var setIndexCommitQuorumSpec = args.New[setIndexCommitQuorumArgs]("setIndexCommitQuorum")

// runSetIndexCommitQuorum never finds a build to change: an index is built
// within one transaction.
func runSetIndexCommitQuorum(c *kernel.Call) error {
	var a setIndexCommitQuorumArgs
	if err := setIndexCommitQuorumSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.NamespaceOf(a.Coll)
	if err != nil {
		return err
	}
	if value.Doc(a.Names).IsEmpty() {
		return mongoerr.Newf(mongoerr.IndexNotFound, "Cannot set a new commit quorum on an index build in collection '%s' without providing any indexes.", ns)
	}
	info, err := exec.Lookup(c, ns)
	if err != nil {
		return err
	}
	if info == nil {
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "Collection '%s' was not found.", ns)
	}
	return mongoerr.Newf(mongoerr.IndexNotFound, "Cannot find an index build on collection '%s' with the provided index names", ns)
}

type logRotateArgs struct {
	LogRotate value.Value `arg:"logRotate"`
}

var logRotateSpec = args.New[logRotateArgs]("logRotate")

// runLogRotate begins a new log file, where the log goes to a file.
func runLogRotate(c *kernel.Call) error {
	var a logRotateArgs
	if err := logRotateSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	_, which := c.Body.First()
	switch {
	case which.Kind() != value.KindString && which.Kind() != value.KindBool && !which.IsNumber():
		return args.WrongType("logRotate", "logRotate", which, "string, bool, long, int, decimal, double")
	case which.Kind() == value.KindString && which.Str() != "server":
		return mongoerr.Newf(mongoerr.NoSuchKey, "Unknown log type for rotate: %s", which.Str())
	}
	if rotate := c.Svc.Options.RotateLog; rotate != nil {
		if err := rotate(); err != nil {
			return mongoerr.Newf(mongoerr.FileRenameFailed, "Failed to rotate the log: %v", err)
		}
	}
	c.Svc.Log.Info().Msg("Log rotated")
	return nil
}

func runLogApplicationMessage(c *kernel.Call) error {
	_, message := c.Body.First()
	if message.Kind() != value.KindString {
		return args.WrongType("logApplicationMessage", "logApplicationMessage", message, "string")
	}
	c.Svc.Log.Info().Str("user", access.UserName(c)).Str("message", message.Str()).Msg("Application message")
	return nil
}

type dropConnectionsArgs struct {
	Drop  value.Value `arg:"dropConnections"`
	Hosts args.Array  `arg:"hostAndPort,required"`
}

var dropConnectionsSpec = args.New[dropConnectionsArgs]("dropConnections")

// runDropConnections checks its argument. A server by itself has no outgoing
// connections to drop.
func runDropConnections(c *kernel.Call) error {
	var a dropConnectionsArgs
	if err := dropConnectionsSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	for v := range value.Doc(a.Hosts).Values() {
		if v.Kind() == value.KindNull || v.Kind() == value.KindUndefined {
			continue
		}
		if v.Kind() != value.KindString {
			return args.WrongType("dropConnections", "hostAndPort", v, "string")
		}
		if err := checkHostAndPort(v.Str()); err != nil {
			return err
		}
	}
	return nil
}

// checkHostAndPort refuses an address without a host or with an invalid port.
func checkHostAndPort(s string) error {
	var host, port string
	var given bool
	if rest, ok := strings.CutPrefix(s, "["); ok { // an IPv6 address
		if host, rest, ok = strings.Cut(rest, "]"); !ok {
			return mongoerr.Newf(mongoerr.FailedToParse, "']' expected when parsing HostAndPort from \"%s\"", s)
		}
		port, given = strings.CutPrefix(rest, ":")
	} else {
		host, port, given = strings.Cut(s, ":")
	}
	n, err := strconv.Atoi(port)
	switch {
	case host == "":
		return mongoerr.Newf(mongoerr.FailedToParse, "Empty host component parsing HostAndPort from \"%s\"", s)
	case strings.Contains(port, ":"):
		return mongoerr.Newf(mongoerr.FailedToParse, "More than one ':' detected. If this is an ipv6 address, it needs to be surrounded by '[' and ']'; \"%s\"", s)
	case given && (err != nil || n <= 0 || n > 65535):
		return mongoerr.Newf(mongoerr.FailedToParse, "Port number \"%s\" out of range parsing HostAndPort from \"%s\"", port, s)
	}
	return nil
}
