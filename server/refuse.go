package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/wire"
)

// A server that opens a large log listens from its first moment. It answers
// the first message of each client with NotYetInitialized and closes the
// connection. That message is a driver's hello, and by the specification of
// server discovery a failed hello makes the server Unknown, as a connection
// that is refused does: the driver repeats it every half second while an
// operation waits for a server. An operation thus waits until the data are
// open, and if its time ends before, its error says what the server is doing.
// A port that is taken is reported before the data are read.

// refuseTime is the time in which a client must send its first message and take
// the answer.
const refuseTime = 5 * time.Second

// maxRefused limits the clients that are answered at once; others are
// disconnected.
const maxRefused = 256

// refuse tells a client in the background that the server does not serve yet.
func (s *Server) refuse(nc net.Conn, fromBalancer bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Load() || len(s.refused) >= maxRefused {
		_ = nc.Close()
		return
	}
	s.refused[nc] = struct{}{}
	s.wg.Go(func() {
		defer func() {
			_ = nc.Close()
			s.mu.Lock()
			delete(s.refused, nc)
			s.mu.Unlock()
		}()
		_ = nc.SetDeadline(clock.System().Now().Add(refuseTime))
		s.answerNotYet(nc, fromBalancer)
	})
}

// answerNotYet answers the first message of a client that wants an answer.
func (s *Server) answerNotYet(nc net.Conn, fromBalancer bool) {
	c := &conn{srv: s, nc: nc}
	if fromBalancer {
		if _, err := readProxyHeader(nc); err != nil {
			return
		}
	}
	t, err := c.secureStream(s.ctx)
	if err != nil {
		return
	}
	if t != nil {
		defer t.Close()
	}
	c.beginMessages(c.stream, s.inFlight)
	defer c.endMessages()
	for len(c.out.B) == 0 {
		m, err := c.reader.ReadMessage()
		if errors.Is(err, wire.ErrHTTP) {
			_, _ = io.WriteString(c.stream, wire.HTTPReply)
		}
		if err != nil {
			return
		}
		_, why := s.opening.state()
		c.replyError(m, mongoerr.New(mongoerr.NotYetInitialized, why))
		if _, isReply := m.(*wire.Reply); isReply {
			return
		}
	}
	_ = c.flush()
}

// closeRefused disconnects the clients that are being refused.
func (s *Server) closeRefused() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for nc := range s.refused {
		_ = nc.Close()
	}
}

// listenAll opens the listeners and begins to accept connections, which are
// refused until the server has started.
func (s *Server) listenAll() error {
	port := s.config.Port
	for _, ip := range s.endpoints {
		if port < 0 {
			break
		}
		l, err := s.listen(ip, port, listenFlags{"--port", "--bind_ip"})
		if errors.Is(err, syscall.EAFNOSUPPORT) && len(s.endpoints) > 1 { // a system without IPv6
			s.log.Warn().Err(err).Msg("Address skipped: the system does not support it")
			continue
		}
		if err != nil {
			return err
		}
		if tcp, ok := l.Addr().(*net.TCPAddr); ok && port == 0 {
			port = tcp.Port // further addresses share the port
		}
		s.listeners = append(s.listeners, l)
	}
	if err := s.listenForBalancers(s.endpoints); err != nil {
		return err
	}
	for _, l := range s.listeners {
		s.wg.Add(1)
		go s.accept(l, false)
	}
	for _, l := range s.balancers {
		s.wg.Add(1)
		go s.accept(l, true)
	}
	return nil
}

// balancerPort is the parameter with the port for load balancers.
const balancerPort = "loadBalancerPort"

// listenForBalancers opens the port for load balancers, if there is one.
func (s *Server) listenForBalancers(ips []string) error {
	text := s.config.Parameters[balancerPort]
	if text == "" || text == "0" {
		return nil
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return &OptionError{fmt.Errorf("the parameter %s must be a port from 0 to 65535 but got %q", balancerPort, text)}
	}
	for _, ip := range ips {
		if strings.HasPrefix(ip, "/") {
			continue
		}
		l, err := s.listen(ip, int(port), listenFlags{"the parameter " + balancerPort, "--bind_ip"})
		if err != nil {
			return err
		}
		s.balancers = append(s.balancers, l)
	}
	return nil
}

// closeListeners closes all ports.
func (s *Server) closeListeners() {
	for _, l := range s.listeners {
		_ = l.Close()
	}
	for _, l := range s.balancers {
		_ = l.Close()
	}
}

// abandon releases what a New that fails has opened.
func (s *Server) abandon() {
	s.draining.Store(true)
	s.cancel(context.Canceled)
	s.closeListeners()
	s.closeRefused()
	if s.metrics != nil {
		s.metrics.close()
	}
	s.wg.Wait()
}
