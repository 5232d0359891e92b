package commands

import (
	"errors"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// noStatement marks writes that are no statement of a retryable write.
const noStatement = -1

// retryable is what a command knows of being a retryable write.
type retryable struct {
	on      bool
	stmt    int32 // the statement at work
	image   imageKind
	ids     []int32 // stmtIds of the command, nil: numbered from base
	base    int32
	inserts bool      // the statements at work are plain inserts, whose _ids no reply tells
	retried []int32   // statements answered from the history
	fails   *failData // what a fail point does to the running engine transaction
}

// imageKind says which version of the document findAndModify returns.
type imageKind uint8

const (
	noImage imageKind = iota
	imageBefore
	imageAfter
)

// inRetryableWrite runs a command that carries a txnNumber outside a
// transaction.
func (c *Call) inRetryableWrite() error {
	if err := c.restoreSession(); err != nil {
		return err
	}
	if err := c.checkNumber(); err != nil {
		return err
	}
	ss, n := c.session, *c.generic.txnNumber
	if n > ss.number {
		c.svc.endTransaction(ss, txnAborted)
		ss.number, ss.state, ss.history = n, txnRetryable, ss.history.forget()
	} else if ss.state != txnRetryable {
		return mongoerr.New(mongoerr.IncompleteTransactionHistory, "Cannot retry a retryable write that has been converted into a transaction")
	}
	if err := c.readStatementIDs(); err != nil {
		return err
	}
	c.retry.on, c.retry.stmt = true, noStatement
	err := c.outsideTransaction()
	if len(c.retry.retried) > 0 {
		c.svc.metrics.transactions.retriedCommands.Add(1)
		c.svc.metrics.transactions.retriedStatements.Add(int64(len(c.retry.retried)))
	}
	return err
}

// readStatementIDs reads stmtId, the number of the first statement, or
// stmtIds, those of all.
func (c *Call) readStatementIDs() error {
	id, ids := c.Body.Lookup("stmtId"), c.Body.Lookup("stmtIds")
	switch {
	case !id.IsMissing() && !ids.IsMissing():
		return mongoerr.New(mongoerr.InvalidOptions, "May not specify both stmtId and stmtIds in "+c.cmd.name+" command")
	case !id.IsMissing() && id.Kind() != value.KindInt32:
		return typeError(c.cmd.name+".stmtId", id, "int")
	case !ids.IsMissing() && ids.Kind() != value.KindArray:
		return typeError(c.cmd.name+".stmtIds", ids, "array")
	}
	c.retry.base, c.retry.ids = id.Int32(), nil
	for v := range ids.Doc().Values() {
		c.retry.ids = append(c.retry.ids, int32(v.SafeInt64()))
	}
	return nil
}

// statement makes the i-th statement of the command the one at work. It
// returns its outcome if it has been run before.
func (c *Call) statement(i int) *retriedStatement {
	if !c.retry.on {
		return nil
	}
	id := c.statementID(i)
	c.retry.stmt = id
	done := c.session.history.find(id)
	if done != nil {
		c.retry.retried = append(c.retry.retried, id)
	}
	return done
}

func (c *Call) statementID(i int) int32 {
	if c.retry.ids == nil {
		return c.retry.base + int32(i)
	}
	if i < len(c.retry.ids) {
		return c.retry.ids[i]
	}
	return 0
}

// checkSingle refuses statements that may change many documents.
func (c *Call) checkSingle(multi bool, option string) error {
	if !c.retry.on || !multi {
		return nil
	}
	return mongoerr.New(mongoerr.InvalidOptions, "Cannot use (or request) retryable writes with "+option)
}

// appendRetried writes retriedStmtIds behind the reply of a batch.
func (c *Call) appendRetried() {
	if len(c.retry.retried) == 0 {
		return
	}
	if c.cmd.name == "findAndModify" {
		c.reply.Int32("retriedStmtId", c.retry.retried[0])
		return
	}
	c.reply.StartArray("retriedStmtIds")
	for _, id := range c.retry.retried {
		c.reply.Int32("", id)
	}
	c.reply.End()
}

// saveStatements remembers what the statements of the running engine
// transaction have done, as part of it. ts is the timestamp of its entry.
func (c *Call) saveStatements(tx storage.Tx, ts uint64) (err error) {
	if !c.retry.on {
		return nil
	}
	h := c.session.history
	p := &h.pending
	p.any, p.joined, p.fresh, p.parts, p.moved = false, 0, p.fresh[:0], nil, false
	if c.collectStatements(); !p.any {
		return nil
	}
	if !h.parts { // those of an earlier number
		if err := c.svc.records.dropParts(tx, c.session.record); err != nil {
			return err
		}
	}
	held := h.recent
	if n := len(held) + len(p.fresh); n > mostRecent {
		p.moved = true
		all := append(append(make([]retriedStatement, 0, n), held...), p.fresh...)
		if p.joined > 0 {
			all[len(held)-1].last += p.joined
		}
		if p.parts, err = c.saveParts(tx, all[:n-1]); err != nil {
			return err
		}
	}
	b := c.sessionRecord(ts)
	b.StartArray("statements")
	c.appendRecent(b)
	b.End()
	p.record, err = c.svc.records.save(tx, c.session.record, b.Doc(), c.now)
	c.log.out = b.Bytes()
	return err
}

// appendRecent writes the outcomes that the session's record holds.
func (c *Call) appendRecent(b *value.Builder) {
	p, held := &c.session.history.pending, c.session.history.recent
	if p.moved && len(p.fresh) > 0 {
		p.fresh[len(p.fresh)-1].append(b)
		return
	}
	if p.moved {
		held = held[len(held)-1:]
	}
	for i := range held {
		s := held[i]
		if i == len(held)-1 {
			s.last += p.joined
		}
		s.append(b)
	}
	for i := range p.fresh {
		p.fresh[i].append(b)
	}
}

// sessionRecord begins the session's record in config.transactions, where
// the recorder has made its entries.
func (c *Call) sessionRecord(ts uint64) *value.Builder {
	b := &c.recorder().b
	b.Reset(c.recorder().out[:0])
	b.Document("_id", c.session.recordID).Int64("txnNum", *c.generic.txnNumber)
	b.StartDocument("lastWriteOpTime").Append("ts", stampValue(ts)).Int64("t", c.svc.leader.term.Load()).End()
	return b.Date("lastWriteDate", c.now)
}

// collectStatements derives the outcome of each statement from what was
// recorded of it.
func (c *Call) collectStatements() {
	r := c.log
	any := false
	var s retriedStatement
	for i := range r.marks {
		m := &r.marks[i]
		if m.command || m.stmt == noStatement {
			continue
		}
		if any && s.first != m.stmt {
			c.pend(s)
		}
		any = true
		op := r.op(i)
		s = retriedStatement{first: m.stmt, last: m.stmt, kind: op.Lookup("op").Str()[0]}
		if s.kind == 'i' && c.cmd.name != "insert" && !c.retry.inserts {
			s.id = op.Lookup("o").Doc().Lookup("_id").Clone()
		}
	}
	if !any {
		return
	}
	if c.retry.image != noImage {
		s.image = r.image.Clone()
	}
	c.pend(s)
}

// pend adds the outcome of a statement to what is pending, to the one before
// if that says the same.
func (c *Call) pend(s retriedStatement) {
	p := &c.session.history.pending
	p.any = true
	if n := len(p.fresh); n > 0 {
		if l := &p.fresh[n-1]; l.joins(&s) {
			l.last = s.last
			return
		}
	} else if newest := c.session.history.newest(); newest != nil {
		l := *newest
		l.last += p.joined
		if l.joins(&s) {
			p.joined++
			return
		}
	}
	p.fresh = append(p.fresh, s)
}

// statementsSaved is called once the engine transaction is committed.
func (c *Call) statementsSaved() {
	if !c.retry.on {
		return
	}
	h := c.session.history
	p := &h.pending
	if !p.any {
		return
	}
	if !h.parts {
		c.svc.records.forgetParts(c.session.record)
	}
	if p.joined > 0 {
		h.newest().last += p.joined
		h.done[len(h.done)-1].last += p.joined
	}
	for _, s := range p.fresh {
		h.add(s)
		h.recent = append(h.recent, s)
	}
	if p.moved {
		h.recent = append(h.recent[:0], h.recent[len(h.recent)-1])
		c.svc.records.addParts(c.session.record, p.parts)
	}
	h.parts = true
	c.svc.records.set(c.session.record, p.record)
	clear(p.fresh)
	p.any, p.fresh, p.parts = false, p.fresh[:0], nil
}

// saveCommitted remembers that a transaction has been committed, as part of
// the commit.
func (c *Call) saveCommitted(tx storage.Tx, t *transaction) error {
	if err := c.svc.records.dropParts(tx, c.session.record); err != nil {
		return err
	}
	b := c.sessionRecord(t.log.last)
	id, err := c.svc.records.save(tx, c.session.record, b.String("state", "committed").Doc(), c.now)
	if err == nil {
		c.svc.records.set(c.session.record, id)
	}
	return err
}

// restoreSession reads what an earlier process, or an earlier life of the
// session, has left of it. The caller has the session's turn.
func (c *Call) restoreSession() error {
	ss := c.session
	if ss.restored {
		return nil
	}
	var rec storage.Record
	if id := c.svc.records.get(ss.record); id != 0 {
		err := c.svc.engine.View(c.ctx, func(tx storage.Tx) error {
			coll, err := tx.Collection(transactionsNS)
			if errors.Is(err, storage.ErrNotFound) {
				return nil
			}
			rec, _ = coll.Get(id)
			return err
		})
		if err != nil {
			return err
		}
	}
	ss.restored = true
	if rec.Doc == nil {
		return nil
	}
	ss.number = rec.Doc.Lookup("txnNum").Int64()
	if rec.Doc.Lookup("state").Str() == "committed" {
		ss.state = txnCommitted
		return nil
	}
	ss.state, ss.history = txnRetryable, &retryHistory{}
	if err := c.svc.engine.View(c.ctx, c.readParts); err != nil {
		return err
	}
	for v := range rec.Doc.Lookup("statements").Doc().Values() {
		s := readStatement(v.Doc())
		ss.history.add(s)
		ss.history.recent = append(ss.history.recent, s)
	}
	ss.history.parts = true
	return nil
}

// atStatement says within an engine transaction which statement writes next.
func (c *Call) atStatement(i int) {
	if c.retry.on && c.log != nil {
		c.log.stmt = c.statementID(i)
	}
}

// retried runs the i-th statement of a command, or answers it as its first
// run was answered.
func (c *Call) retried(i int, run func() (updated, error)) (updated, error) {
	if s := c.statement(i); s != nil {
		return s.outcome(), nil
	}
	return run()
}

// outcome is what the statement answered when it was run.
func (s *retriedStatement) outcome() updated {
	out := updated{old: s.image, new: s.image}
	switch s.kind {
	case 'i':
		out.upserted = s.id
	case 'u':
		out.matched, out.modified = 1, 1
	default:
		out.matched = 1
	}
	return out
}

// outsideTransaction runs a command that is no statement of a transaction.
func (c *Call) outsideTransaction() error {
	if c.generic.readConcern != nil {
		if err := c.afterClusterTime(); err != nil {
			return err
		}
		done, err := c.readSnapshot()
		if err != nil {
			return err
		}
		defer done()
	}
	return c.cmd.run(c)
}
