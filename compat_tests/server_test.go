package compat

import (
	"cmp"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/internal/proc"
)

// engine is the storage engine that the tests run over.
var engine = cmp.Or(os.Getenv("DUSKDB_TEST_ENGINE"), "bunt")

// process is a running duskdb.
type process struct {
	*proc.Server
	Console string // the address of the web console; with --test-clock or --consolePort
	dir     string // its --dbpath
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
	cmd := exec.Command(binary, append([]string{"--port", "0", "--dbpath", dir, "--storageEngine", engine}, flags...)...)
	cmd.Env = append(os.Environ(), env...)
	p, err := begin(cmd)
	if err != nil {
		t.Fatal(err)
	}
	p.dir = dir
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("the server's log:\n%s", p.Stderr.Tail(4000))
		}
	})
	if p.URI == "" {
		p.Kill()
		t.Fatalf("duskdb did not say where it listens:\n%s", p.Stderr.Tail(4000))
	}
	return p
}

// begin starts the command and waits until it listens; the URI stays empty if
// it ends before.
func begin(cmd *exec.Cmd) (*process, error) {
	s, err := proc.Launch(cmd)
	if err != nil {
		return nil, err
	}
	p := &process{Server: s}
	p.Listen()
	if slices.Contains(cmd.Args, "--test-clock") || slices.Contains(cmd.Args, "--consolePort") {
		p.Console = p.Announced("duskdb console on ")
	}
	p.Discard()
	return p, nil
}

// with is the URI with further options, "a=b&c=d".
func (p *process) with(options string) string { return p.URI + "&" + options }

// restart stops the server, or kills it, and runs it again on its data.
func (p *process) restart(t *testing.T, crash bool, flags ...string) *process {
	t.Helper()
	if crash {
		p.Kill()
	} else {
		p.Stop(t)
	}
	return startIn(t, p.dir, flags...)
}

// clockAt is the flags of a server whose clock stands at an instant.
func clockAt(instant string) []string {
	return []string{"--test-clock", "--setParameter", "testClockStart=" + instant}
}
