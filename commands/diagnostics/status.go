package diagnostics

import (
	"os"
	"strings"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/cluster"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/limits"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/commands/replication"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// runServerStatus writes the sections of serverStatus that have a meaning
// here. A section can be left out by {serverStatus: 1, name: 0}.
func runServerStatus(c *kernel.Call) error { return writeServerStatus(c, c.Body) }

// writeServerStatus writes the sections that the options do not leave out.
func writeServerStatus(c *kernel.Call, options value.Doc) error {
	s, b := c.Svc, c.Reply
	host, _ := os.Hostname()
	up := s.Clock.Now().Sub(s.StartedAt)
	b.String("host", host).String("version", s.Options.Dialect.Version()).String("process", processName(s)).
		Append("service", value.NewArray(value.String(processName(s))))
	b.Int64("pid", int64(os.Getpid())).Double("uptime", float64(int64(up.Seconds()))).
		Int64("uptimeMillis", up.Milliseconds()).Int64("uptimeEstimate", int64(up.Seconds())).Date("localTime", c.Now)
	_, isClustered := clustered(s)
	away := reachable(s) != nil
	for _, section := range statusSections {
		if v, given := options.Get(section.name); given && !v.Truthy() {
			continue
		}
		if !s.InReplicaSet() && (section.name == "repl" || section.name == "electionMetrics") ||
			!s.InCluster() && section.name == "sharding" ||
			!isClustered && section.name == "cluster" ||
			away && (section.name == "catalogStats" || section.name == "sharding") || // monitoring goes on without the database
			section.name == "mirroredReads" && !options.Has("mirroredReads") { // only on request
			continue
		}
		b.StartDocument(section.name)
		if err := section.write(c, b); err != nil {
			return err
		}
		b.End()
	}
	return nil
}

// processName is "mongos" for what looks like one, by which tools recognise it.
func processName(s *kernel.Service) string {
	if s.InCluster() {
		return "mongos"
	}
	return "duskdb"
}

// statusSections are the sections of serverStatus in their order.
var statusSections = []struct {
	name  string
	write func(c *kernel.Call, b *value.Builder) error
}{
	{"asserts", counted(writeAsserts)},
	{"catalogStats", writeCatalogStats},
	{"cluster", writeCluster},
	{"connections", counted(writeConnections)},
	{"electionMetrics", counted(writeElectionMetrics)},
	{"extra_info", counted(func(_ *kernel.Call, b *value.Builder) { b.String("note", "fields vary by platform") })},
	{"globalLock", counted(writeGlobalLock)},
	{"locks", writeLocks},
	{"logicalSessionRecordCache", counted(writeSessions)},
	{"mem", counted(writeMemory)},
	{"mirroredReads", counted(writeMirroredReads)},
	{"network", counted(writeNetwork)},
	{"opLatencies", counted(writeOpLatencies)},
	{"opcounters", counted(writeOpcounters)},
	{"opcountersRepl", counted(writeOpcountersRepl)},
	{"queues", counted(kernel.WriteQueues)},
	{"readConcernCounters", counted(writeReadConcerns)},
	{"repl", writeRepl},
	{"sharding", writeSharding},
	{"storageEngine", writeStorageEngine},
	{"transactions", counted(writeTransactions)},
	{"metrics", writeMetrics},
}

// counted is a section of what the server counts in memory, which cannot fail.
func counted(write func(c *kernel.Call, b *value.Builder)) func(*kernel.Call, *value.Builder) error {
	return func(c *kernel.Call, b *value.Builder) error {
		write(c, b)
		return nil
	}
}

// writeRepl writes the fields of hello about the replica set.
func writeRepl(c *kernel.Call, b *value.Builder) error {
	replication.AppendTopologyVersion(c, c.Svc.Leader.Changed.Count())
	primary := !c.Svc.Leader.SteppedDown.Load()
	if err := replication.AppendMember(c, primary); err != nil {
		return err
	}
	b.Bool("isWritablePrimary", primary).Int32("rbid", 1)
	writeBlock(c, b)
	return nil
}

// writeBlock writes whether the writes of users are blocked (1: no, 2: yes), and why.
func writeBlock(c *kernel.Call, b *value.Builder) {
	blocked, reason, counts := c.Svc.Settings.Block.State()
	mode := int32(1)
	if blocked {
		mode = 2
	}
	b.Int32("userWriteBlockMode", mode).Int32("userWriteBlockReason", int32(reason)).StartDocument("userWriteBlockModeCounters")
	for i, n := range counts {
		b.Int64(kernel.WriteBlockReasons[i], n)
	}
	b.End()
}

func writeAsserts(c *kernel.Call, b *value.Builder) {
	m := &c.Svc.Metrics.Asserts
	b.Int32("regular", int32(m.Regular.Load())).Int32("warning", 0).Int32("msg", 0).
		Int32("user", int32(m.User.Load())).Int32("tripwire", 0).Int32("rollovers", 0)
}

// defaultMaxConns is mongod's default of net.maxIncomingConnections.
const defaultMaxConns = 1_000_000

func writeConnections(c *kernel.Call, b *value.Builder) {
	m := &c.Svc.Metrics.Connections
	current := m.Current.Load()
	b.Int32("current", int32(current)).Int32("available", int32(max(maxConns(c.Svc)-current, 0))).
		Int32("totalCreated", int32(m.Total.Load())).Int32("rejected", int32(m.Rejected.Load())).Int32("active", int32(c.Svc.Ops.Count()))
	c.Svc.WriteEstablishment(b)
	if c.Svc.InCluster() {
		b.Int32("loadBalanced", int32(m.Balanced.Load()))
	}
}

func writeGlobalLock(c *kernel.Call, b *value.Builder) {
	b.Int64("totalTime", c.Svc.Clock.Now().Sub(c.Svc.StartedAt).Microseconds())
	b.StartDocument("currentQueue").Int32("total", 0).Int32("readers", 0).Int32("writers", 0).End()
	var readers, writers int32
	for _, op := range c.Svc.Ops.List() {
		switch cmd := c.Svc.Table[op.Name]; {
		case cmd == nil || cmd.Has(kernel.Waits):
		case cmd.Has(kernel.Writes):
			writers++
		default:
			readers++
		}
	}
	b.StartDocument("activeClients").Int32("total", readers+writers).Int32("readers", readers).Int32("writers", writers).End()
}

func writeSessions(c *kernel.Call, b *value.Builder) {
	b.Int32("activeSessionsCount", int32(len(c.Svc.Sessions.List())))
}

func writeMemory(_ *kernel.Call, b *value.Builder) {
	resident, virtual := limits.ProcessMemory()
	b.Int32("bits", 64).Int32("resident", int32(resident>>20)).Int32("virtual", int32(virtual>>20)).Bool("supported", true)
}

func writeNetwork(c *kernel.Call, b *value.Builder) {
	m := &c.Svc.Metrics.Network
	b.Int64("bytesIn", m.BytesIn.Load()).Int64("bytesOut", m.BytesOut.Load()).Int64("numRequests", m.Requests.Load())
}

func writeOpcounters(c *kernel.Call, b *value.Builder) {
	m := &c.Svc.Metrics.Opcounters
	b.Int64("insert", m.Insert.Load()).Int64("query", m.Query.Load()).Int64("update", m.Update.Load()).
		Int64("delete", m.Remove.Load()).Int64("getmore", m.Getmore.Load()).Int64("command", m.Command.Load())
	if n := c.Svc.Metrics.OpQueries.Load(); n > 0 {
		b.StartDocument("deprecated").Int64("query", n).End()
	}
}

func writeStorageEngine(c *kernel.Call, b *value.Builder) error {
	st, err := c.Svc.Engine.Stats()
	if err != nil {
		return err
	}
	b.String("name", st.Name).Bool("supportsCommittedReads", true).Bool("persistent", st.Persistent).
		Bool("supportsSnapshotReadConcern", true).Bool("readOnly", false).Int64("fileBytes", st.FileBytes).
		Int64("commits", st.Commits).Int64("syncs", st.Syncs).Int64("syncErrors", st.SyncErrors).
		Int64("openSnapshots", st.OpenSnapshots).Int64("recoveredCutBytes", st.RecoveredCut)
	if limit := c.Svc.Memory.Limit; limit > 0 {
		b.Int64("memoryUsedBytes", c.Svc.Memory.Used.Load()).Int64("memoryLimitBytes", limit)
	}
	if used, total := diskUsage(c.Svc.Options.DBPath); st.Persistent && total > 0 {
		b.Int64("fsUsedBytes", used).Int64("fsTotalBytes", total)
	}
	return nil
}

func writeTransactions(c *kernel.Call, b *value.Builder) {
	open := int64(0)
	for _, s := range c.Svc.Sessions.List() {
		if s.InTransaction() {
			open++
		}
	}
	m := &c.Svc.Metrics.Transactions
	b.Int64("currentActive", 0).Int64("currentInactive", open).Int64("currentOpen", open).
		Int64("totalAborted", m.Aborted.Load()).Int64("totalCommitted", m.Committed.Load()).Int64("totalStarted", m.Started.Load()).
		Int64("retriedCommandsCount", m.RetriedCommands.Load()).Int64("retriedStatementsCount", m.RetriedStatements.Load())
}

func writeMetrics(c *kernel.Call, b *value.Builder) error {
	s := c.Svc
	kernel.AppendCommandMetrics(&s.Metrics, s, b)
	cs := &s.Metrics.ChangeStreams
	b.StartDocument("changeStreams").Int64("largeEventsFailed", cs.Failed.Load()).Int64("largeEventsSplit", cs.Split.Load()).
		Int64("showExpandedEvents", cs.Expanded.Load()).End()
	open, noTimeout, pinned, total, timedOut := s.Cursors.Count()
	b.StartDocument("cursor").Int64("timedOut", timedOut).Int64("totalOpened", total)
	b.StartDocument("open").Int64("noTimeout", noTimeout).Int64("pinned", pinned).Int64("total", open).End()
	b.End()
	d := &s.Metrics.Document
	b.StartDocument("document").Int64("deleted", d.Deleted.Load()).Int64("inserted", d.Inserted.Load()).
		Int64("returned", d.Returned.Load()).Int64("updated", d.Updated.Load()).End()
	q := &s.Metrics.QueryExecutor
	b.StartDocument("queryExecutor").Int64("scanned", q.Scanned.Load()).Int64("scannedObjects", q.ScannedObjects.Load())
	b.StartDocument("collectionScans").Int64("total", q.CollectionScans.Load()).End()
	b.End()
	return write.WriteExpiryMetrics(s, b)
}

// runTop lists the collections with their counters, in mongod's form.
func runTop(c *kernel.Call) error {
	b := c.Reply
	b.StartDocument("totals").String("note", "all times in microseconds")
	for _, u := range c.Svc.Usage.List() {
		b.StartDocument(u.Namespace)
		for _, part := range observe.TopParts {
			count, micros := u.Part(part)
			b.StartDocument(part).Int64("time", micros).Int64("count", count).End()
		}
		b.End()
	}
	b.End()
	return nil
}

// opKind is what mongod calls the kind of operation.
func opKind(name string) string {
	switch name {
	case "find":
		return "query"
	case "insert", "update":
		return name
	case "delete":
		return "remove"
	case "getMore":
		return "getmore"
	}
	return "command"
}

// redacted returns a command without secrets, for logs and listings.
func redacted(s *kernel.Service, name string, body value.Doc) value.Doc {
	if cmd := s.Table[name]; cmd != nil && cmd.Has(kernel.Secret) || body.Has("speculativeAuthenticate") {
		return value.NewDoc(strings.Clone(name), value.String("xxx"))
	}
	return body
}

// Sections of serverStatus that monitoring systems read.

// writeCatalogStats counts the collections by kind: those of clients, and the server's
// own.
func writeCatalogStats(c *kernel.Call, b *value.Builder) error {
	type counts struct{ collections, capped, clustered, series, views, internal int32 }
	var n counts
	err := c.View(func(tx storage.Tx) error {
		n = counts{}
		infos, err := tx.Collections("")
		if err != nil {
			return err
		}
		for _, info := range infos {
			m := catalog.Of(info)
			switch {
			case !kernel.UserDatabase(info.Namespace.DB) || pipeline.HiddenCollection(info.Namespace) || catalog.IsSystem(info.Namespace.Coll):
				n.internal++
			case m.Kind == catalog.View:
				n.views++
			case m.Kind == catalog.TimeSeries:
				n.series++
			default:
				n.collections++
				if m.Capped {
					n.capped++
				}
				if m.Clustered != nil {
					n.clustered++
				}
			}
		}
		return nil
	})
	b.Int32("collections", n.collections).Int32("capped", n.capped).Int32("clustered", n.clustered).Int32("timeseries", n.series).
		Int32("views", n.views).Int32("internalCollections", n.internal).Int32("internalViews", 0)
	return err
}

// writeElectionMetrics writes the elections of the only member: it is elected when it
// starts and after a step-down.
func writeElectionMetrics(c *kernel.Call, b *value.Builder) {
	for _, name := range []string{"stepUpCmd", "priorityTakeover", "catchUpTakeover", "electionTimeout", "freezeTimeout"} {
		n := int64(0)
		if name == "electionTimeout" {
			n = c.Svc.Metrics.Elections.Load()
		}
		b.StartDocument(name).Int64("called", n).Int64("successful", n).End()
	}
	for _, name := range []string{
		"numStepDownsCausedByHigherTerm", "numCatchUps", "numCatchUpsSucceeded", "numCatchUpsAlreadyCaughtUp", "numCatchUpsSkipped",
		"numCatchUpsTimedOut", "numCatchUpsFailedWithError", "numCatchUpsFailedWithNewTerm", "numCatchUpsFailedWithReplSetAbortPrimaryCatchUpCmd",
	} {
		b.Int64(name, 0)
	}
	b.Double("averageCatchUpOps", 0)
}

// writeLocks writes how often the lock of the engine was taken: shared by reads,
// exclusive by commits.
func writeLocks(c *kernel.Call, b *value.Builder) error {
	st, err := c.Svc.Engine.Stats()
	if err != nil {
		return err
	}
	b.StartDocument("Global").StartDocument("acquireCount").
		Int64("r", c.Svc.Metrics.Latency.Reads.Total()+c.Svc.Metrics.Latency.Commands.Total()).
		Int64("w", st.Commits).End().End()
	return nil
}

func writeOpLatencies(c *kernel.Call, b *value.Builder) {
	l := &c.Svc.Metrics.Latency
	for _, x := range []struct {
		name string
		of   *observe.Latencies
	}{{"reads", &l.Reads}, {"writes", &l.Writes}, {"commands", &l.Commands}, {"transactions", &l.Transactions}} {
		b.StartDocument(x.name).Int64("latency", x.of.Micros.Load()).Int64("ops", x.of.Total())
		if c.Body.Lookup("opLatencies").Doc().Lookup("histograms").Truthy() {
			x.of.AppendHistogram(b)
		}
		b.Int64("queryableEncryptionLatencyMicros", 0).End()
	}
}

// writeOpcountersRepl writes the counters of replicated operations: zero, since there are
// no other members.
func writeOpcountersRepl(_ *kernel.Call, b *value.Builder) {
	for _, name := range []string{"insert", "query", "update", "delete", "getmore", "command"} {
		b.Int64(name, 0)
	}
}

// writeMirroredReads writes the counters of reads sent to other members: zero, since
// there are no other members.
func writeMirroredReads(_ *kernel.Call, b *value.Builder) {
	b.Int64("seen", 0).Int64("sent", 0).Int64("succeeded", 0)
}

func writeReadConcerns(c *kernel.Call, b *value.Builder) {
	r := &c.Svc.Metrics.ReadConcerns
	write := func(name string, n *observe.ConcernCounts, inTransactions bool) {
		b.StartDocument(name).Int64("none", n.None.Load())
		b.StartDocument("noneInfo").StartDocument("CWRC").Int64("local", 0).Int64("available", 0).Int64("majority", 0).End()
		b.StartDocument("implicitDefault").Int64("local", n.None.Load()).Int64("available", 0).End().End()
		b.Int64("local", n.Local.Load())
		if !inTransactions {
			b.Int64("available", n.Available.Load())
		}
		b.Int64("majority", n.Majority.Load())
		b.StartDocument("snapshot").Int64("withClusterTime", n.SnapshotAt.Load()).Int64("withoutClusterTime", n.Snapshot.Load()).End()
		if !inTransactions {
			b.Int64("linearizable", n.Linearizable.Load())
		}
		b.End()
	}
	write("nonTransactionOps", &r.Outside, false)
	write("transactionOps", &r.Inside, true)
}

// writeSharding writes the section of a mongos.
func writeSharding(c *kernel.Call, b *value.Builder) error {
	var hosts []string
	err := c.View(func(tx storage.Tx) (err error) {
		hosts, err = cluster.Hosts(tx)
		return err
	})
	b.String("configsvrConnectionString", cluster.ConnectionString(hosts))
	return err
}
