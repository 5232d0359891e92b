package postgres

import (
	"context"
	"fmt"
	"strings"
)

// A commit is right because the row of head has a lock, because a transaction reads one
// state of all tables, and because the trip that commits is one transaction. That is so of
// ordinary tables of one database. In other places rows are changed, hidden or lost without
// a word, so such tables are refused.

// oddTables finds the tables of a schema that are not ordinary ones, and says why.
const oddTables = `select x.name, x.fault from (select t.relname::text as name, case
	when t.relkind in ('v', 'm') then 'it is a view'
	when t.relkind = 'f' then 'it is a foreign table: transactions of this database do not bind the other one'
	when t.relkind = 'p' then 'it is partitioned'
	when t.relkind <> 'r' then 'it is not a table'
	when t.relpersistence <> 'p' then 'it is unlogged: its rows are gone when the database crashes'
	when exists (select 1 from pg_catalog.pg_inherits i where i.inhparent = t.oid) then 'other tables inherit from it, whose rows are taken for its own'
	when row_security_active(t.oid) then 'row level security hides rows of it from the role of the server'
	when exists (select 1 from pg_catalog.pg_rewrite r where r.ev_class = t.oid) then 'it has a rule, which changes what statements do'
	when exists (select 1 from pg_catalog.pg_trigger g where g.tgrelid = t.oid and not g.tgisinternal and g.tgenabled in ('O', 'A') and g.tgtype & 3 = 3) then 'it has a trigger that may change rows before they are written'
	end as fault
	from pg_catalog.pg_class t join pg_catalog.pg_namespace n on n.oid = t.relnamespace
	where n.nspname = %[1]s and t.relname in (%[2]s)) x
	where x.fault is not null order by x.name`

// spreadTables finds the tables that Citus keeps on other nodes, or may keep there.
const spreadTables = `select t.relname::text, 'Citus distributes it: a transaction does not read one state of several nodes'
	from pg_catalog.pg_dist_partition d join pg_catalog.pg_class t on t.oid = d.logicalrelid join pg_catalog.pg_namespace n on n.oid = t.relnamespace
	where n.nspname = %[1]s and t.relname in (%[2]s) order by t.relname`

// checkTables makes sure that the tables which exist are ordinary ones.
func (s *store) checkTables(ctx context.Context, c *conn) error {
	spread, err := c.probe(ctx, `select coalesce(to_regclass('pg_catalog.pg_dist_partition')::text, '')`)
	if err != nil {
		return err
	}
	queries := []string{oddTables}
	if spread != "" {
		queries = append(queries, spreadTables)
	}
	names := []string{literal("meta")}
	for _, table := range tables {
		names = append(names, literal(table))
	}
	var faults []string
	for _, sql := range queries {
		c.simple(fmt.Sprintf(sql, literal(s.opts.Schema), strings.Join(names, ", ")))
	}
	err = c.run(ctx, func(_ int, v [][]byte) error {
		faults = append(faults, fmt.Sprintf("%s (%s)", v[0], v[1]))
		return nil
	})
	if err != nil || len(faults) == 0 {
		return err
	}
	return fmt.Errorf("the schema %s must have ordinary tables of one database only, but has %s", quoted(s.opts.Schema), strings.Join(faults, ", "))
}

// literal quotes a string.
func literal(text string) string { return `'` + strings.ReplaceAll(text, `'`, `''`) + `'` }
