package commands

import (
	"os"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// runServerStatus writes the sections of serverStatus that have a meaning
// here. A section can be left out by {serverStatus: 1, name: 0}.
func runServerStatus(c *Call) error {
	s, b := c.svc, c.reply
	host, _ := os.Hostname()
	up := s.clock.Now().Sub(s.start)
	b.String("host", host).String("version", ServerVersion).String("process", "duskdb").
		Append("service", value.NewArray(value.String("duskdb")))
	b.Int64("pid", int64(os.Getpid())).Double("uptime", float64(int64(up.Seconds()))).
		Int64("uptimeMillis", up.Milliseconds()).Int64("uptimeEstimate", int64(up.Seconds())).Date("localTime", c.now)
	for _, section := range statusSections {
		if v, given := c.Body.Get(section.name); given && !v.Truthy() {
			continue
		}
		if !s.inReplicaSet() && (section.name == "repl" || section.name == "electionMetrics") ||
			section.name == "mirroredReads" && !c.Body.Has("mirroredReads") { // only for who asks
			continue
		}
		b.StartDocument(section.name)
		section.write(c, b)
		b.End()
	}
	return nil
}

// statusSections are the sections of serverStatus in their order.
var statusSections = []struct {
	name  string
	write func(c *Call, b *value.Builder)
}{
	{"asserts", writeAsserts},
	{"catalogStats", writeCatalogStats},
	{"connections", writeConnections},
	{"electionMetrics", writeElectionMetrics},
	{"extra_info", func(_ *Call, b *value.Builder) { b.String("note", "fields vary by platform") }},
	{"globalLock", writeGlobalLock},
	{"locks", writeLocks},
	{"logicalSessionRecordCache", writeSessions},
	{"mem", writeMemory},
	{"mirroredReads", writeMirroredReads},
	{"network", writeNetwork},
	{"opLatencies", writeOpLatencies},
	{"opcounters", writeOpcounters},
	{"opcountersRepl", writeOpcountersRepl},
	{"queues", writeQueues},
	{"readConcernCounters", writeReadConcerns},
	{"repl", writeRepl},
	{"storageEngine", writeStorageEngine},
	{"transactions", writeTransactions},
	{"metrics", writeMetrics},
}

// writeRepl tells of the set what hello does.
func writeRepl(c *Call, b *value.Builder) {
	c.appendTopologyVersion(c.svc.leader.changed.count())
	primary := !c.svc.leader.aside.Load()
	c.appendMember(primary)
	b.Bool("isWritablePrimary", primary).Int32("rbid", 1)
}

func writeAsserts(c *Call, b *value.Builder) {
	m := &c.svc.metrics.asserts
	b.Int32("regular", int32(m.regular.Load())).Int32("warning", 0).Int32("msg", 0).
		Int32("user", int32(m.user.Load())).Int32("tripwire", 0).Int32("rollovers", 0)
}

// defaultMaxConns is mongod's default of net.maxIncomingConnections.
const defaultMaxConns = 1_000_000

func writeConnections(c *Call, b *value.Builder) {
	m := &c.svc.metrics.connections
	current := m.current.Load()
	b.Int32("current", int32(current)).Int32("available", int32(max(c.svc.maxConns()-current, 0))).
		Int32("totalCreated", int32(m.total.Load())).Int32("rejected", int32(m.rejected.Load())).Int32("active", int32(c.svc.ops.count()))
	c.svc.writeEstablishment(b)
}

func writeGlobalLock(c *Call, b *value.Builder) {
	b.Int64("totalTime", c.svc.clock.Now().Sub(c.svc.start).Microseconds())
	b.StartDocument("currentQueue").Int32("total", 0).Int32("readers", 0).Int32("writers", 0).End()
	var readers, writers int32
	for _, op := range c.svc.ops.list(false) {
		switch cmd := c.svc.table[op.name]; {
		case cmd == nil || cmd.flags&waits != 0:
		case cmd.flags&writes != 0:
			writers++
		default:
			readers++
		}
	}
	b.StartDocument("activeClients").Int32("total", readers+writers).Int32("readers", readers).Int32("writers", writers).End()
}

func writeSessions(c *Call, b *value.Builder) {
	b.Int32("activeSessionsCount", int32(len(c.svc.sessions.list())))
}

func writeMemory(_ *Call, b *value.Builder) {
	resident, virtual := processMemory()
	b.Int32("bits", 64).Int32("resident", int32(resident>>20)).Int32("virtual", int32(virtual>>20)).Bool("supported", true)
}

func writeNetwork(c *Call, b *value.Builder) {
	m := &c.svc.metrics.network
	b.Int64("bytesIn", m.bytesIn.Load()).Int64("bytesOut", m.bytesOut.Load()).Int64("numRequests", m.requests.Load())
}

func writeOpcounters(c *Call, b *value.Builder) {
	m := &c.svc.metrics.opcounters
	b.Int64("insert", m.insert.Load()).Int64("query", m.query.Load()).Int64("update", m.update.Load()).
		Int64("delete", m.remove.Load()).Int64("getmore", m.getmore.Load()).Int64("command", m.command.Load())
}

func writeStorageEngine(c *Call, b *value.Builder) {
	st := c.svc.engine.Stats()
	b.String("name", st.Name).Bool("supportsCommittedReads", true).Bool("persistent", st.Persistent).
		Bool("supportsSnapshotReadConcern", true).Bool("readOnly", false).Int64("fileBytes", st.FileBytes).
		Int64("commits", st.Commits).Int64("syncs", st.Syncs).Int64("syncErrors", st.SyncErrors).
		Int64("openSnapshots", st.OpenSnapshots).Int64("recoveredCutBytes", st.RecoveredCut)
}

func writeTransactions(c *Call, b *value.Builder) {
	open := int64(0)
	for _, s := range c.svc.sessions.list() {
		if s.inTransaction() {
			open++
		}
	}
	m := &c.svc.metrics.transactions
	b.Int64("currentActive", 0).Int64("currentInactive", open).Int64("currentOpen", open).
		Int64("totalAborted", m.aborted.Load()).Int64("totalCommitted", m.committed.Load()).Int64("totalStarted", m.started.Load()).
		Int64("retriedCommandsCount", m.retriedCommands.Load()).Int64("retriedStatementsCount", m.retriedStatements.Load())
}

func writeMetrics(c *Call, b *value.Builder) {
	s := c.svc
	s.metrics.appendCommands(s, b)
	cs := &s.metrics.changeStreams
	b.StartDocument("changeStreams").Int64("largeEventsFailed", cs.failed.Load()).Int64("largeEventsSplit", cs.split.Load()).
		Int64("showExpandedEvents", cs.expanded.Load()).End()
	open, noTimeout, pinned, total, timedOut := s.cursors.count()
	b.StartDocument("cursor").Int64("timedOut", timedOut).Int64("totalOpened", total)
	b.StartDocument("open").Int64("noTimeout", noTimeout).Int64("pinned", pinned).Int64("total", open).End()
	b.End()
	d := &s.metrics.document
	b.StartDocument("document").Int64("deleted", d.deleted.Load()).Int64("inserted", d.inserted.Load()).
		Int64("returned", d.returned.Load()).Int64("updated", d.updated.Load()).End()
	q := &s.metrics.queryExecutor
	b.StartDocument("queryExecutor").Int64("scanned", q.scanned.Load()).Int64("scannedObjects", q.scannedObjects.Load())
	b.StartDocument("collectionScans").Int64("total", q.collectionScans.Load()).End()
	b.End()
	s.writeExpiryMetrics(b)
}

// runTop lists the collections with their counters, in mongod's form.
func runTop(c *Call) error {
	b := c.reply
	b.StartDocument("totals").String("note", "all times in microseconds")
	for _, u := range c.svc.usage.list() {
		b.StartDocument(u.ns)
		for _, part := range topParts {
			count, micros := u.part(part)
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

func operationNamespace(op *operation) string {
	return requestNamespace(op.name, op.body, op.body.Lookup("$db").Str())
}

// requestNamespace is the namespace that a command is about, as mongod names
// it.
func requestNamespace(name string, body value.Doc, db string) string {
	_, v := body.First()
	if name == "getMore" {
		v = body.Lookup("collection")
	}
	switch {
	case v.Kind() == value.KindString:
		return db + "." + v.Str()
	case name == "aggregate":
		return db + ".$cmd.aggregate"
	}
	return db + ".$cmd"
}

// secretCommands carry passwords or proofs of them.
var secretCommands = map[string]bool{
	"saslStart": true, "saslContinue": true, "createUser": true, "updateUser": true, "authenticate": true,
}

// redacted is a command fit for logs and listings.
func redacted(name string, body value.Doc) value.Doc {
	if secretCommands[name] || body.Has("speculativeAuthenticate") {
		return value.NewDoc(strings.Clone(name), value.String("xxx"))
	}
	return body
}
