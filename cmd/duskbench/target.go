package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// target is a server to measure.
type target struct {
	name string // as the user gave it
	addr string
	pid  int // 0: not known
	stop func() error

	database int // the first process of the database below it; 0: not known, or there is none
}

// openTarget finds or starts the server that spec names: a mongodb:// URI, a
// host:port, "null" for a null server, or "exec:PATH" for a server binary that
// is started with an empty data directory; its arguments follow the path. pid is
// the process of a server that runs already, 0 if it does not matter.
func openTarget(spec string, pid int) (*target, error) {
	switch {
	case spec == "null":
		return startNullProcess()
	case strings.HasPrefix(spec, "exec:"):
		words := append(strings.Fields(strings.TrimPrefix(spec, "exec:")), "")
		p, err := startServer(words[0], words[1:len(words)-1])
		if err != nil {
			return nil, err
		}
		return &target{name: spec, addr: p.addr, pid: p.cmd.Process.Pid, stop: p.stop}, nil
	}
	addr, err := parseAddress(spec)
	if err != nil {
		return nil, err
	}
	if _, ok := processTime(pid); pid != 0 && !ok {
		return nil, fmt.Errorf("the processor time of process %d is not known", pid)
	}
	return &target{name: spec, addr: addr, pid: pid, stop: func() error { return nil }}, nil
}

// parseAddress takes host and port out of a URI, which may have a path and
// options that do not matter here. Credentials would be ignored, so they are
// refused.
func parseAddress(spec string) (string, error) {
	host := spec
	if strings.Contains(spec, "://") {
		u, err := url.Parse(spec)
		if err != nil {
			return "", err
		}
		if u.Scheme != "mongodb" {
			return "", fmt.Errorf("%s: only mongodb:// is supported", spec)
		}
		if u.User != nil {
			return "", fmt.Errorf("%s: authentication is not supported", u.Redacted())
		}
		host = u.Host
	}
	if host == "" || strings.Contains(host, ",") {
		return "", fmt.Errorf("%s: it must have exactly one host", spec)
	}
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(strings.Trim(host, "[]"), "27017")
	}
	return host, nil
}

// startNullProcess starts a null server in a process of its own, which is the
// fair comparison: the load generator shares no scheduler with it.
func startNullProcess() (*target, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "null")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := func() error { return errors.Join(stdin.Close(), cmd.Wait()) }
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return &target{name: "null", addr: strings.TrimSpace(line), pid: cmd.Process.Pid, stop: stop}, nil
}

// session is one connection to a target.
type session struct {
	conn net.Conn
	*wire.Client
}

// dial opens a connection and shakes hands, asking for a compressor if there is
// one to be used.
func dial(addr string, z wire.Compressor, deadline time.Time) (*session, error) {
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(deadline)
	s := &session{conn: conn, Client: wire.NewClient(conn)}
	b := value.NewBuilder()
	b.Int32("isMaster", 1) // which older servers know, too
	if z != wire.Uncompressed {
		b.StartArray("compression").String("", z.String()).End()
	}
	reply, err := s.command(b.String("$db", "admin").Doc())
	if err == nil && z != wire.Uncompressed {
		if reply.Lookup("compression").Doc().IsEmpty() {
			err = fmt.Errorf("%s does not speak %s", addr, z)
		}
		s.SetCompressor(z)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return s, nil
}

// command runs a command outside the measurement and checks its reply.
func (s *session) command(body value.Doc, seqs ...wire.Sequence) (value.Doc, error) {
	m, err := s.RoundTrip(body, seqs...)
	if err != nil {
		return nil, err
	}
	if err := value.Validate(m.Body); err != nil {
		return nil, err
	}
	return m.Body, replyError(m.Body)
}

// replyError reports whether a reply says that the command failed, as a whole
// or for one of its writes.
func replyError(reply value.Doc) error {
	ok := reply.Lookup("ok")
	if !ok.Truthy() {
		return fmt.Errorf("%s (code %d)", reply.Lookup("errmsg").Str(), reply.Lookup("code").Int32())
	}
	if errs, found := reply.Get("writeErrors"); found {
		first := errs.Doc().Index(0).Doc()
		return fmt.Errorf("%s (code %d)", first.Lookup("errmsg").Str(), first.Lookup("code").Int32())
	}
	return nil
}
