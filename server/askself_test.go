package server_test

import (
	"io"
	"net"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/server"
)

// forward listens on a port, passes connections on to an address, as the published port
// of a container does, and returns the port's address.
func forward(t *testing.T, to string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
			go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
		}
	}()
	return l.Addr().String()
}

// A set may be initiated with an address that leads to the server indirectly, but not
// with the address of another server.
func TestInitiateByDetour(t *testing.T) {
	other := runServer(t, server.Config{ReplSet: "rs0"})
	for _, tc := range []struct {
		name string
		host func(own string) string
		code int32
	}{
		{"forwarded", func(own string) string { return forward(t, own) }, 0},
		{"another server", func(string) string { return other.Addr() }, 93},
		{"nobody", func(string) string { return "127.0.0.1:1" }, 93},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := runServer(t, server.Config{ReplSet: "rs0"})
			c := connect(t, srv, nil)
			member := bson.D{{Key: "_id", Value: 0}, {Key: "host", Value: tc.host(srv.Addr())}}
			initiate := bson.D{{Key: "replSetInitiate", Value: bson.D{{Key: "_id", Value: "rs0"}, {Key: "members", Value: bson.A{member}}}}}
			if tc.code != 0 {
				_, err := run(c, "admin", initiate)
				wantError(t, err, tc.code, "No host described in new configuration with {version: 1, term: 1} for replica set rs0 maps to this node")
				return
			}
			mustRun(t, c, "admin", initiate)
			hello := mustRun(t, c, "admin", bson.D{{Key: "hello", Value: 1}})
			if hello["me"] != member[1].Value {
				t.Errorf("hello has me: %v, want %v", hello["me"], member[1].Value)
			}
		})
	}
}
