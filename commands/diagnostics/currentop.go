package diagnostics

import (
	"os"
	"time"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/commands/users"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// opsWanted says which operations $currentOp shows.
type opsWanted struct {
	all         bool // the operations of all users, not only the client's own
	sessions    bool // open transactions that no command works in
	cursors     bool // cursors that no command reads
	connections bool // connections that no command came on
	truncate    bool // long commands are not shown whole
}

// maxBody is the size to which commands are truncated, negative for none.
func (w opsWanted) maxBody() int {
	if w.truncate {
		return kernel.MaxCurrentOp
	}
	return -1
}

// listOps describes the running operations.
func listOps(c *kernel.Call, w opsWanted) (docs []value.Doc) {
	user := access.UserName(c)
	cursors := c.Svc.Cursors.Active(w.maxBody())
	for _, op := range c.Svc.Ops.ListWith(w.maxBody(), shapeOf) {
		if w.all || op.User == user {
			docs = append(docs, describeOperation(c.Svc, op, cursors, c.Now))
		}
	}
	if d := describeMonitor(c.Svc, c.Now); d != nil && w.all {
		docs = append(docs, d)
	}
	if w.connections {
		for _, conn := range c.Svc.IdleConns() {
			if w.all || conn.UserName() == user {
				docs = append(docs, describeIdleConn(conn, c.Now))
			}
		}
	}
	if w.sessions {
		docs = append(docs, idleTransactions(c.Svc, c.Now, func(s *session.Session) bool { return w.all || s.Key.User == user })...)
	}
	if w.cursors {
		docs = append(docs, c.Svc.Cursors.Idle(func(cur *kernel.Cursor) bool { return w.all || cur.User == user }, w.maxBody())...)
	}
	return docs
}

// shapeOf returns the hash of a command's query shape, "" if it has none.
func shapeOf(body value.Doc) string {
	return canonical.QueryShapeHash(body.Lookup("$db").Str(), body)
}

// OpenCurrentOp opens $currentOp: the operations that are running, and idle
// connections and sessions if the arguments request them.
func OpenCurrentOp(h *pipeline.Environment, _ *agg.Exec, s agg.Special) (agg.Iterator, error) {
	sessions, given := s.Spec.Get("idleSessions")
	docs := listOps(h.Exec.Running(), opsWanted{
		all: s.Spec.Lookup("allUsers").Truthy(), cursors: s.Spec.Lookup("idleCursors").Truthy(), sessions: !given || sessions.Truthy(),
		connections: s.Spec.Lookup("idleConnections").Truthy(), truncate: s.Spec.Lookup("truncateOps").Truthy(),
	})
	return agg.Docs(docs...), nil
}

// currentOpOptions are the fields of currentOp that are not part of its filter.
var currentOpOptions = map[string]bool{"$all": true, "$ownOps": true, "$truncateOps": true}

// runCurrentOp runs $currentOp with a $match of all fields that are not options. It always
// truncates, as mongod does unless it runs tests.
func runCurrentOp(c *kernel.Call) error {
	filter := value.NewBuilder()
	first := true
	for name, v := range c.Body.All() {
		if !first && !args.IsGeneric(name) && !currentOpOptions[name] {
			filter.Append(name, v)
		}
		first = false
	}
	m, err := match.Compile(filter.Doc(), match.Options{Scope: c.Svc.RootScope()})
	if err != nil {
		return err
	}
	env := expr.NewEnv(c.Now)
	b := c.Reply
	b.StartArray("inprog")
	for _, d := range listOps(c, opsWanted{
		all: !users.Given(c.Body, "$ownOps"), sessions: true, connections: users.Given(c.Body, "$all"), truncate: true,
	}) {
		ok, err := m.Match(env, d)
		if err != nil {
			return err
		}
		if ok {
			b.Document("", d)
		}
	}
	b.End()
	if c.Svc.Fsync.Held() {
		b.Bool("fsyncLock", true).String("info", "use db.fsyncUnlock() to terminate the fsync write/snapshot lock")
	}
	return nil
}

// describeOperation is the document of one operation.
func describeOperation(s *kernel.Service, op *kernel.Operation, cursors map[int32]kernel.ActiveCursor, now int64) value.Doc {
	b := value.NewBuilder()
	appendClientOf(b, op.Conn, op.User)
	cursor, reads := cursors[op.ID]
	running := max(now-op.Started, 0)
	b.Bool("active", true).String("currentOpTime", observe.ISOTime(now)).Int32("opid", op.ID).
		Int64("secs_running", running/1000).Int64("microsecs_running", running*1000).
		String("op", opKind(op.Name)).String("ns", kernel.OperationNamespace(op)).
		Document("command", kernel.WithComment(redacted(s, op.Name, op.Body), cursor.Created)).Bool("killPending", op.Killed.Load())
	if p := op.Plan.Load(); p != nil {
		b.String("planSummary", *p)
	}
	if reads {
		b.Document("cursor", cursor.Doc)
	}
	if op.Shape != "" {
		b.String("queryShapeHash", op.Shape)
	}
	if op.Session != nil {
		kernel.AppendLSID(b, op.Session)
		if t := op.Session.Txn.Load(); t != nil {
			transaction.DescribeTransaction(s, b, t)
		}
	}
	b.Int32("numYields", 0)
	b.StartDocument("locks").End()
	b.Bool("waitingForLock", false)
	return b.Doc()
}

// describeIdleConn is the document of a connection without an operation.
func describeIdleConn(conn *kernel.Conn, now int64) value.Doc {
	b := value.NewBuilder()
	appendClientOf(b, conn, conn.UserName())
	b.Bool("active", false).String("currentOpTime", observe.ISOTime(now))
	return b.Doc()
}

// describeMonitor is the document of the visit that the TTL monitor is at; nil if it is at
// none. It has no opid, because a visit cannot be killed.
func describeMonitor(s *kernel.Service, now int64) value.Doc {
	visit := s.Monitor.Visiting()
	if visit == nil {
		return nil
	}
	b := value.NewBuilder()
	appendClientOf(b, nil, "local.__system")
	running := s.Real.Now().Sub(visit.Since)
	b.String("desc", "TTLMonitor").Bool("active", true).String("currentOpTime", observe.ISOTime(now)).
		Int64("secs_running", int64(running/time.Second)).Int64("microsecs_running", running.Microseconds()).
		String("op", "remove").String("ns", visit.Target.Namespace().String()).Document("command", value.NewDoc()).Int32("numYields", 0)
	b.StartDocument("locks").End()
	return b.Bool("waitingForLock", false).Doc()
}

// appendClientOf writes who has a connection; conn is nil for work of the server itself.
func appendClientOf(b *value.Builder, conn *kernel.Conn, user string) {
	host, _ := os.Hostname()
	b.String("type", "op").String("host", host)
	if conn != nil {
		b.String("desc", conn.Context()).Int64("connectionId", conn.ID).String("client", conn.Remote)
		if meta, app := conn.ClientInfo(); meta != nil {
			if app != "" {
				b.String("appName", app)
			}
			b.Document("clientMetadata", meta)
		}
	}
	if n, err := auth.ParseID(user); err == nil {
		b.StartArray("effectiveUsers").StartDocument("").String("user", n.Name).String("db", n.DB).End().End()
	}
}

// idleTransactions describes the open transactions, of the sessions that are
// wanted, which no command is working in.
func idleTransactions(s *kernel.Service, now int64, wanted func(*session.Session) bool) (docs []value.Doc) {
	busy := map[*session.Session]bool{}
	for _, op := range s.Ops.List() {
		busy[op.Session] = true
	}
	for _, ss := range s.Sessions.List() {
		t := ss.Txn.Load()
		if t == nil || busy[ss] || !wanted(ss) {
			continue
		}
		b := value.NewBuilder()
		b.String("type", "idleSession").Bool("active", false).String("op", "none").String("ns", "")
		b.String("desc", "inactive transaction").String("currentOpTime", observe.ISOTime(now))
		kernel.AppendLSID(b, ss)
		transaction.DescribeTransaction(s, b, t)
		docs = append(docs, b.Doc())
	}
	return docs
}
