package pgtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/freeport"
)

// standbyTime is how long a step of a standby may take on a busy machine.
const standbyTime = 60 * time.Second

// Standby makes and starts a server that has everything which this one acknowledges from
// now on, and ends it with the test.
func (s *Server) Standby(tb testing.TB) *Server {
	tb.Helper()
	other, err := s.standby()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(other.Remove)
	return other
}

func (s *Server) standby() (*Server, error) {
	dir, err := place()
	if err != nil {
		return nil, err
	}
	other := &Server{dir: dir, bin: s.bin, settings: s.settings}
	if other.port, err = freeport.Claim(); err != nil {
		return nil, err
	}
	err = other.run("pg_basebackup", "-D", other.data(), "-d", other.follows(s), "-R", "-X", "stream", "-c", "fast", "--no-sync")
	if err == nil {
		err = other.Launch()
	}
	if err == nil {
		err = s.waitFor(other)
	}
	if err != nil {
		return nil, err
	}
	return other, nil
}

// waitFor makes the server acknowledge from now on only what the standby has, whatever
// other standbys it has.
func (s *Server) waitFor(standby *Server) error {
	err := s.Exec(fmt.Sprintf("alter system set synchronous_standby_names = '%s'", standby.name()))
	if err == nil {
		err = s.Exec("select pg_reload_conf()")
	}
	if err == nil {
		err = s.Await(fmt.Sprintf("select 1 from pg_stat_replication where sync_state = 'sync' and application_name = '%s'", standby.name()))
	}
	if err != nil {
		return err
	}
	// Commits wait when the checkpointer too has read the settings, which it does before
	// it begins a checkpoint.
	return s.Exec("checkpoint")
}

// name is what the server calls itself as a standby.
func (s *Server) name() string { return fmt.Sprintf("standby_%d", s.port) }

// follows are the parameters by which the server connects to a primary as its standby.
func (s *Server) follows(primary *Server) string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=postgres application_name=%s", primary.port, s.name())
}

// Follow makes a server that has ended a standby of another one, which has taken its
// place. Launch starts it.
func (s *Server) Follow(primary *Server) error {
	conf, err := os.OpenFile(filepath.Join(s.data(), "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(conf, "\nprimary_conninfo = '%s'\nsynchronous_standby_names = ''\n", s.follows(primary))
	if cerr := conf.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	signal := filepath.Join(s.data(), "standby.signal")
	if err := os.WriteFile(signal, nil, 0o600); err != nil {
		return err
	}
	return own(signal)
}

// Promote makes a standby a primary, and returns when it is one.
func (s *Server) Promote() error {
	if err := s.Exec("select pg_promote(false)"); err != nil {
		return err
	}
	return s.Await("select 1 where not pg_is_in_recovery()")
}

// Exec runs a statement.
func (s *Server) Exec(sql string) error {
	_, err := s.query(sql)
	return err
}

// Await waits until a query has rows.
func (s *Server) Await(sql string) error {
	begun := clock.System().Now()
	for {
		rows, err := s.query(sql)
		if err != nil || rows > 0 {
			return err
		}
		if clock.System().Now().Sub(begun) > standbyTime {
			return fmt.Errorf("no rows within %v: %s", standbyTime, sql)
		}
		<-clock.System().After(20 * time.Millisecond)
	}
}

func (s *Server) query(sql string) (rows int, err error) {
	ctx, end := context.WithTimeout(context.Background(), standbyTime)
	defer end()
	c, err := pgconn.Connect(ctx, s.URI(""))
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close(ctx) }()
	results, err := c.Exec(ctx, sql).ReadAll()
	for _, r := range results {
		rows += len(r.Rows)
	}
	return rows, err
}

// Crash kills all processes of the server with SIGKILL, as a machine does that fails. The
// first process is stopped before and ends last: PostgreSQL's others go on for a moment
// when it is gone, and show commits that wait for a standby. Launch starts the server again.
func (s *Server) Crash() error {
	if err := s.killProcesses(); err != nil {
		return err
	}
	s.Kill()
	return s.awaitEnd()
}

func (s *Server) killProcesses() error {
	b, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(b), "\n")
	first, err := strconv.Atoi(line)
	if err != nil {
		return err
	}
	if err := stop(first); err != nil {
		return err
	}
	for _, pid := range s.processes() {
		if pid != first {
			_ = kill(pid) // it may have ended
		}
	}
	return kill(first)
}

func (s *Server) awaitEnd() error {
	for begun := clock.System().Now(); len(s.processes()) > 0; {
		if clock.System().Now().Sub(begun) > standbyTime {
			return fmt.Errorf("processes of PostgreSQL are left after %v", standbyTime)
		}
		<-clock.System().After(20 * time.Millisecond)
	}
	return nil
}

func kill(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

// processes are the server's that are left, as far as the system shows them.
func (s *Server) processes() (pids []int) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if dir, err := os.Readlink(link); err == nil && dir == s.data() {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// URIs is one URI for several servers, of which a client uses the one that can be
// written to.
func URIs(servers ...*Server) string {
	var hosts []string
	for _, s := range servers {
		hosts = append(hosts, s.Address())
	}
	return "postgres://postgres@" + strings.Join(hosts, ",") + "/postgres?sslmode=disable&target_session_attrs=read-write"
}
