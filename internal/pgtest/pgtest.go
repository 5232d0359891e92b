// Package pgtest starts PostgreSQL for tests.
//
// A test gets the server that DUSKDB_TEST_POSTGRES names by a URI, or one that is
// started once for the test binary, in a temporary directory, and ends with it.
// initdb refuses to run as root, so tests of root run it as another user.
//
// The package is for the rest of DuskDB: it may change with any version.
package pgtest

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/freeport"
	"github.com/duskdb/duskdb/internal/needs"
)

// Variable is the environment variable that names an existing server.
const Variable = "DUSKDB_TEST_POSTGRES"

// once is the server of the test binary.
var once = sync.OnceValues(func() (*Server, error) {
	return Start("-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")
})

// URI is that of the server for tests that need nothing of their own but a schema.
// Without a server to start the test ends.
func URI(tb testing.TB) string {
	tb.Helper()
	if uri := os.Getenv(Variable); uri != "" {
		return uri
	}
	if _, err := programs(); err != nil {
		needs.Missing(tb, "initdb")
		return ""
	}
	s, err := once()
	if err != nil {
		tb.Fatal(err)
	}
	return s.URI("")
}

// Own starts a server that ends with the test.
func Own(tb testing.TB, settings ...string) *Server {
	tb.Helper()
	if _, err := programs(); err != nil {
		needs.Missing(tb, "initdb")
	}
	s, err := Start(settings...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Remove)
	return s
}

// Schema is a name for the schema of a test that has a directory of its own.
func Schema(dir string) string {
	h := fnv.New64a()
	_, _ = io.WriteString(h, dir)
	return fmt.Sprintf("t%x_%d", h.Sum64(), os.Getpid())
}

// With adds a parameter to a URI.
func With(uri, name, value string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return uri
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// Server is a PostgreSQL of a test.
type Server struct {
	dir      string
	bin      string
	port     int
	settings []string
	stdin    io.Closer
	process  *exec.Cmd
}

// programs returns the directory of PostgreSQL's programs.
func programs() (string, error) {
	var dirs []string
	for _, name := range []string{"postgres", "initdb"} {
		if path, err := exec.LookPath(name); err == nil {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				dirs = append(dirs, filepath.Dir(real))
			}
		}
	}
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	for i := len(found) - 1; i >= 0; i-- {
		dirs = append(dirs, found[i])
	}
	for _, dir := range dirs {
		if isProgram(filepath.Join(dir, "initdb")) && isProgram(filepath.Join(dir, "postgres")) {
			return dir, nil
		}
	}
	return "", exec.ErrNotFound
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// place makes a directory that the server's user owns, in memory if possible.
func place() (string, error) {
	parent := ""
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		parent = "/dev/shm"
	}
	dir, err := os.MkdirTemp(parent, "duskdb-postgres-")
	if err != nil {
		return "", err
	}
	return dir, own(dir)
}

// Start initializes and starts a server.
func Start(settings ...string) (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := place()
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin, settings: settings}
	if err := s.run("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"); err != nil {
		return nil, err
	}
	if s.port, err = freeport.Claim(); err != nil {
		return nil, err
	}
	return s, s.Launch()
}

// run runs one of PostgreSQL's programs.
func (s *Server) run(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.Dir = s.dir
	AsUser(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, out)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// supervisor ends the server when the test binary does, however that ends.
const supervisor = `"$@" & pid=$!; cat >/dev/null; kill -QUIT $pid 2>/dev/null; wait $pid; [ -e "$0/keep" ] || rm -rf "$0"`

// Launch starts the server again after Kill.
func (s *Server) Launch() error {
	args := append([]string{"-c", supervisor, s.dir, filepath.Join(s.bin, "postgres"), "-D", s.data(), "-p", fmt.Sprint(s.port), "-k", s.dir,
		"-c", "listen_addresses=127.0.0.1", "-c", "max_connections=400", "-c", "shared_buffers=64MB", "-c", "logging_collector=off"}, s.settings...)
	s.process = exec.Command("/bin/sh", args...)
	s.process.Dir = s.dir
	AsUser(s.process)
	var log bytes.Buffer
	s.process.Stderr = &log
	stdin, err := s.process.StdinPipe()
	if err != nil {
		return err
	}
	s.stdin = stdin
	if err := s.process.Start(); err != nil {
		return err
	}
	for range 200 {
		if s.ready() {
			return nil
		}
		<-clock.System().After(25 * time.Millisecond)
	}
	_ = stdin.Close()
	_ = s.process.Wait()
	return fmt.Errorf("PostgreSQL does not start: %s", log.String())
}

// ready reports whether the server accepts connections.
func (s *Server) ready() bool {
	cmd := exec.Command(filepath.Join(s.bin, "pg_isready"), "-q", "-h", "127.0.0.1", "-p", fmt.Sprint(s.port))
	return cmd.Run() == nil
}

// Kill ends the server at once, as a crash of it does; Launch starts it again.
func (s *Server) Kill() {
	_ = os.WriteFile(filepath.Join(s.dir, "keep"), nil, 0o600)
	_ = s.stdin.Close()
	_ = s.process.Wait()
	_ = os.Remove(filepath.Join(s.dir, "keep"))
}

// Remove ends the server and removes its data.
func (s *Server) Remove() {
	_ = s.stdin.Close()
	_ = s.process.Wait()
	_ = os.RemoveAll(s.dir)
}

// URI is that of the server, or the one behind another address.
func (s *Server) URI(address string) string {
	if address == "" {
		address = fmt.Sprintf("127.0.0.1:%d", s.port)
	}
	return "postgres://postgres@" + address + "/postgres?sslmode=disable"
}

// Address is where the server listens.
func (s *Server) Address() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }
