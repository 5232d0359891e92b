package server

import (
	"net"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// The localhost exception does not hold on the port for load balancers, whatever address the
// header names; on the ordinary port it does.
func TestLocalhostExceptionBehindBalancer(t *testing.T) {
	s := serveConfig(t, Config{Auth: true, Log: zerolog.Nop()})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.balancers = append(s.balancers, l) // as with the parameter loadBalancerPort, which needs several servers
	s.wg.Add(1)
	go s.accept(l, true)
	const v2 = "\r\n\r\n\x00\r\nQUIT\n"
	create := value.MustJSON(`{"createUser": "root", "pwd": "x", "roles": ["root"], "$db": "admin"}`)
	for _, header := range []string{
		"PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n",
		"PROXY TCP6 ::1 ::1 1 2\r\n",
		"PROXY TCP6 ::ffff:127.0.0.1 ::1 1 2\r\n",
		"PROXY UNKNOWN\r\n",
		v2 + "\x20\x00\x00\x00", // the balancer itself
		v2 + "\x21\x11\x00\x0c\x7f\x00\x00\x01\x7f\x00\x00\x01\x00\x01\x00\x02",
		v2 + "\x21\x31\x00\xd8" + strings.Repeat("/", 216), // sockets in the file system
	} {
		nc, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		if _, err := nc.Write([]byte(header)); err != nil {
			t.Fatal(err)
		}
		c := &testClient{nc, wire.NewClient(nc)}
		c.ok(t, value.MustJSON(`{"hello": 1, "loadBalanced": true, "$db": "admin"}`))
		for _, cmd := range []value.Doc{value.MustJSON(`{"replSetGetStatus": 1, "$db": "admin"}`), create} {
			m, err := c.RoundTrip(cmd)
			if err != nil || m.Body.Lookup("code").Int32() != 13 {
				t.Errorf("%.20q: %s: %v, %v", header, cmd, m, err)
			}
		}
	}
	dial(t, s).ok(t, create)
}
