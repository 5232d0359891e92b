package commands

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// upkeepCommands keep the store and the log in order.
func upkeepCommands() []command {
	return []command{
		{name: "compact", run: runCompact, action: "compact", on: onCollection, help: "give back the space of deleted documents"},
		{name: "autoCompact", run: runAutoCompact, flags: adminOnly, action: "compact", on: onCluster, help: "compact in the background"},
		{name: "reIndex", aliases: []string{"reindex"}, run: runReIndex, flags: writes, action: "reIndex", on: onCollection, help: "build the indexes of a collection anew"},
		{name: "setIndexCommitQuorum", run: runSetIndexCommitQuorum, flags: writes, action: "createIndex", on: onCollection, help: "change the quorum of an index build"},
		{name: "logRotate", run: runLogRotate, flags: adminOnly, action: "logRotate", on: onCluster, help: "begin a new log file"},
		{name: "logApplicationMessage", run: runLogApplicationMessage, flags: adminOnly, action: "applicationMessage", on: onCluster, help: "write a message to the log"},
		{name: "dropConnections", run: runDropConnections, flags: adminOnly, action: "dropConnections", on: onCluster, help: "drop outgoing connections"},
	}
}

type compactArgs struct {
	Compact value.Value `arg:"compact,required"`
	Force   looseBool   `arg:"force"`
	Target  *int64      `arg:"freeSpaceTargetMB"`
	DryRun  strictBool  `arg:"dryRun"`
}

var compactSpec = newArgs[compactArgs]("compact")

// runCompact compacts the store. Its collections share one log, so that
// compacting one is compacting all.
func runCompact(c *Call) error {
	var a compactArgs
	if err := compactSpec.decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.literalNamespace(a.Compact)
	if err != nil {
		return err
	}
	if err := checkSpaceTarget("compact", a.Target); err != nil {
		return err
	}
	info, err := c.lookup(ns)
	switch {
	case err != nil:
		return err
	case info == nil:
		return mongoerr.New(mongoerr.NamespaceNotFound, "collection does not exist")
	case metaOf(info).kind == view:
		return mongoerr.New(mongoerr.CommandNotSupportedOnView, "can't compact a view")
	}
	before := c.svc.engine.Stats().FileBytes
	if a.DryRun {
		live := int64(0)
		err := c.view(func(tx storage.Tx) error {
			live = 0
			for _, info := range tx.Collections("") {
				if coll, err := tx.Collection(info.Namespace); err == nil {
					live += coll.Size()
				}
			}
			return nil
		})
		c.reply.Append("estimatedBytesFreed", value.Int(max(before-live, 0)))
		return err
	}
	if err := c.svc.engine.Compact(c.ctx); err != nil {
		return translate(ns, err)
	}
	c.reply.Append("bytesFreed", value.Int(max(before-c.svc.engine.Stats().FileBytes, 0)))
	return nil
}

func checkSpaceTarget(command string, target *int64) error {
	if target != nil && *target < 1 {
		return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s.freeSpaceTargetMB' value must be >= 1, actual value '%d'", command, *target)
	}
	return nil
}

// mostSpaceTarget is the first number of MB that is too many bytes for a long.
const mostSpaceTarget = 1 << 43

// autoCompaction is the compaction that goes on in the background, if any.
type autoCompaction struct {
	mu     sync.Mutex
	cancel context.CancelFunc
}

type autoCompactArgs struct {
	On      bool   `arg:"autoCompact,required"`
	Target  *int64 `arg:"freeSpaceTargetMB"`
	RunOnce flag   `arg:"runOnce"`
}

var autoCompactSpec = newArgs[autoCompactArgs]("autoCompact")

// runAutoCompact starts or stops a compaction in the background. The store
// also compacts by itself when half of it is garbage.
func runAutoCompact(c *Call) error {
	var a autoCompactArgs
	if err := autoCompactSpec.decode(c.Body, &a); err != nil {
		return err
	}
	if err := checkSpaceTarget("autoCompact", a.Target); err != nil {
		return err
	}
	if a.Target != nil && *a.Target >= mostSpaceTarget {
		return mongoerr.Newf(mongoerr.BadValue, "BSON field 'autoCompact.freeSpaceTargetMB' value must be < %d, actual value '%d'", int64(mostSpaceTarget), *a.Target)
	}
	auto := &c.svc.compaction
	auto.mu.Lock()
	defer auto.mu.Unlock()
	switch {
	case !a.On && auto.cancel != nil:
		auto.cancel()
		auto.cancel = nil
	case a.On && auto.cancel != nil:
		return mongoerr.New(mongoerr.ObjectIsBusy, "Background compaction is already running")
	case a.On:
		ctx, cancel := context.WithCancel(c.svc.background)
		auto.cancel = cancel
		go c.svc.compactInBackground(ctx)
	}
	return nil
}

func (s *Service) compactInBackground(ctx context.Context) {
	if err := s.engine.Compact(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn().Err(err).Msg("background compaction failed")
	}
	s.compaction.mu.Lock()
	defer s.compaction.mu.Unlock()
	if ctx.Err() == nil {
		s.compaction.cancel()
		s.compaction.cancel = nil
	}
}

