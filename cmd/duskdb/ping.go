package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// pingCmd pings a server: the health check of the container image.
type pingCmd struct {
	Address string        `arg:"" optional:"" help:"host:port or mongodb:// URI of the server; default: 127.0.0.1, at --port."`
	Port    int           `range:"1,65535" default:"27017" help:"Port of the server, if the address has none. A server in the same container uses the same variable."`
	Timeout time.Duration `default:"2s" help:"Timeout."`
	TLS     pingTLS       `embed:""`
}

// Run pings once.
func (p *pingCmd) Run() error {
	addr, err := p.target()
	if err != nil {
		return usageError{err}
	}
	conn, err := net.DialTimeout("tcp", addr, p.Timeout)
	if err != nil {
		return err
	}
	defer conn.Close()
	start := clock.System().Now()
	if err := conn.SetDeadline(start.Add(p.Timeout)); err != nil {
		return err
	}
	p.asTheServer()
	if conn, err = p.TLS.secure(conn, addr); err != nil {
		return err
	}
	reply, err := wire.NewClient(conn).RoundTrip(value.NewDoc("ping", value.Int32(1), "$db", value.String("admin")))
	if err != nil {
		if !p.TLS.Use && closed(err) {
			return fmt.Errorf("%s closed the connection without a reply: if the server speaks TLS, use --tls", addr)
		}
		return err
	}
	if !reply.Body.Lookup("ok").Truthy() {
		return errors.New(reply.Body.Lookup("errmsg").Str())
	}
	fmt.Printf("%s answered in %s\n", addr, clock.System().Now().Sub(start).Round(time.Microsecond))
	return nil
}

// asTheServer makes a health check without an address, in the server's
// container, use TLS if the server's own variable requires it. It does not
// check the certificate then, which is issued for the name that clients use
// and not for the loopback address.
func (p *pingCmd) asTheServer() {
	if p.Address == "" && !p.TLS.Use && p.TLS.ServerMode == "requireTLS" {
		p.TLS.Use, p.TLS.AllowInvalid = true, true
	}
}

// closed reports whether the server ended the connection.
func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// target is the server's host and port. A ping needs no user.
func (p *pingCmd) target() (string, error) {
	addr := strings.TrimPrefix(p.Address, "mongodb://")
	addr, _, _ = strings.Cut(addr, "/")
	addr = addr[strings.LastIndexByte(addr, '@')+1:]
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return net.JoinHostPort(cmp.Or(strings.Trim(addr, "[]"), "127.0.0.1"), strconv.Itoa(p.Port)), nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("the port of %s must be from 1 to 65535", addr)
	}
	return addr, nil
}
