package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
)

// openSession attaches the command to its logical session, after checking
// that what it says of session and transaction makes sense.
func (s *Service) openSession(c *Call) error {
	g := &c.generic
	if err := g.checkSession(); err != nil {
		return err
	}
	if g.lsid == nil {
		return nil
	}
	key, err := c.lsid(g.lsid, "OperationSessionInfo.lsid")
	if err != nil {
		return err
	}
	if err := c.checkTransactionRules(); err != nil {
		return err
	}
	if c.cmd.flags&noSession != 0 {
		return nil
	}
	c.session = s.sessions.use(key, c.began)
	return nil
}

// checkSession refuses combinations of the session's arguments that have no
// meaning.
func (g *generic) checkSession() error {
	invalid := func(text string) error { return mongoerr.New(mongoerr.InvalidOptions, text) }
	switch {
	case g.lsid == nil && g.txnNumber != nil:
		return invalid("Transaction number requires a session ID to also be specified")
	case g.txnNumber != nil && *g.txnNumber < 0:
		return invalid("Transaction number cannot be negative")
	case g.txnNumber == nil && g.autocommit != nil:
		return invalid("'autocommit' field requires a transaction number to also be specified")
	case g.autocommit != nil && *g.autocommit:
		return invalid("Specifying autocommit=true is not allowed.")
	case g.autocommit == nil && g.startTxn != nil:
		return invalid("'startTransaction' field requires 'autocommit' field to also be specified")
	case g.startTxn != nil && !*g.startTxn:
		return invalid("Specifying startTransaction=false is not allowed.")
	}
	return nil
}

// inSession runs the command. One that carries a txnNumber, be it a
// statement of a transaction or a retryable write, takes its turn in the
// session.
func (s *Service) inSession(c *Call) error {
	if c.session == nil || c.generic.txnNumber == nil {
		return c.outsideTransaction()
	}
	if err := c.session.checkOut(c.ctx); err != nil {
		return err
	}
	defer c.session.checkIn()
	if c.generic.autocommit == nil {
		return c.inRetryableWrite()
	}
	return c.inTransaction()
}
