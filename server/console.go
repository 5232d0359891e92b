package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/server/console"
)

// consoleServer serves the web console.
type consoleServer struct {
	listener net.Listener
	http     *http.Server
	console  *console.Console
	done     chan struct{}
}

// serveConsole listens on the port of the console and serves it in the background. It is
// served over TLS if the server's connections may be. readTime is how long a request may take
// to arrive.
func (s *Server) serveConsole(readTime time.Duration) (*consoleServer, error) {
	ip := s.config.ConsoleBindIP
	if ip == "" || ip == "localhost" {
		ip = "127.0.0.1"
	}
	port := max(s.config.ConsolePort, 0)
	l, err := net.Listen("tcp", net.JoinHostPort(ip, strconv.Itoa(port)))
	if err != nil {
		return nil, cannotListen(fmt.Sprintf("cannot serve the console on %s port %d", ip, port), listenFlags{"--consolePort", "--consoleBindIp"}, err)
	}
	c := &consoleServer{listener: l, done: make(chan struct{}), console: console.New(console.Options{
		Dial: s.dialFrom, Clock: clock.System(), TestClock: s.config.TestClock, Version: s.config.Version,
		Auth: s.config.Auth, ReadOnly: s.config.ConsoleReadOnly,
		Secure: s.certificates != nil, BindIP: ip, Hosts: s.config.ConsoleHosts,
	})}
	c.http = &http.Server{
		Handler: c.console, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, IdleTimeout: idleTime,
		MaxHeaderBytes: 64 << 10,
	}
	if s.certificates != nil {
		l = tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return s.certificates.current.Load(), nil
		}})
	}
	go func() {
		defer close(c.done)
		if err := c.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error().Err(err).Msg("The server no longer serves the console")
		}
	}()
	s.log.Info().Str("address", c.listener.Addr().String()).Msg("Serving the console")
	return c, nil
}

func (c *consoleServer) close() {
	c.console.Close()
	_ = c.http.Close()
	<-c.done
}

// ConsoleURL is the address of the web console; "" if it is not served.
func (s *Server) ConsoleURL() string {
	if s.console == nil {
		return ""
	}
	scheme := "http"
	if s.certificates != nil {
		scheme = "https"
	}
	return scheme + "://" + reachable(s.console.listener.Addr().String()) + "/"
}

// dialFrom connects to the server within the process for a client at an address, which
// counts for restrictions of users, the delays after wrong passwords, and the log. To
// close the connection ends its command.
func (s *Server) dialFrom(remote net.Addr) net.Conn {
	near, end := net.Pipe()
	client := &clientEnd{Conn: near, leave: func() {}}
	s.serve(pipe{end, remote, client}, false)
	return client
}
