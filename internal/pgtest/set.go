package pgtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/clock"
)

// Run runs SQL on the server, each statement for itself.
func (s *Server) Run(tb testing.TB, statements ...string) {
	tb.Helper()
	ctx, end := context.WithTimeout(context.Background(), time.Minute)
	defer end()
	c, err := pgconn.Connect(ctx, s.URI(""))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	for _, sql := range statements {
		if _, err := c.Exec(ctx, sql).ReadAll(); err != nil {
			tb.Fatalf("%s: %v", sql, err)
		}
	}
}

// Set changes a setting of the server while it runs.
func (s *Server) Set(tb testing.TB, name, value string) {
	tb.Helper()
	s.Run(tb, "set default_transaction_read_only = off", fmt.Sprintf("alter system set %s = '%s'", name, value), "select pg_reload_conf()")
	<-clock.System().After(50 * time.Millisecond) // the server reads it when it has the signal
}