type reIndexArgs struct {
	Upper value.Value `arg:"reIndex"`
	Lower value.Value `arg:"reindex"`
}

var reIndexSpec = newArgs[reIndexArgs]("reIndex")

func runReIndex(c *Call) error {
	var a reIndexArgs
	if err := reIndexSpec.decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.namespace()
	if err != nil {
		return err
	}
	var specs []value.Doc
	err = c.update(func(tx storage.Tx) error {
		specs, err = c.reIndex(tx, ns)
		return err
	})
	if err != nil {
		return translate(ns, err)
	}
	c.reply.Int32("nIndexesWas", int32(len(specs))).Int32("nIndexes", int32(len(specs)))
	c.reply.StartArray("indexes")
	for _, d := range specs {
		c.reply.Document("", d)
	}
	c.reply.End()
	return nil
}

// reIndex drops the indexes of a collection and builds them again.
func (c *Call) reIndex(tx storage.Tx, ns storage.Namespace) (specs []value.Doc, err error) {
	coll, err := tx.Collection(ns)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, mongoerr.New(mongoerr.NamespaceNotFound, "collection does not exist")
	}
	if err != nil {
		return nil, err
	}
	m := metaOf(coll.Info())
	if m.kind == view || m.kind == timeSeries {
		return nil, mongoerr.New(mongoerr.CommandNotSupportedOnView, "can't re-index a view")
	}
	for _, spec := range m.listed {
		specs = append(specs, spec.Doc())
	}
	for _, spec := range m.indexes {
		if spec.Clustered {
			continue
		}
		if err := tx.DropIndex(ns, spec.Name); err != nil {
			return nil, err
		}
		if err := c.addIndex(tx, ns, spec); err != nil {
			return nil, err
		}
	}
	return specs, nil
}

type setIndexCommitQuorumArgs struct {
	Coll   value.Value `arg:"setIndexCommitQuorum,required"`
	Names  array       `arg:"indexNames,required"`
	Quorum value.Value `arg:"commitQuorum,required"`
}

var setIndexCommitQuorumSpec = newArgs[setIndexCommitQuorumArgs]("setIndexCommitQuorum")

// runSetIndexCommitQuorum never finds a build to change: an index is built
// within one transaction.
func runSetIndexCommitQuorum(c *Call) error {
	var a setIndexCommitQuorumArgs
	if err := setIndexCommitQuorumSpec.decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.namespaceOf(a.Coll)
	if err != nil {
		return err
	}
	if value.Doc(a.Names).IsEmpty() {
		return mongoerr.Newf(mongoerr.IndexNotFound, "Cannot set a new commit quorum on an index build in collection '%s' without providing any indexes.", ns)
	}
	info, err := c.lookup(ns)
	if err != nil {
		return err
	}
	if info == nil {
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "Collection '%s' was not found.", ns)
	}
	return mongoerr.Newf(mongoerr.IndexNotFound, "Cannot find an index build on collection '%s' with the provided index names", ns)
}

// runLogRotate begins a new log file, where the log goes to a file.
func runLogRotate(c *Call) error {
	_, which := c.Body.First()
	switch {
	case which.Kind() != value.KindString && which.Kind() != value.KindBool && !which.IsNumber():
		return wrongType("logRotate", "logRotate", which, "string, bool, long, int, decimal, double")
	case which.Kind() == value.KindString && which.Str() != "server":
		return mongoerr.Newf(mongoerr.NoSuchKey, "Unknown log type for rotate: %s", which.Str())
	}
	if rotate := c.svc.options.RotateLog; rotate != nil {
		if err := rotate(); err != nil {
			return mongoerr.Newf(mongoerr.FileRenameFailed, "Failed to rotate the log: %v", err)
		}
	}
	c.svc.log.Info().Msg("Log rotated")
	return nil
}

func runLogApplicationMessage(c *Call) error {
	_, message := c.Body.First()
	if message.Kind() != value.KindString {
		return wrongType("logApplicationMessage", "logApplicationMessage", message, "string")
	}
	c.svc.log.Info().Str("user", c.userName()).Str("message", message.Str()).Msg("Application message")
	return nil
}

type dropConnectionsArgs struct {
	Drop  value.Value `arg:"dropConnections"`
	Hosts array       `arg:"hostAndPort,required"`
}

var dropConnectionsSpec = newArgs[dropConnectionsArgs]("dropConnections")

// runDropConnections checks its argument. A server by itself has no outgoing
// connections to drop.
func runDropConnections(c *Call) error {
	var a dropConnectionsArgs
	if err := dropConnectionsSpec.decode(c.Body, &a); err != nil {
		return err
	}
	for v := range value.Doc(a.Hosts).Values() {
		if v.Kind() == value.KindNull || v.Kind() == value.KindUndefined {
			continue
		}
		if v.Kind() != value.KindString {
			return wrongType("dropConnections", "hostAndPort", v, "string")
		}
		if err := checkHostAndPort(v.Str()); err != nil {
			return err
		}
	}
	return nil
}

// checkHostAndPort refuses what names no host, or a port that is none.
func checkHostAndPort(s string) error {
	host, port, given := s, "", false
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
