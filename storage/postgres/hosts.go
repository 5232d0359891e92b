package postgres

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/clock"
)

// # Several hosts
//
// A URI may name several hosts, and the name of one may have several addresses; at most one of
// them is that of the primary, and not always the same. A machine that has lost its power does
// not refuse connections but is silent, so that each connection, and each heartbeat, would spend
// its time on it. Therefore the address of the last primary is tried first, and the next one when
// that has failed or has been silent for a moment.

// silentTime is how long an address may be silent before the next one is tried too.
const silentTime = 500 * time.Millisecond

// hosts are the addresses of the database.
type hosts struct {
	last atomic.Pointer[string] // the address of the last connection
}

// address is one of them.
type address struct {
	name   string
	config *pgconn.Config // a configuration without the others
}

// attempt is how connecting to an address has ended.
type attempt struct {
	to  string
	pg  *pgconn.PgConn
	err error
}

// connect connects to the first address that lets it.
func (h *hosts) connect(ctx context.Context, config *pgconn.Config) (*pgconn.PgConn, error) {
	list := h.ordered(addresses(ctx, config))
	if len(list) < 2 {
		return pgconn.ConnectConfig(ctx, config)
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	attempts := make(chan attempt, len(list))
	started, ended := 0, 0
	next := func() {
		if started == len(list) {
			return
		}
		a := list[started]
		started++
		go func() {
			pg, err := pgconn.ConnectConfig(ctx, a.config)
			attempts <- attempt{a.name, pg, err}
		}()
	}
	next()
	var errs []error
	for ended < len(list) {
		select {
		case a := <-attempts:
			ended++
			if a.err == nil {
				h.last.Store(&a.to)
				go closeAll(attempts, started-ended)
				return a.pg, nil
			}
			errs = append(errs, a.err)
		case <-clock.System().After(silentTime):
		}
		next()
	}
	return nil, errors.Join(errs...)
}

// closeAll closes the connections of attempts that were not waited for.
func closeAll(attempts <-chan attempt, n int) {
	for range n {
		if a := <-attempts; a.err == nil {
			ctx, end := context.WithTimeout(context.Background(), time.Second)
			_ = a.pg.Close(ctx)
			end()
		}
	}
}

// ordered puts the address of the last connection first.
func (h *hosts) ordered(list []address) []address {
	last := h.last.Load()
	if last == nil {
		return list
	}
	if i := slices.IndexFunc(list, func(a address) bool { return a.name == *last }); i > 0 {
		a := list[i]
		return slices.Insert(slices.Delete(list, i, i+1), 0, a)
	}
	return list
}

// addresses are those of all hosts. A host that is not found has one, which fails.
func addresses(ctx context.Context, config *pgconn.Config) (list []address) {
	all := append([]*pgconn.FallbackConfig{{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig}}, config.Fallbacks...)
	for len(all) > 0 {
		host := all[0]
		n := 1 // entries of this host: it is tried with TLS and without
		for n < len(all) && all[n].Host == host.Host && all[n].Port == host.Port {
			n++
		}
		one := config.Copy()
		one.Host, one.Port, one.TLSConfig, one.Fallbacks = host.Host, host.Port, host.TLSConfig, all[1:n]
		all = all[n:]
		var ips []string
		if !strings.HasPrefix(host.Host, "/") { // not the directory of a socket
			ips, _ = config.LookupFunc(ctx, host.Host)
		}
		if len(ips) == 0 {
			list = append(list, address{net.JoinHostPort(host.Host, strconv.Itoa(int(host.Port))), one})
			continue
		}
		for _, ip := range ips {
			to := one.Copy()
			to.LookupFunc = func(context.Context, string) ([]string, error) { return []string{ip}, nil }
			list = append(list, address{net.JoinHostPort(ip, strconv.Itoa(int(host.Port))), to})
		}
	}
	return list
}
