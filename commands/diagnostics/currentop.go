package diagnostics

import (
	"os"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/commands/users"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// opsWanted says which operations $currentOp shows.
type opsWanted struct {
	all      bool // the operations of all users, not only the client's own
	sessions bool // open transactions that no command works in
	cursors  bool // cursors that no command reads
}

// listOps describes the running operations.
func listOps(c *kernel.Call, w opsWanted) (docs []value.Doc) {
	user := access.UserName(c)
	for _, op := range c.Svc.Ops.List(true) {
		if w.all || op.User == user {
			docs = append(docs, describeOperation(c.Svc, op, c.Now))
		}
	}
	if w.sessions {
		docs = append(docs, idleTransactions(c.Svc, c.Now, func(s *session.Session) bool { return w.all || s.Key.User == user })...)
	}
	if w.cursors {
		docs = append(docs, c.Svc.Cursors.Idle(func(cur *kernel.Cursor) bool { return w.all || cur.User == user })...)
	}
	return docs
}

// OpenCurrentOp opens $currentOp: the operations that are running, and idle
// connections and sessions if the arguments request them.
func OpenCurrentOp(h *pipeline.Environment, _ *agg.Exec, s agg.Special) (agg.Iterator, error) {
	sessions, given := s.Spec.Get("idleSessions")
	docs := listOps(h.Exec.Running(), opsWanted{
		all: s.Spec.Lookup("allUsers").Truthy(), cursors: s.Spec.Lookup("idleCursors").Truthy(), sessions: !given || sessions.Truthy(),
	})
	return agg.Docs(docs...), nil
}

// currentOpOptions are the fields of currentOp that are not part of its filter.
var currentOpOptions = map[string]bool{"$all": true, "$ownOps": true, "$truncateOps": true}

// runCurrentOp runs $currentOp with a $match of all fields that are not options.
func runCurrentOp(c *kernel.Call) error {
	filter := value.NewBuilder()
	first := true
	for name, v := range c.Body.All() {
		if !first && !args.IsGeneric(name) && !currentOpOptions[name] {
			filter.Append(name, v)
		}
		first = false
	}
	m, err := match.Compile(filter.Doc(), match.Options{})
	if err != nil {
		return err
	}
	env := expr.NewEnv(c.Now)
	b := c.Reply
	b.StartArray("inprog")
	for _, d := range listOps(c, opsWanted{all: !users.Given(c.Body, "$ownOps"), sessions: true}) {
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
func describeOperation(s *kernel.Service, op *kernel.Operation, now int64) value.Doc {
	b := value.NewBuilder()
	host, _ := os.Hostname()
	b.String("type", "op").String("host", host)
	if op.Conn != nil {
		b.String("desc", "conn"+value.Int64(op.Conn.ID).String()).Int64("connectionId", op.Conn.ID).String("client", op.Conn.Remote)
		if meta, app := op.Conn.ClientInfo(); meta != nil {
			if app != "" {
				b.String("appName", app)
			}
			b.Document("clientMetadata", meta)
		}
	}
	if n, err := auth.ParseID(op.User); err == nil {
		b.StartArray("effectiveUsers").StartDocument("").String("user", n.Name).String("db", n.DB).End().End()
	}
	running := max(now-op.Started, 0)
	b.Bool("active", true).String("currentOpTime", observe.ISOTime(now)).Int32("opid", op.ID).
		Int64("secs_running", running/1000).Int64("microsecs_running", running*1000).
		String("op", opKind(op.Name)).String("ns", kernel.OperationNamespace(op)).
		Document("command", redacted(op.Name, op.Body)).Bool("killPending", op.Killed.Load())
	if p := op.Plan.Load(); p != nil {
		b.String("planSummary", *p)
	}
	if hash := canonical.QueryShapeHash(op.Body.Lookup("$db").Str(), op.Body); hash != "" {
		b.String("queryShapeHash", hash)
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

// idleTransactions describes the open transactions, of the sessions that are
// wanted, which no command is working in.
func idleTransactions(s *kernel.Service, now int64, wanted func(*session.Session) bool) (docs []value.Doc) {
	busy := map[*session.Session]bool{}
	for _, op := range s.Ops.List(false) {
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
