//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/duskdb/duskdb/clock"
)

// readyDescriptor is the descriptor on which a background process reports that
// it is ready: the first of its extra files.
const readyDescriptor = 3

// daemonize starts this program again, in a session of its own, and waits until
// it serves or has failed. What it prints before that is printed here.
func (p *process) daemonize() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ready, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	cmd := exec.Command(self, os.Args[1:]...) //nolint:gosec // this program, with its own arguments
	cmd.Env = append(os.Environ(), forkedVariable+"=1")
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	complaints, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	fmt.Println("about to fork child process, waiting until server is ready for connections.")
	if err := cmd.Start(); err != nil {
		return errors.Join(err, w.Close())
	}
	_ = w.Close()
	fmt.Printf("forked process: %d\n", cmd.Process.Pid)
	if n, _ := ready.Read(make([]byte, 1)); n == 1 {
		fmt.Println("child process started successfully, parent exiting")
		return cmd.Process.Release()
	}
	_, _ = io.Copy(os.Stderr, complaints)
	_ = cmd.Wait() // its code says what it has to say
	code := cmd.ProcessState.ExitCode()
	err = fmt.Errorf("ERROR: child process failed, exited with %d", code)
	if code == badUsage {
		return usageError{err}
	}
	return err
}

// tellReady reports to the parent process that the server is ready.
func tellReady() {
	if os.Getenv(forkedVariable) == "" {
		return
	}
	f := os.NewFile(readyDescriptor, "ready")
	_, _ = f.Write([]byte{1})
	_ = f.Close()
}

// lockOwner returns the process that holds the lock of a data directory.
func lockOwner(dir string) (int, error) {
	none := fmt.Errorf("There doesn't seem to be a server running with dbpath: %s", dir)
	f, err := os.Open(filepath.Join(dir, "duskdb.lock"))
	if errors.Is(err, fs.ErrPermission) {
		return 0, err
	}
	if err != nil {
		return 0, none
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil {
		return 0, none
	}
	raw, err := io.ReadAll(f)
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(raw))
	if len(fields) == 0 {
		return 0, none
	}
	return strconv.Atoi(fields[0])
}

// stopServer ends the server that uses a data directory, as mongod --shutdown
// does, and waits until it is gone.
func stopServer(dir string) error {
	pid, err := lockOwner(dir)
	if err != nil {
		return err
	}
	fmt.Printf("killing process with pid: %d\n", pid)
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return err
	}
	for {
		if holder, err := lockOwner(dir); err != nil || holder != pid {
			return nil
		}
		<-clock.System().After(100 * time.Millisecond)
	}
}
