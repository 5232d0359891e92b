package kernel

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// retryable is the state of a command that is a retryable write.
type retryable struct {
	On      bool
	Stmt    int32 // the statement at work
	Image   oplog.ImageKind
	ids     []int32 // stmtIds of the command, nil: numbered from base
	base    int32
	Inserts bool              // the statements at work are plain inserts, whose _ids no reply tells
	Retried []int32           // statements answered from the history
	fails   *observe.FailData // the effect of a fail point on the running engine transaction
}

// ReadStatementIDs reads stmtId, the number of the first statement, or
// stmtIds, those of all.
func (c *Call) ReadStatementIDs() error {
	id, ids := c.Body.Lookup("stmtId"), c.Body.Lookup("stmtIds")
	switch {
	case !id.IsMissing() && !ids.IsMissing():
		return mongoerr.New(mongoerr.InvalidOptions, "May not specify both stmtId and stmtIds in "+c.Cmd.Name+" command")
	case !id.IsMissing() && id.Kind() != value.KindInt32:
		return args.TypeError(c.Cmd.Name+".stmtId", id, "int")
	case !ids.IsMissing() && ids.Kind() != value.KindArray:
		return args.TypeError(c.Cmd.Name+".stmtIds", ids, "array")
	}
	c.Retry.base, c.Retry.ids = id.Int32(), nil
	for v := range ids.Doc().Values() {
		c.Retry.ids = append(c.Retry.ids, int32(v.SafeInt64()))
	}
	return nil
}

// Statement makes the i-th statement of the command the current one. If it has run before,
// Statement returns its outcome.
func (c *Call) Statement(i int) *session.RetriedStatement {
	if !c.Retry.On {
		return nil
	}
	id := c.StatementID(i)
	c.Retry.Stmt = id
	done := c.Session.History.Find(id)
	if done != nil {
		c.Retry.Retried = append(c.Retry.Retried, id)
	}
	return done
}

// StatementID returns the stmtId of the i-th statement of the command.
func (c *Call) StatementID(i int) int32 {
	if c.Retry.ids == nil {
		return c.Retry.base + int32(i)
	}
	if i < len(c.Retry.ids) {
		return c.Retry.ids[i]
	}
	return 0
}

// CheckSingle refuses statements that may change many documents.
func (c *Call) CheckSingle(multi bool, option string) error {
	if !c.Retry.On || !multi {
		return nil
	}
	return mongoerr.New(mongoerr.InvalidOptions, "Cannot use (or request) retryable writes with "+option)
}

// AppendRetried writes retriedStmtIds behind the reply of a batch.
func (c *Call) AppendRetried() {
	if len(c.Retry.Retried) == 0 {
		return
	}
	if !c.Cmd.Has(Sequences) { // a command of one statement
		c.Reply.Int32("retriedStmtId", c.Retry.Retried[0])
		return
	}
	c.Reply.StartArray("retriedStmtIds")
	for _, id := range c.Retry.Retried {
		c.Reply.Int32("", id)
	}
	c.Reply.End()
}

// saveStatements stores the outcomes of the statements of the running engine transaction,
// as part of this transaction. ts is the timestamp of its log entry.
func (c *Call) saveStatements(tx storage.Tx, ts uint64) (err error) {
	if !c.Retry.On {
		return nil
	}
	h := c.Session.History
	p := &h.Pending
	p.Any, p.Joined, p.Added, p.Moved = false, 0, p.Added[:0], false
	if c.collectStatements(); !p.Any {
		return nil
	}
	if c.Svc.Shared {
		if err := c.Session.CheckUnmoved(tx); err != nil {
			return err
		}
	}
	if !h.Parts { // those of an earlier number
		if err := c.Session.DropParts(tx); err != nil {
			return err
		}
	}
	held := h.Recent
	if n := len(held) + len(p.Added); n > session.MaxRecent {
		p.Moved = true
		all := append(append(make([]session.RetriedStatement, 0, n), held...), p.Added...)
		if p.Joined > 0 {
			all[len(held)-1].Last += p.Joined
		}
		if err := c.Session.AddParts(tx, *c.Generic.TxnNumber, all[:n-1], c.Now); err != nil {
			return err
		}
	}
	b := c.sessionRecord(ts)
	b.StartArray("statements")
	c.appendRecent(b)
	b.End()
	d := b.Doc()
	p.Stored, err = c.Session.Save(tx, d, c.Now)
	if c.Svc.Shared {
		p.Stored.Doc = d.Clone()
	}
	return err
}

// appendRecent writes the outcomes that the session's record holds.
func (c *Call) appendRecent(b *value.Builder) {
	p, held := &c.Session.History.Pending, c.Session.History.Recent
	if p.Moved && len(p.Added) > 0 {
		p.Added[len(p.Added)-1].Append(b)
		return
	}
	if p.Moved {
		held = held[len(held)-1:]
	}
	for i := range held {
		s := held[i]
		if i == len(held)-1 {
			s.Last += p.Joined
		}
		s.Append(b)
	}
	for i := range p.Added {
		p.Added[i].Append(b)
	}
}

// sessionRecord begins the session's record in config.transactions, where
// the recorder has made its entries.
func (c *Call) sessionRecord(ts uint64) *value.Builder {
	b := c.Recorder().Scratch()
	b.Document("_id", c.Session.RecordID).Int64("txnNum", *c.Generic.TxnNumber)
	b.StartDocument("lastWriteOpTime").Append("ts", clustertime.Value(ts)).Int64("t", c.Svc.Leader.Term.Load()).End()
	return b.Date("lastWriteDate", c.Now)
}

