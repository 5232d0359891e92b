package transaction

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
)

// A driver that has lost the reply to a commit sends it again, and may send it to another
// server of a cluster. So that a mongos knows where to ask for the outcome, it gives the
// driver a recovery token, which comes back with the commit. Here the outcome is in
// config.transactions, which all servers see. But if the first server has not committed yet,
// the other one must prevent that before it answers that there is no such transaction: the
// driver then runs the whole transaction again.

const tokenField, tokenShard = "recoveryToken", "recoveryShardId"

// AppendRecoveryToken writes the recovery token into the reply to a statement of a
// transaction. It is empty until the transaction has written something.
func AppendRecoveryToken(c *kernel.Call) {
	if c.Generic.Autocommit == nil || c.Session == nil || !c.Svc.InCluster() {
		return
	}
	wrote := false
	if t := c.Session.Txn.Load(); t != nil {
		wrote = len(t.Log.Marks) > 0
	} else if c.Cmd.Has(kernel.EndsTransaction) {
		wrote = c.Body.Lookup(tokenField).Doc().Has(tokenShard)
	}
	c.Reply.StartDocument(tokenField)
	if wrote {
		c.Reply.String(tokenShard, kernel.ShardName)
	}
	c.Reply.End()
}

// recoverCommit prevents that a transaction which this server does not know is committed on
// another server, before the client learns that there is no such transaction. why is that
// error. If the other server has just committed it, the client gets an error after which it
// sends the commit again. The caller has the session's turn.
func recoverCommit(c *kernel.Call, why error) error {
	ss, n := c.Session, *c.Generic.TxnNumber
	unknown := c.Svc.InCluster() && c.Cmd.Has(kernel.Commits) && n > ss.Number
	if !unknown || !c.Body.Lookup(tokenField).Doc().Has(tokenShard) {
		return why
	}
	now := c.Svc.Clock.NowMillis()
	err := storage.Retry(c.Ctx, c.Svc.Engine, func(tx storage.Tx) error {
		return c.SaveAborted(tx, now)
	})
	if err != nil {
		return kernel.Translate(storage.Namespace{}, err)
	}
	return why
}
