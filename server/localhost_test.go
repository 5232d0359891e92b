package server_test

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/wire"
)

// freePort is a port that nobody listens on.
func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// The localhost exception does not hold on the port for load balancers, whatever address the
// header names; on the ordinary port it does.
func TestLocalhostExceptionBehindBalancer(t *testing.T) {
	port := freePort(t)
	s := startServer(t, server.Config{Auth: true, Parameters: map[string]string{"loadBalancerPort": port}})
	const v2 = "\r\n\r\n\x00\r\nQUIT\n"
	create := command(`{"createUser": "root", "pwd": "x", "roles": ["root"], "$db": "admin"}`)
	for _, header := range []string{
		"PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n",
		"PROXY TCP6 ::1 ::1 1 2\r\n",
		"PROXY TCP6 ::ffff:127.0.0.1 ::1 1 2\r\n",
		"PROXY UNKNOWN\r\n",
		v2 + "\x20\x00\x00\x00", // the balancer itself
		v2 + "\x21\x11\x00\x0c\x7f\x00\x00\x01\x7f\x00\x00\x01\x00\x01\x00\x02",
		v2 + "\x21\x31\x00\xd8" + strings.Repeat("/", 216), // sockets in the file system
	} {
		nc, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		if _, err := nc.Write([]byte(header)); err != nil {
			t.Fatal(err)
		}
		c := wire.NewClient(nc)
		mustRoundTrip(t, c, command(`{"hello": 1, "loadBalanced": true, "$db": "admin"}`))
		for _, cmd := range []string{`{"replSetGetStatus": 1, "$db": "admin"}`, create.JSON()} {
			m, err := c.RoundTrip(command(cmd))
			if err != nil || m.Body.Lookup("code").Int32() != 13 {
				t.Errorf("%.20q: %s: %v, %v", header, cmd, m, err)
			}
		}
	}
	_, c := dial(t, s)
	mustRoundTrip(t, c, create)
}
