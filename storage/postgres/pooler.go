package postgres

import (
	"context"
	"errors"

	"github.com/google/uuid"
)

// errPooler reports a pooler that gives the connections of the database to others
// between transactions. Prepared statements, settings and notifications need a
// connection of their own.
var errPooler = errors.New("between the server and the database is a connection pooler in transaction mode: let it work in session mode (PgBouncer: pool_mode = session), or connect to the database itself")

// checkPooler makes sure that a connection keeps what is set on it, and that another
// one does not get it. A database that lacks such settings is taken as it is.
func (s *store) checkPooler(ctx context.Context, a *conn) error {
	b, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	mark := uuid.NewString()
	if _, err := a.probe(ctx, "select set_config('duskdb.pooler', '"+mark+"', false)"); err != nil {
		return a.lostOnly()
	}
	const read = "select coalesce(current_setting('duskdb.pooler', true), '')"
	for range 3 {
		theirs, err := b.probe(ctx, read)
		if err != nil {
			return b.lostOnly()
		}
		own, err := a.probe(ctx, read)
		if err != nil {
			return a.lostOnly()
		}
		if own != mark || theirs == mark {
			return errPooler
		}
	}
	return nil
}

// probe returns the value that a query returns.
func (c *conn) probe(ctx context.Context, sql string) (value string, err error) {
	c.simple(sql)
	err = c.run(ctx, func(_ int, v [][]byte) error { value = string(v[0]); return nil })
	return value, err
}

// lostOnly returns an error if the connection is lost.
func (c *conn) lostOnly() error {
	if c.broken != nil {
		return c.broken
	}
	return nil
}
