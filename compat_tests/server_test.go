package compat

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// engine is the storage engine that the tests run over.
var engine = cmp.Or(os.Getenv("DUSKDB_TEST_ENGINE"), "bunt")

// process is a running duskdb.
type process struct {
	URI string // as the server printed it
	dir string // its --dbpath

	Console string // the address of the web console; with --test-clock or --consolePort

	cmd  *exec.Cmd
	log  lockedBuffer
	done chan struct{} // closed when it has exited
}

// start runs duskdb on a free port with data of its own.
func start(t *testing.T, flags ...string) *process {
	t.Helper()
	return startIn(t, t.TempDir(), flags...)
}

// startIn runs duskdb on the data in dir.
func startIn(t *testing.T, dir string, flags ...string) *process {
	t.Helper()
	return startWith(t, nil, dir, flags...)
}

// startWith runs duskdb with more in its environment.
func startWith(t *testing.T, env []string, dir string, flags ...string) *process {
	t.Helper()
	p := &process{dir: dir, done: make(chan struct{})}
	p.cmd = exec.Command(binary, append([]string{"--port", "0", "--dbpath", dir, "--storageEngine", engine}, flags...)...)
	p.cmd.Env = append(os.Environ(), env...)
	if err := p.begin(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("the server's log:\n%s", p.log.tail(4000))
		}
	})
	if p.URI == "" {
		p.kill()
		t.Fatalf("duskdb did not say where it listens:\n%s", p.log.tail(4000))
	}
	return p
}

// begin starts the command and waits until it listens; the URI stays empty if
// it ends before.
func (p *process) begin() error {
	p.cmd.Stderr = &p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	in := bufio.NewReaderSize(out, 1)
	p.URI = announced(in, "duskdb listening on ")
	if slices.Contains(p.cmd.Args, "--test-clock") || slices.Contains(p.cmd.Args, "--consolePort") {
		p.Console = announced(in, "duskdb console on ")
	}
	go func() {
		_, _ = io.Copy(io.Discard, out)
		_ = p.cmd.Wait()
		close(p.done)
	}()
	return nil
}

// announced reads until the line that begins with a text, and returns the rest of it; ""
// if there is no such line.
func announced(in *bufio.Reader, text string) string {
	for {
		line, err := in.ReadString('\n')
		if uri, ok := strings.CutPrefix(strings.TrimSpace(line), text); ok {
			return uri
		}
		if err != nil {
			return ""
		}
	}
}

// with is the URI with further options, "a=b&c=d".
func (p *process) with(options string) string { return p.URI + "&" + options }

// stop asks the server to end and fails the test unless it exits with 0.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-p.done
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("exit code %d after SIGTERM:\n%s", code, p.log.tail(4000))
	}
}

// kill ends the server as a crash would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// restart stops the server, or kills it, and runs it again on its data.
func (p *process) restart(t *testing.T, crash bool, flags ...string) *process {
	t.Helper()
	if crash {
		p.kill()
	} else {
		p.stop(t)
	}
	return startIn(t, p.dir, flags...)
}

// clockAt is the flags of a server whose clock stands at an instant.
func clockAt(instant string) []string {
	return []string{"--test-clock", "--setParameter", "testClockStart=" + instant}
}

// lockedBuffer collects the log while the server runs.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// tail is the end of the log.
func (l *lockedBuffer) tail(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.b.String()
	return s[max(0, len(s)-n):]
}
