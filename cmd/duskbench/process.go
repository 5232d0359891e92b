package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/duskdb/duskdb/internal/freeport"
	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

const (
	startLimit = 2 * time.Minute
	stopLimit  = 10 * time.Second
	// pollPause is short against any start and leaves the processor to the
	// server.
	pollPause = 200 * time.Microsecond
)

// process is a server that was started with an empty data directory.
type process struct {
	addr   string
	took   time.Duration // time from exec to the first answered ping
	cmd    *exec.Cmd
	dir    string
	output bytes.Buffer
	exited chan struct{}
}

// startServer starts binary on a free port and waits until it answers a ping.
func startServer(binary string, args []string) (*process, error) {
	dir, err := os.MkdirTemp("", "duskbench")
	if err != nil {
		return nil, err
	}
	return startOn(dir, binary, args)
}

// startOn starts binary on a data directory, which it owns from then on.
func startOn(dir, binary string, args []string) (*process, error) {
	port, err := freeport.Claim()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	p := &process{addr: fmt.Sprintf("127.0.0.1:%d", port), dir: dir, exited: make(chan struct{})}
	p.cmd = exec.Command(binary, append([]string{"--port", strconv.Itoa(port), "--dbpath", dir}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	start := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.exited)
	}()
	if err := p.awaitPing(start.Add(startLimit)); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	p.took = time.Since(start)
	return p, nil
}

// awaitPing pings until the server answers, exits, or the deadline has passed.
func (p *process) awaitPing(deadline time.Time) error {
	for {
		err := ping(p.addr)
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("the server has exited (%s): %s", p.cmd.ProcessState, bytes.TrimSpace(p.output.Bytes()))
		case <-time.After(pollPause):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("no answer within %v: %w", startLimit, err)
		}
	}
}

// stop ends the server as an operator would and removes its data.
func (p *process) stop() error { return errors.Join(p.end(), os.RemoveAll(p.dir)) }

// restart ends the server and starts it again on the same data.
func (p *process) restart() (*process, error) {
	if err := p.end(); err != nil {
		return p, err
	}
	next, err := startOn(p.dir, p.cmd.Path, nil)
	if err != nil {
		return p, err
	}
	return next, nil
}

// end ends the server as an operator would.
func (p *process) end() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails if it has exited already
	var err error
	select {
	case <-p.exited:
	case <-time.After(stopLimit):
		err = errors.Join(fmt.Errorf("the server did not stop within %v", stopLimit), p.cmd.Process.Kill())
		<-p.exited
	}
	return err
}

// residentBytes returns the resident memory of a process, 0 if it is unknown.
func residentBytes(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}

// ping connects and sends one ping.
func ping(addr string) error {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	s := session{conn: conn, Client: wire.NewClient(conn)}
	_, err = s.command(value.NewDoc("ping", value.Int32(1), "$db", value.String("admin")))
	return err
}
