package pgtest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// daemon is a program of a test that is ended and started again.
type daemon struct {
	dir, name string // its log and its process id are dir/name.log and .pid
	make      func() *exec.Cmd
	cmd       *exec.Cmd
	ended     chan struct{}
}

// start starts the program, as the user of PostgreSQL.
func (d *daemon) start() error {
	log, err := os.OpenFile(d.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd, ended := d.make(), make(chan struct{})
	cmd.Dir, cmd.Stdout, cmd.Stderr = d.dir, log, log
	AsUser(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	d.cmd, d.ended = cmd, ended
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	return os.WriteFile(filepath.Join(d.dir, d.name+".pid"), fmt.Appendln(nil, cmd.Process.Pid), 0o600)
}

// kill ends the program without notice.
func (d *daemon) kill() {
	if d.cmd != nil {
		_ = d.cmd.Process.Kill()
		<-d.ended
		_ = os.Remove(filepath.Join(d.dir, d.name+".pid"))
	}
}

func (d *daemon) log() string { return filepath.Join(d.dir, d.name+".log") }

// tail is the end of what the program wrote.
func (d *daemon) tail(n int) string {
	b, err := os.ReadFile(d.log())
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-n):])
}

// janitor ends the daemons of a directory, and the PostgreSQL that they have started, when the
// test binary ends, however that happens, and removes the directory.
const janitor = `cat >/dev/null
for f in "$0"/*.pid; do kill -KILL "$(cat "$f")"; done
for f in "$0"/*/data/postmaster.pid; do kill -QUIT "$(head -n 1 "$f")"; done
sleep 1
rm -rf "$0"`

// clean starts the janitor of a directory. The function ends it and everything else.
func clean(dir string) (end func(), err error) {
	cmd := exec.Command("/bin/sh", "-c", "("+janitor+") 2>/dev/null", dir)
	cmd.Dir = "/"
	var stdin io.Closer
	if stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	setGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	}, nil
}
