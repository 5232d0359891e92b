// Package proc runs the server's program for tests: it builds it once for the tests of a
// package, starts it, waits until it listens, and stops or kills it.
package proc

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/needs"
)

// Main is the body of a TestMain: it builds the program, sets binary to its path, runs the
// tests and ends with their exit code.
func Main(m *testing.M, binary *string) { os.Exit(run(m, binary)) }

func run(m *testing.M, binary *string) int {
	dir, err := os.MkdirTemp("", "duskdb-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	*binary = filepath.Join(dir, "duskdb")
	if err := needs.Server(*binary); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Server is a program that was started.
type Server struct {
	Cmd    *exec.Cmd
	URI    string        // how clients reach it, as it printed it; "" until it listens
	Stderr Output        // its standard error
	Out    *bufio.Reader // its standard output
	// Wait waits for the end, and returns how it ended. Any number of callers may wait.
	Wait func() error
}

// Launch starts a program without waiting for anything.
func Launch(cmd *exec.Cmd) (*Server, error) {
	s := &Server{Cmd: cmd, Wait: sync.OnceValue(cmd.Wait)}
	cmd.Stderr = &s.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.Out = bufio.NewReader(out)
	return s, cmd.Start()
}

// Start starts a server and waits until it listens. The end of the test kills it.
func Start(tb testing.TB, cmd *exec.Cmd) *Server {
	tb.Helper()
	s, err := Launch(cmd)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Kill)
	if s.Listen(); s.URI == "" {
		s.Kill()
		tb.Fatalf("the server did not start:\n%s", s.Stderr.String())
	}
	s.Discard()
	return s
}

// Listen waits until the server says where it listens, or ends.
func (s *Server) Listen() { s.URI = s.Announced("duskdb listening on ") }

// Announced reads the standard output until a line begins with a text, and returns the rest of
// the line; "" if there is none.
func (s *Server) Announced(text string) string {
	for {
		line, err := s.Out.ReadString('\n')
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), text); ok {
			return rest
		}
		if err != nil {
			return ""
		}
	}
}

// Discard reads the rest of the standard output in the background.
func (s *Server) Discard() { go func() { _, _ = io.Copy(io.Discard, s.Out) }() }

// Addr is the host and the port of the URI.
func (s *Server) Addr() string {
	host, _, _ := strings.Cut(strings.TrimPrefix(s.URI, "mongodb://"), "/")
	return host
}

// Kill ends the server as a power failure would end the process.
func (s *Server) Kill() {
	_ = s.Cmd.Process.Kill()
	_ = s.Wait()
}

// Stop ends the server as an operator does, and fails the test unless it exits with 0.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	s.Signal(tb, syscall.SIGTERM)
	if err := s.Wait(); err != nil {
		tb.Fatalf("%v\n%s", err, s.Stderr.Tail(4000))
	}
}

// Signal sends a signal to the server.
func (s *Server) Signal(tb testing.TB, sig os.Signal) {
	tb.Helper()
	if err := s.Cmd.Process.Signal(sig); err != nil {
		tb.Fatal(err)
	}
}

// Output collects what a program writes, and can be read while it runs.
type Output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

// String is all of it.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// Tail is its end, of at most n bytes.
func (o *Output) Tail(n int) string {
	s := o.String()
	return s[max(0, len(s)-n):]
}

// Pause waits in real time. Tests of other processes may do so, whose clock nobody can move: to
// let them work for a while, or before they are asked again. Elsewhere no test waits for time
// (tests/house); a time-out for what should not happen is a select on time.After.
func Pause(d time.Duration) { <-time.After(d) }
