package commands

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/internal/mongoerr"
)

// openSession attaches the command to its logical session, after it has checked the
// arguments about session and transaction.
func openSession(s *kernel.Service, c *kernel.Call) error {
	g := &c.Generic
	if err := checkSession(g); err != nil {
		return err
	}
	if g.LSID == nil {
		return nil
	}
	key, err := transaction.LSID(c, g.LSID, "OperationSessionInfo.lsid")
	if err != nil {
		return err
	}
	if err := transaction.CheckTransactionRules(c); err != nil {
		return err
	}
	if c.Cmd.Has(kernel.NoSession) {
		return nil
	}
	c.Session, err = s.Sessions.Use(key, c.Began)
	return err
}

// checkSession refuses invalid combinations of the session's arguments.
func checkSession(g *kernel.Generic) error {
	invalid := func(text string) error { return mongoerr.New(mongoerr.InvalidOptions, text) }
	switch {
	case g.LSID == nil && g.TxnNumber != nil:
		return invalid("Transaction number requires a session ID to also be specified")
	case g.TxnNumber != nil && *g.TxnNumber < 0:
		return invalid("Transaction number cannot be negative")
	case g.TxnNumber == nil && g.Autocommit != nil:
		return invalid("'autocommit' field requires a transaction number to also be specified")
	case g.Autocommit != nil && *g.Autocommit:
		return invalid("Specifying autocommit=true is not allowed.")
	case g.Autocommit == nil && g.StartTxn != nil:
		return invalid("'startTransaction' field requires 'autocommit' field to also be specified")
	case g.StartTxn != nil && !*g.StartTxn:
		return invalid("Specifying startTransaction=false is not allowed.")
	}
	return nil
}

// inSession runs the command. One that carries a txnNumber, be it a
// statement of a transaction or a retryable write, takes its turn in the
// session.
func inSession(s *kernel.Service, c *kernel.Call) error {
	if c.Session == nil || c.Generic.TxnNumber == nil {
		return transaction.OutsideTransaction(c)
	}
	if err := c.Session.CheckOut(c.Ctx); err != nil {
		return err
	}
	defer c.Session.CheckIn()
	if c.Generic.Autocommit == nil {
		return transaction.InRetryableWrite(c)
	}
	c.Conn.NoteTransaction(c.Session)
	return transaction.InTransaction(c)
}
