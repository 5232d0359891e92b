package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/storage"
)

// needed is what statements take for granted that other databases with the protocol of
// PostgreSQL do not have, or have in another way. Each query returns yes if it is there.
var needed = []struct{ what, sql string }{
	{"division of whole numbers that yields a whole number", `select case when 7::int8 / 2::int8 = 3 then 'yes' end`},
	{"strings of bytes that sort by their bytes", `select case when '\x00ff'::bytea < '\x01'::bytea and '\x7f'::bytea < '\x80'::bytea then 'yes' end`},
	{"arrays of parameters as rows, in their order", `select case when sum(case when u.k = '\x02'::bytea then u.i end) = 2 then 'yes' end from unnest('{1,2}'::int4[], array['\x01', '\x02']::bytea[]) with ordinality u(c, k, i)`},
	{"lateral queries", `select case when sum(x.n) = 3 then 'yes' end from unnest('{1,2}'::int4[]) u(c), lateral (select u.c as n limit 1) x`},
	{"the clock of the database", `select case when clock_timestamp() - now() < interval '1 day' then 'yes' end`},
	{"the catalog of tables", `select case when count(*) > 0 then 'yes' end from pg_catalog.pg_class where relname = 'pg_class' and relkind = 'r' and relpersistence = 'p' and not row_security_active(oid)`},
}

// checkDatabase makes sure that the database has what is needed, before anything is made in it.
func (s *store) checkDatabase(ctx context.Context, c *conn) error {
	var lacks []string
	for _, n := range needed {
		got, err := c.probe(ctx, n.sql)
		switch {
		case c.broken != nil:
			return c.broken
		case errors.Is(s.explain(ctx, err), storage.ErrUnavailable):
			return err
		case err != nil || got != "yes":
			lacks = append(lacks, n.what)
		}
	}
	level, err := c.isolation(ctx)
	if err != nil {
		return err
	}
	switch level {
	case "repeatable read", "snapshot", "serializable":
	default:
		lacks = append(lacks, "transactions that read one state (repeatable read)")
	}
	if len(lacks) == 0 {
		return nil
	}
	return fmt.Errorf("%s lacks what the engine needs: %s", c.product(ctx), strings.Join(lacks, "; "))
}

// isolation is what the database makes of a transaction that is to read one state.
func (c *conn) isolation(ctx context.Context) (level string, err error) {
	c.simple(beginReader.sql)
	c.simple(`select current_setting('transaction_isolation')`)
	err = c.run(ctx, func(_ int, v [][]byte) error { level = string(v[0]); return nil })
	if c.broken == nil && c.status != 'I' {
		c.simple(rollback.sql)
		_ = c.run(ctx, nil) // also of what has failed
	}
	if err != nil {
		level = ""
	}
	return level, c.lostOnly()
}

// product is what the database says that it is.
func (c *conn) product(ctx context.Context) string {
	name, err := c.probe(ctx, `select version()`)
	if err != nil || name == "" {
		return "the database, which does not say what it is,"
	}
	name, _, _ = strings.Cut(name, " on ") // the platform
	return fmt.Sprintf("the database (%s)", name)
}

// refused makes the error of a statement that a database does not know one that says so.
func (c *conn) refused(ctx context.Context, err error) error {
	var pe *pgconn.PgError
	if c.broken != nil || !errors.As(err, &pe) || !unknownToIt(pe.Code) {
		return err
	}
	return fmt.Errorf("%s lacks what the engine needs: %w", c.product(ctx), err)
}

// unknownToIt reports whether a code says that a database does not know what a statement
// has: not that a table is missing, which is there again after a copy, or a right.
func unknownToIt(code string) bool {
	switch code {
	case "42P01", "3F000", "42501":
		return false
	}
	return strings.HasPrefix(code, "42") || strings.HasPrefix(code, "0A")
}
