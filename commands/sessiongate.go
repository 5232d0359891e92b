package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
)

// openSession attaches the command to its logical session.
func (s *Service) openSession(c *Call) error {
	g := &c.generic
	if g.lsid == nil {
		if g.txnNumber != nil {
			return mongoerr.New(mongoerr.InvalidOptions, "Transaction number requires a session ID to also be specified")
		}
		return nil
	}
	key, err := parseLSID(g.lsid, c.userName())
	if err != nil {
		return err
	}
	if c.cmd.flags&noSession != 0 {
		return nil
	}
	c.session = s.sessions.use(key, s.real.Now())
	return nil
}

// inSession runs the command, under the session's lock if it belongs to a
// transaction.
func (s *Service) inSession(c *Call) error {
	return c.cmd.run(c)
}
