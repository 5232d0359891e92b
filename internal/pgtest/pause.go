package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Pause stops all processes of the server for a while, as a machine does that hangs.
func (s *Server) Pause() error { return s.signalAll(stop) }

// Resume lets a paused server go on.
func (s *Server) Resume() error { return s.signalAll(proceed) }

func (s *Server) signalAll(send func(pid int) error) (err error) {
	pids := s.processes()
	if len(pids) == 0 {
		return errors.New("no process of PostgreSQL is seen")
	}
	for _, pid := range pids {
		if e := send(pid); e != nil && !errors.Is(e, os.ErrProcessDone) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// Restart ends the server in order, without waiting for its clients, and starts it again.
func (s *Server) Restart() error {
	if err := s.run("pg_ctl", "stop", "-D", s.data(), "-m", "fast", "-w"); err != nil {
		return err
	}
	s.Kill() // the supervisor
	return s.Launch()
}

// Runs reports whether a process of the server is left.
func (s *Server) Runs() bool { return len(s.processes()) > 0 }

// MoveLog restarts the server with its log in another directory, which it makes.
func (s *Server) MoveLog(dir string) error {
	if err := s.run("pg_ctl", "stop", "-D", s.data(), "-m", "fast", "-w"); err != nil {
		return err
	}
	s.Kill() // the supervisor
	log := filepath.Join(s.data(), "pg_wal")
	if out, err := exec.Command("cp", "-a", log, dir).CombinedOutput(); err != nil { // also the owners
		return fmt.Errorf("cp: %w: %s", err, out)
	}
	if err := os.RemoveAll(log); err != nil {
		return err
	}
	if err := os.Symlink(dir, log); err != nil {
		return err
	}
	return s.Launch()
}

// Dir is the directory of the server.
func (s *Server) Dir() string { return s.dir }

// Chown gives a directory to the user that runs the server.
func Chown(dir string) error { return own(filepath.Clean(dir)) }
