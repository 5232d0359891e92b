package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/postgres"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// lines are what an engine logs.
type lines struct {
	mu   sync.Mutex
	list []string
}

func (l *lines) log(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, fmt.Sprintf(format, args...))
}

// with returns how many lines have a text.
func (l *lines) with(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.list {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// What the database says of an error is for the log, once a minute: clients get other words.
func TestFailuresInWordsForClients(t *testing.T) {
	t.Parallel()
	own := pgtest.Own(t, "-c", "fsync=off")
	var log lines
	e, err := postgres.Open(ctx, postgres.Options{URI: own.URI(""), Schema: "words", Indexer: storagetest.Indexer{}, Logger: log.log})
	must(t, err)
	t.Cleanup(func() { _ = e.Close() })
	create(t, e, ns, storagetest.UniqueSpec("_id"))
	own.Run(t, "create function words.fail() returns trigger language plpgsql as $$ begin return new; end $$",
		"create trigger fail before insert on words.kv for each row execute function words.fail()")
	for i, tt := range []struct {
		code, words string
		kind        error
	}{
		{"53100", "the disk of the database is full", syscall.ENOSPC},
		{"XX001", "the database says that the data are damaged (SQLSTATE XX001)", storage.ErrDamaged},
		{"XX002", "the database says that the data are damaged (SQLSTATE XX002)", storage.ErrDamaged},
		{"42501", "the database has refused a statement (SQLSTATE 42501)", nil},
		{"54000", "the database has refused a statement (SQLSTATE 54000)", nil},
	} {
		said := fmt.Sprintf(`failure %d of the file "base/5/16384"`, i)
		own.Run(t, fmt.Sprintf("create or replace function words.fail() returns trigger language plpgsql as $$ begin raise exception '%s' using errcode = '%s'; end $$", said, tt.code))
		for range 3 {
			err := insert(e, value.Int32(int32(i)))
			var worded interface{ ForClients() string }
			var cause *pgconn.PgError
			switch {
			case !errors.As(err, &worded) || !errors.As(err, &cause):
				t.Fatalf("%s: %v", tt.code, err)
			case worded.ForClients() != tt.words:
				t.Errorf("%s: clients get %q", tt.code, worded.ForClients())
			case cause.Message != said || !strings.Contains(err.Error(), said):
				t.Errorf("%s: the cause is lost: %v", tt.code, err)
			case tt.kind != nil && !errors.Is(err, tt.kind), errors.Is(err, storage.ErrUnavailable):
				t.Errorf("%s: the kind of %v", tt.code, err)
			}
		}
		if n := log.with(said); n != 1 {
			t.Errorf("%s: %d lines of the log", tt.code, n)
		}
	}
}
