package commands

import (
	"cmp"
	"os"
	"slices"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// opsWanted says which operations $currentOp shows.
type opsWanted struct {
	all      bool // those of all users, not only one's own
	sessions bool // open transactions that no command works in
	cursors  bool // cursors that no command reads
}

// listOps describes what goes on.
func (c *Call) listOps(w opsWanted) (docs []value.Doc) {
	user := c.userName()
	for _, op := range c.svc.ops.list(true) {
		if w.all || op.user == user {
			docs = append(docs, c.svc.describe(op, c.now))
		}
	}
	if w.sessions {
		docs = append(docs, c.svc.idleTransactions(c.now, func(s *session) bool { return w.all || s.key.user == user })...)
	}
	if w.cursors {
		docs = append(docs, c.svc.cursors.idle(func(cur *cursor) bool { return w.all || cur.user == user })...)
	}
	return docs
}

func openCurrentOp(h *host, _ *agg.Exec, s agg.Special) (agg.Iterator, error) {
	sessions, given := s.Spec.Get("idleSessions")
	docs := h.x.running().listOps(opsWanted{
		all: s.Spec.Lookup("allUsers").Truthy(), cursors: s.Spec.Lookup("idleCursors").Truthy(), sessions: !given || sessions.Truthy(),
	})
	return agg.Docs(docs...), nil
}

// currentOpOptions are the fields of currentOp that are no part of its filter.
var currentOpOptions = map[string]bool{"$all": true, "$ownOps": true, "$truncateOps": true}

// runCurrentOp is the stage $currentOp with a $match behind it: the fields
// beside the options.
func runCurrentOp(c *Call) error {
	filter := value.NewBuilder()
	first := true
	for name, v := range c.Body.All() {
		if !first && !genericArgs[name] && !currentOpOptions[name] {
			filter.Append(name, v)
		}
		first = false
	}
	m, err := match.Compile(filter.Doc(), match.Options{})
	if err != nil {
		return err
	}
	env := expr.NewEnv(c.now)
	b := c.reply
	b.StartArray("inprog")
	for _, d := range c.listOps(opsWanted{all: !given(c.Body, "$ownOps"), sessions: true}) {
		ok, err := m.Match(env, d)
		if err != nil {
			return err
		}
		if ok {
			b.Document("", d)
		}
	}
	b.End()
	if c.svc.fsync.held() {
		b.Bool("fsyncLock", true).String("info", "use db.fsyncUnlock() to terminate the fsync write/snapshot lock")
	}
	return nil
}

// describe is the document of one operation.
func (s *Service) describe(op *operation, now int64) value.Doc {
	b := value.NewBuilder()
	host, _ := os.Hostname()
	b.String("type", "op").String("host", host)
	if op.conn != nil {
		b.String("desc", "conn"+value.Int64(op.conn.ID).String()).Int64("connectionId", op.conn.ID).String("client", op.conn.Remote)
		if meta, app := op.conn.clientInfo(); meta != nil {
			if app != "" {
				b.String("appName", app)
			}
			b.Document("clientMetadata", meta)
		}
	}
	if n, err := auth.ParseID(op.user); err == nil {
		b.StartArray("effectiveUsers").StartDocument("").String("user", n.Name).String("db", n.DB).End().End()
	}
	running := max(now-op.started, 0)
	b.Bool("active", true).String("currentOpTime", isoTime(now)).Int32("opid", op.id).
		Int64("secs_running", running/1000).Int64("microsecs_running", running*1000).
		String("op", opKind(op.name)).String("ns", operationNamespace(op)).
		Document("command", redacted(op.name, op.body)).Bool("killPending", op.killed.Load())
	if p := op.plan.Load(); p != nil {
		b.String("planSummary", *p)
	}
	if hash := queryShapeHash(op.body.Lookup("$db").Str(), op.body); hash != "" {
		b.String("queryShapeHash", hash)
	}
	if op.session != nil {
		appendLSID(b, op.session)
		if t := op.session.txn.Load(); t != nil {
			s.describeTransaction(b, t)
		}
	}
	b.Int32("numYields", 0)
	b.StartDocument("locks").End()
	b.Bool("waitingForLock", false)
	return b.Doc()
}

// appendLSID writes the id of a session, with the digest of its user.
func appendLSID(b *value.Builder, s *session) {
	b.StartDocument("lsid").Append("id", value.Binary(4, s.key.id[:])).Append("uid", value.Binary(0, s.record.uid[:])).End()
}

// idleTransactions describes the open transactions, of the sessions that are
// wanted, which no command is working in.
func (s *Service) idleTransactions(now int64, wanted func(*session) bool) (docs []value.Doc) {
	busy := map[*session]bool{}
	for _, op := range s.ops.list(false) {
		busy[op.session] = true
	}
	for _, ss := range s.sessions.list() {
		t := ss.txn.Load()
		if t == nil || busy[ss] || !wanted(ss) {
			continue
		}
		b := value.NewBuilder()
		b.String("type", "idleSession").Bool("active", false).String("op", "none").String("ns", "")
		b.String("desc", "inactive transaction").String("currentOpTime", isoTime(now))
		appendLSID(b, ss)
		s.describeTransaction(b, t)
		docs = append(docs, b.Doc())
	}
	return docs
}

// idle describes the cursors, of those that are wanted, which no command reads.
func (r *cursorRegistry) idle(wanted func(*cursor) bool) (docs []value.Doc) {
	host, _ := os.Hostname()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.cursors {
		if !c.inUse && wanted(c) {
			docs = append(docs, c.describe(host))
		}
	}
	slices.SortFunc(docs, func(a, b value.Doc) int { // the oldest first
		return cmp.Compare(createdDate(a), createdDate(b))
	})
	return docs
}

func createdDate(d value.Doc) int64 { return d.Lookup("cursor").Doc().Lookup("createdDate").DateTime() }

// describe is the document of a cursor that is not in use. The caller holds the
// registry.
func (c *cursor) describe(host string) value.Doc {
	b := value.NewBuilder()
	b.String("type", "idleCursor").String("host", host).String("ns", c.ns.String())
	if c.session != nil {
		appendLSID(b, c.session)
	}
	if p := planSummary(c.plan, c.access); p != "" {
		b.String("planSummary", p)
	}
	b.StartDocument("cursor").Int64("cursorId", c.id).
		Int64("nDocsReturned", c.returned).Int64("nBatchesReturned", c.batches).
		Bool("tailable", c.tailable).Bool("awaitData", c.awaitData).
		Document("originatingCommand", truncated(c.created)).Bool("noCursorTimeout", c.noTimeout).
		Date("lastAccessDate", c.lastUsed.UnixMilli()).Date("createdDate", c.opened.UnixMilli()).End()
	return b.Doc()
}
