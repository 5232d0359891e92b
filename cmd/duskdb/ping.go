package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/transfer"
	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// pingCmd pings a server: the health check of the container image.
type pingCmd struct {
	Address string        `arg:"" optional:"" help:"host:port or connection string of the server; default: --uri, or else 127.0.0.1, at --port."`
	URI     string        `name:"uri" unless:"address,port" help:"Connection string: mongodb://host:port/?options. A ping needs no user."`
	Port    int           `range:"1,65535" default:"27017" help:"Port of the server, if the address has none. A server in the same container uses the same variable."`
	Timeout time.Duration `default:"2s" help:"Timeout."`
	TLS     pingTLS       `embed:""`
}

// Run pings once.
func (p *pingCmd) Run() error {
	addr, err := p.target()
	if err != nil {
		return asUsage(err)
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
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%s accepts connections, but no server answers there: %w", addr, err)
	case err != nil && !p.TLS.on() && closed(err):
		return fmt.Errorf("%s closed the connection without a reply: if the server speaks TLS, use --tls", addr)
	case err != nil:
		return explainTLS(err)
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
	if p.Address == "" && p.URI == "" && !p.TLS.Use && p.TLS.ServerMode == "requireTLS" {
		p.TLS.Use, p.TLS.AllowInvalid = true, true
	}
}

// closed reports whether the server ended the connection.
func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// target is the server's host and port. The options of a connection string may ask for TLS.
func (p *pingCmd) target() (addr string, err error) {
	if p.Address != "" && p.URI != "" {
		return "", errors.New("give either an address or --uri")
	}
	if given := cmp.Or(p.URI, p.Address); p.URI != "" || strings.Contains(given, "://") {
		addr, p.TLS.ofURI, err = transfer.Address(given, p.Port)
		return addr, err
	}
	_, port, err := net.SplitHostPort(p.Address)
	if err != nil {
		return net.JoinHostPort(cmp.Or(strings.Trim(p.Address, "[]"), "127.0.0.1"), strconv.Itoa(p.Port)), nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("the port of %s must be from 1 to 65535", p.Address)
	}
	return p.Address, nil
}
