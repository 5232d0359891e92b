package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// pingCmd asks a server whether it answers: the health check of the
// container image.
type pingCmd struct {
	Address string        `arg:"" optional:"" help:"host:port or mongodb:// URI of the server; default: 127.0.0.1, at --port."`
	Port    int           `default:"27017" help:"Port of the server, if the address names none. A server in the same container takes the same variable."`
	Timeout time.Duration `default:"2s" help:"How long to wait."`
	TLS     pingTLS       `embed:""`
}

// Run pings once.
func (p *pingCmd) Run() error {
	addr := p.target()
	conn, err := net.DialTimeout("tcp", addr, p.Timeout)
	if err != nil {
		return err
	}
	defer conn.Close()
	start := clock.System().Now()
	if err := conn.SetDeadline(start.Add(p.Timeout)); err != nil {
		return err
	}
	if conn, err = p.TLS.secure(conn, addr); err != nil {
		return err
	}
	reply, err := wire.NewClient(conn).RoundTrip(value.NewDoc("ping", value.Int32(1), "$db", value.String("admin")))
	if err != nil {
		return err
	}
	if !reply.Body.Lookup("ok").Truthy() {
		return errors.New(reply.Body.Lookup("errmsg").Str())
	}
	fmt.Printf("%s answered in %s\n", addr, clock.System().Now().Sub(start).Round(time.Microsecond))
	return nil
}

// target is the server's host and port.
func (p *pingCmd) target() string {
	addr := strings.TrimPrefix(p.Address, "mongodb://")
	addr, _, _ = strings.Cut(addr, "/")
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return addr
	}
	return net.JoinHostPort(cmp.Or(strings.Trim(addr, "[]"), "127.0.0.1"), strconv.Itoa(p.Port))
}
