package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/duskdb/duskdb/commands"
)

// metricsServer serves monitoring systems over HTTP:
//
//	/             a list of these
//	/healthz      200 while the process lives
//	/readyz       200 while commands can be run, else 503
//	/metrics      for Prometheus; few of them until the data are open
//	/debug/pprof  profiles of the process, with --metricsPprof
type metricsServer struct {
	listener net.Listener
	http     *http.Server
	done     chan struct{}
}

// Deadlines of the HTTP server. A CPU profile takes 30 s by default.
const (
	headerTime = 5 * time.Second
	answerTime = 5 * time.Minute
	idleTime   = 2 * time.Minute
)

// serveMetrics listens on the metrics port and serves in the background.
func (s *Server) serveMetrics() (*metricsServer, error) {
	ip := s.config.MetricsBindIP
	if ip == "" || ip == "localhost" {
		ip = "127.0.0.1"
	}
	port := max(s.config.MetricsPort, 0)
	l, err := net.Listen("tcp", net.JoinHostPort(ip, strconv.Itoa(port)))
	if err != nil {
		return nil, cannotListen(fmt.Sprintf("cannot serve metrics on %s port %d", ip, port), listenFlags{"--metricsPort", "--metricsBindIp"}, err)
	}
	m := &metricsServer{listener: l, done: make(chan struct{}), http: &http.Server{
		Handler: s.metricsHandler(), ReadHeaderTimeout: headerTime, ReadTimeout: headerTime, WriteTimeout: answerTime, IdleTimeout: idleTime,
	}}
	go func() {
		defer close(m.done)
		if err := m.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error().Err(err).Msg("The server no longer serves metrics")
		}
	}()
	s.log.Info().Str("address", l.Addr().String()).Msg("Serving metrics")
	return m, nil
}

func (m *metricsServer) close() {
	_ = m.http.Close()
	<-m.done
}

// MetricsAddr returns the address of the metrics, "host:port"; "" if they are
// not served.
func (s *Server) MetricsAddr() string {
	if s.metrics == nil {
		return ""
	}
	return s.metrics.listener.Addr().String()
}

// metricsHandler returns the routes of the metrics server.
func (s *Server) metricsHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		list, m := slices.Concat(stateMetrics, processMetrics), commands.Metrics{}
		if s.started.Load() {
			list, m = families, s.service.Snapshot()
		}
		_ = s.writeMetrics(w, list, &m) // the client may have disconnected
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.ready()) })
	if s.config.MetricsPprof {
		handleProfiles(mux)
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, metricsIndex(s.config.MetricsPprof))
	})
	return mux
}

// metricsIndex is the page that lists what is served.
func metricsIndex(profiles bool) string {
	b := strings.Builder{}
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\"><title>DuskDB</title>\n<h1>DuskDB</h1>\n<ul>\n")
	line := func(path, text string) {
		fmt.Fprintf(&b, "<li><a href=\"%s\">%s</a>: %s</li>\n", path, path, text)
	}
	line("/metrics", "metrics, for Prometheus")
	line("/healthz", "200 while the process lives")
	line("/readyz", "200 while clients are served, else 503 and why not")
	if profiles {
		line("/debug/pprof/", "profiles of the process")
	}
	b.WriteString("</ul>\n</html>\n")
	return b.String()
}

// ready returns an error if the server cannot serve clients.
func (s *Server) ready() error {
	switch {
	case s.draining.Load():
		return errors.New("shutting down")
	case !s.started.Load():
		short, _ := s.opening.state()
		return errors.New(short)
	}
	return s.service.Ready()
}

func answer(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintln(w, err)
		return
	}
	_, _ = fmt.Fprintln(w, "ok")
}
