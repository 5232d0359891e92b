package pgtest

import (
	"errors"
	"os"
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

// Dir is the directory of the server.
func (s *Server) Dir() string { return s.dir }

// Chown gives a directory to the user that runs the server.
func Chown(dir string) error { return own(filepath.Clean(dir)) }
