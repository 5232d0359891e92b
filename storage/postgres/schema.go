package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/storage"

	"github.com/duskdb/duskdb/clock"
)

// format is the version of the tables. migrations[n] turns version n into n+1.
const format = len(migrations)

var migrations = [...][]string{{
	// The collection comes first in the key, so that a database that spreads rows
	// over nodes can keep a collection together.
	`create table kv (c int4 not null, k bytea not null, v bytea not null, ver int8 not null, primary key (c, k))`,
	`create table head (one int4 primary key, ver int8 not null, catalog int8 not null, stamp int8 not null, numbers int8 not null)`,
	`insert into head values (1, 1, 1, 0, 0)`,
	`create table catalog (num int4 primary key, ver int8 not null, doc bytea not null)`,
	`create table stats (num int4 primary key, ver int8 not null, row bytea not null)`,
	`create index stats_ver on stats (ver)`,
	`create table server (id text primary key, address text not null, seq int8 not null, seen int8 not null, until timestamptz not null)`,
	`create table lease (job text primary key, owner text not null, until timestamptz not null)`,
}, {
	// What open transactions have written.
	`create table claim (c int4 not null, k bytea not null, server text not null, txn int8 not null, primary key (c, k))`,
	`create index claim_owner on claim (server, txn)`,
}, {
	// Each commit changes a version in stats: with an index over it, also all
	// indexes would change.
	`drop index stats_ver`,
}, {
	// For monitoring.
	`alter table server add column since timestamptz not null default now()`,
	`alter table lease add column since timestamptz not null default now()`,
}, {
	// The states that other servers may read, with their names in the database.
	`create table snapshot (number int8 primary key, server text not null, ver int8 not null, name text not null)`,
}}

// tables are all of them but meta.
var tables = []string{"kv", "head", "catalog", "stats", "server", "lease", "claim", "snapshot"}

// quoted quotes a name.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// createSchema makes the tables, or brings them up to date. Several servers may do
// it at the same time: one of them succeeds, the others begin again.
func (s *store) createSchema(ctx context.Context) error {
	for try := 1; ; try++ {
		err := s.createOnce(ctx)
		if err == nil || try == 20 || !racing(err) {
			return err
		}
		select {
		case <-clock.System().After(time.Duration(try) * 20 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// racing reports whether an error comes from another server that makes the tables.
func racing(err error) bool {
	var pe *pgconn.PgError
	if !errors.As(err, &pe) {
		return false
	}
	switch pe.Code {
	case "23505", "42P06", "42P07", "40001", "40P01", "42710", "XX000":
		return true
	}
	return false
}

func (s *store) createOnce(ctx context.Context) error {
	c, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	if err := s.checkPooler(ctx, c); err != nil {
		return err
	}
	if err := s.checkDatabase(ctx, c); err != nil {
		return err
	}
	if s.opts.copying {
		return s.checkCopying(ctx, c)
	}
	if err := s.createMeta(ctx, c); err != nil {
		return err
	}
	c.simple(`begin isolation level serializable`)
	c.simple(`insert into meta values (1, 0) on conflict do nothing`)
	c.simple(`update meta set one = 1`) // waits for another server
	c.simple(`select format::text from meta`)
	found := int64(0)
	err = c.run(ctx, func(_ int, v [][]byte) error {
		_, err := fmt.Sscan(string(v[0]), &found)
		return err
	})
	if err != nil {
		return err
	}
	switch {
	case found == unfinished:
		return unfinishedError(s.opts.Schema)
	case found > int64(format):
		return newerFormat(ctx, c, s.opts.Schema, found)
	}
	if err := s.checkTables(ctx, c); err != nil { // before anything is changed
		return err
	}
	if found < int64(format) {
		return s.migrate(ctx, c, int(found))
	}
	c.simple(`commit`)
	return c.run(ctx, nil)
}

// migrate brings the tables up to date, and commits.
func (s *store) migrate(ctx context.Context, c *conn, found int) error {
	for _, step := range migrations[found:] {
		for _, sql := range step {
			c.simple(sql)
		}
	}
	c.simple(fmt.Sprintf(`update meta set format = %d`, format))
	if s.opts.Version != "" {
		c.simple(`comment on table meta is ` + literal(s.opts.Version))
	}
	if err := c.run(ctx, nil); err != nil {
		return err
	}
	if err := s.checkTables(ctx, c); err != nil { // a database may make others than it was told to
		return err
	}
	c.simple(`commit`)
	return c.run(ctx, nil)
}

// createMeta makes the schema and the table of the format, unless they exist. It
// leaves tables with an unfinished copy as they are: a lock of the copy would have
// to be waited for.
func (s *store) createMeta(ctx context.Context, c *conn) error {
	found, err := formatOf(ctx, c)
	switch {
	case errors.Is(err, errNoTables) && s.opts.MustExist:
		return fmt.Errorf("the schema %s has no data of DuskDB: %w", quoted(s.opts.Schema), err)
	case errors.Is(err, errNoTables):
	case err != nil || s.opts.copying:
		return err
	case found == unfinished:
		return unfinishedError(s.opts.Schema)
	default:
		return nil
	}
	c.simple("create schema if not exists " + quoted(s.opts.Schema))
	if err := c.run(ctx, nil); err != nil && !hasCode(err, "42501") { // somebody else may have made it
		return err
	}
	c.simple(`create table if not exists meta (one int4 primary key, format int8 not null)`)
	return c.run(ctx, nil)
}

// formatOf reads the format of the tables; errNoTables if they do not exist yet.
func formatOf(ctx context.Context, c *conn) (found int64, err error) {
	c.simple(`select format::text from meta`)
	err = c.run(ctx, func(_ int, v [][]byte) error {
		_, err := fmt.Sscan(string(v[0]), &found)
		return err
	})
	if hasCode(err, "42P01", "3F000") {
		return 0, errNoTables
	}
	return found, err
}

// readFormat is formatOf on a connection of its own.
func (s *store) readFormat(ctx context.Context) (int64, error) {
	c, err := s.dial(ctx)
	if err != nil {
		return 0, err
	}
	defer c.close()
	return formatOf(ctx, c)
}

// newerFormat is the error of tables that a newer version made, with the version that the
// comment of meta names.
func newerFormat(ctx context.Context, c *conn, schema string, found int64) error {
	e := &storage.NewerFormatError{Where: "the schema " + quoted(schema) + " of the database", Format: found, Newest: int64(format)}
	c.simple(`select coalesce(obj_description(to_regclass('meta')), '')`)
	_ = c.run(ctx, func(_ int, v [][]byte) error { e.Version = string(v[0]); return nil }) // a database may lack it
	return e
}

// checkCopying makes sure that the tables are those that a Target has made.
func (s *store) checkCopying(ctx context.Context, c *conn) error {
	found, err := formatOf(ctx, c)
	if err == nil && found != unfinished {
		err = errTargetInUse
	}
	if err == nil {
		err = s.checkTables(ctx, c)
	}
	return err
}
