package postgres

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kvshared"
)

// TestWhatErrorsMean: the code of an error of the database decides whether drivers repeat the command.
func TestWhatErrorsMean(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]error{
		"40001": kvshared.ErrAgain,      // two transactions have met
		"40P01": kvshared.ErrAgain,      // and wait for each other
		"53300": storage.ErrUnavailable, // too many connections
		"57014": storage.ErrUnavailable, // a statement was cancelled
		"25P02": storage.ErrUnavailable, // and another one followed in its transaction
		"57P01": storage.ErrUnavailable, // a connection was terminated
		"25006": storage.ErrUnavailable, // the database is a standby
	} {
		if err := (&store{}).explain(t.Context(), &pgconn.PgError{Code: code}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", code, err, want)
		}
	}
}
