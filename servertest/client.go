package servertest

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// inProcess is the address in the options of clients; their dialer ignores it.
const inProcess = "mongodb://in-process/?directConnection=true"

// dialer connects a client to a server without a port.
type dialer struct{ *Server }

// DialContext implements [options.ContextDialer].
func (d dialer) DialContext(context.Context, string, string) (net.Conn, error) {
	if d.stopped.Load() {
		return nil, fmt.Errorf("servertest: %w", errStopped)
	}
	return d.Dial(), nil
}

// ClientOptions are the options of a client that reaches the server within the
// process. Other options may be set on them, except the URI and the dialer.
//
// The client polls the server's state instead of streaming it: with streaming,
// the driver's Disconnect may miss its own monitor that has just begun to
// wait, and then takes ten seconds.
func (s *Server) ClientOptions() *options.ClientOptions {
	s.t.Helper()
	s.running()
	return options.Client().ApplyURI(inProcess).SetDialer(dialer{s}).SetServerMonitoringMode(options.ServerMonitoringModePoll)
}

// leave is the time limit of a client's disconnect, which fails if the server
// has stopped.
const leave = time.Second

// Client connects a client to the server within the process. It is
// disconnected when the test ends.
func (s *Server) Client(t testing.TB, opts ...*options.ClientOptions) *mongo.Client {
	t.Helper()
	c, err := mongo.Connect(append([]*options.ClientOptions{s.ClientOptions()}, opts...)...)
	if err != nil {
		t.Fatalf("servertest: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), leave)
		defer cancel()
		_ = c.Disconnect(ctx)
	})
	return c
}

// URI is the connection string of the server, for code that connects by
// itself.
func (s *Server) URI() string {
	s.t.Helper()
	s.running()
	const instead = "connect with srv.Client(t), or mongo.Connect(srv.ClientOptions())"
	switch {
	case s.bubble:
		s.t.Fatal("servertest: a server in a bubble has no port, and so no URI: " + instead)
	case s.Addr() == "":
		s.t.Fatal("servertest: a server with NoPort has no URI: " + instead)
	}
	return s.Server.URI()
}
