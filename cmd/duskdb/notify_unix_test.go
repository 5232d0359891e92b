//go:build unix

package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A service manager hears of the beginning, of readiness, that the server is alive, and
// of the end.
func TestServiceManagerIsNotified(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	binary := built(t)                     // before the deadline: it may take long
	dir, err := os.MkdirTemp("", "duskdb") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := socket.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "--quiet", "--port", "0", "--dbpath", filepath.Join(dir, "data"))
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+socket.LocalAddr().String(), "WATCHDOG_USEC=20000")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	next := func() string {
		t.Helper()
		b := make([]byte, 4096)
		n, err := socket.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	if got := next(); got != "STATUS=Opening the data" {
		t.Errorf("at first %q", got)
	}
	if got := next(); !strings.HasPrefix(got, "READY=1\nSTATUS=Serving on mongodb://127.0.0.1:") {
		t.Errorf("then %q", got)
	}
	for range 3 {
		if got := next(); got != "WATCHDOG=1" {
			t.Errorf("while it serves %q", got)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	last := next()
	for last == "WATCHDOG=1" {
		last = next()
	}
	if last != "STOPPING=1\nSTATUS=Stopping" {
		t.Errorf("at the end %q", last)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
