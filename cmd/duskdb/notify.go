package main

import (
	"net"
	"os"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// manager is the service manager that has started the process, such as systemd with
// Type=notify. It listens on a datagram socket, see sd_notify(3). It is "" without a manager.
type manager struct {
	socket string
	log    zerolog.Logger
}

func serviceManager(log zerolog.Logger) manager { return manager{os.Getenv("NOTIFY_SOCKET"), log} }

// tell sends a state, in lines such as READY=1. Failures are logged only: the manager
// decides what its silence means.
func (m manager) tell(state string) {
	if m.socket == "" {
		return
	}
	conn, err := net.Dial("unixgram", m.socket) // @ at the beginning is the abstract namespace
	if err == nil {
		_, err = conn.Write([]byte(state))
		_ = conn.Close()
	}
	if err != nil {
		m.log.Warn().Err(err).Str("socket", m.socket).Msg("The service manager cannot be notified")
	}
}

// watchdogInterval returns how often the manager wants to hear from this process; 0:
// never. It is half of the time after which the manager takes the process for dead.
func watchdogInterval(getenv func(string) string) time.Duration {
	if pid := getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0
	}
	micros, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || micros <= 0 {
		return 0
	}
	return time.Duration(micros) * time.Microsecond / 2
}

// watch tells the manager at intervals that the server answers commands, and is silent
// while it does not.
func (m manager) watch(srv *server.Server) (stop func()) {
	interval := watchdogInterval(os.Getenv)
	if m.socket == "" || interval == 0 {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		timer := clock.System().NewTimer(interval)
		defer timer.Stop()
		for {
			select {
			case <-timer.C():
			case <-done:
				return
			}
			if err := answers(srv, interval); err != nil {
				m.log.Error().Err(err).Msg("The server does not answer its own ping")
			} else {
				m.tell("WATCHDOG=1")
			}
			timer.Reset(interval)
		}
	}()
	return func() { close(done) }
}

// answers reports an error unless the server answers a ping in time.
func answers(srv *server.Server, limit time.Duration) error {
	conn := srv.Dial()
	defer conn.Close()
	if err := conn.SetDeadline(clock.System().Now().Add(limit)); err != nil {
		return err
	}
	_, err := wire.NewClient(conn).RoundTrip(value.NewDoc("ping", value.Int32(1), "$db", value.String("admin")))
	return err
}