// collectStatements derives the outcome of each statement from its recorded operations.
func (c *Call) collectStatements() {
	r := c.log
	any := false
	var s session.RetriedStatement
	for i := range r.Marks {
		m := &r.Marks[i]
		if m.Command || m.Stmt == oplog.NoStatement {
			continue
		}
		if any && s.First != m.Stmt {
			c.pend(s)
		}
		any = true
		op := r.Op(i)
		s = session.RetriedStatement{First: m.Stmt, Last: m.Stmt, Kind: op.Lookup("op").Str()[0]}
		if s.Kind == 'i' && !c.Cmd.Has(PlainInserts) && !c.Retry.Inserts {
			s.ID = op.Lookup("o").Doc().Lookup("_id").Clone()
		}
	}
	if !any {
		return
	}
	if c.Retry.Image != oplog.NoImage {
		s.Image = r.Statement.Image.Clone()
	}
	c.pend(s)
}

// pend adds the outcome of a statement to the pending ones. It joins it with the outcome
// before if both are equal.
func (c *Call) pend(s session.RetriedStatement) {
	p := &c.Session.History.Pending
	p.Any = true
	if n := len(p.Added); n > 0 {
		if l := &p.Added[n-1]; l.Joins(&s) {
			l.Last = s.Last
			return
		}
	} else if newest := c.Session.History.Newest(); newest != nil {
		l := *newest
		l.Last += p.Joined
		if l.Joins(&s) {
			p.Joined++
			return
		}
	}
	p.Added = append(p.Added, s)
}

// statementsSaved is called once the engine transaction is committed.
func (c *Call) statementsSaved() {
	if !c.Retry.On {
		return
	}
	h := c.Session.History
	p := &h.Pending
	if !p.Any {
		return
	}
	p.Stored.Parts = p.Moved || h.Parts && p.Stored.Parts
	if p.Joined > 0 {
		h.Newest().Last += p.Joined
		h.Done[len(h.Done)-1].Last += p.Joined
	}
	for _, s := range p.Added {
		h.Add(s)
		h.Recent = append(h.Recent, s)
	}
	if p.Moved {
		h.Recent = append(h.Recent[:0], h.Recent[len(h.Recent)-1])
	}
	h.Parts = true
	c.Session.Stored = p.Stored
	clear(p.Added)
	p.Any, p.Added = false, p.Added[:0]
}

// SaveCommitted remembers that a transaction has been committed, as part of
// the commit. What it returns is the session's Stored once the commit has succeeded.
func (c *Call) SaveCommitted(tx storage.Tx, t *session.Transaction) (session.Stored, error) {
	if c.Svc.Shared {
		if err := c.Session.CheckUnmoved(tx); err != nil {
			return session.Stored{}, err
		}
	}
	if err := c.Session.DropParts(tx); err != nil {
		return session.Stored{}, err
	}
	b := c.sessionRecord(t.Log.Last())
	d := b.String("state", stateCommitted).Doc()
	stored, err := c.Session.Save(tx, d, c.Now)
	stored.Parts = false
	if c.Svc.Shared {
		stored.Doc = d.Clone()
	}
	return stored, err
}

// SaveAborted stores that the transaction of the call's number is not to be committed, on
// any server. It fails if another server has gone on with the session meanwhile.
func (c *Call) SaveAborted(tx storage.Tx, now int64) error {
	if err := c.Session.CheckUnmoved(tx); err != nil {
		return err
	}
	if err := c.Session.DropParts(tx); err != nil {
		return err
	}
	b := value.NewBuilder()
	b.Document("_id", c.Session.RecordID).Int64("txnNum", *c.Generic.TxnNumber)
	b.StartDocument("lastWriteOpTime").Append("ts", clustertime.Value(c.Svc.Stamps.Current())).Int64("t", c.Svc.Leader.Term.Load()).End()
	_, err := c.Session.Save(tx, b.Date("lastWriteDate", now).String("state", stateAborted).Doc(), now)
	return err
}

// The states of a transaction in the session's record.
const stateCommitted, stateAborted = "committed", "aborted"

// RestoreSession reads the stored record of the session, from before a restart or before the
// session was closed. With other servers it reads it each time, as the client may have gone
// on with the session there. The caller has the session's turn.
func (c *Call) RestoreSession() error {
	ss := c.Session
	if ss.Restored && !c.Svc.Shared {
		return nil
	}
	var rec value.Doc
	err := storage.ViewBriefly(c.Ctx, c.Svc.Engine, func(tx storage.Tx) (err error) {
		rec, err = ss.Load(tx)
		return err
	})
	if err != nil {
		return err
	}
	if rec == nil {
		ss.Restored = true
		return nil
	}
	number, state := rec.Lookup("txnNum").Int64(), rec.Lookup("state").Str()
	if ss.Restored && (number < ss.Number || number == ss.Number && ss.InTransaction() && state != stateAborted) {
		return nil // nothing has been stored of the present number
	}
	c.Svc.EndTransaction(ss, session.TxnAborted)
	ss.Number = number
	switch state {
	case stateCommitted:
		ss.State, ss.Restored = session.TxnCommitted, true
		return nil
	case stateAborted:
		ss.State, ss.Restored = session.TxnAborted, true
		return nil
	}
	ss.State, ss.History = session.TxnRetryable, ss.History.Forget()
	if err := c.Svc.Engine.View(c.Ctx, ss.ReadParts); err != nil {
		return err
	}
	for v := range rec.Lookup("statements").Doc().Values() {
		s := session.ReadStatement(v.Doc())
		ss.History.Add(s)
		ss.History.Recent = append(ss.History.Recent, s)
	}
	ss.History.Parts, ss.Restored = true, true
	return nil
}

// AtStatement records, within an engine transaction, which statement writes next.
func (c *Call) AtStatement(i int) {
	if c.Retry.On && c.log != nil {
		c.log.Statement.ID = c.StatementID(i)
	}
}
