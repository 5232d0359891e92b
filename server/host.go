package server

import (
	"net"
	"net/netip"
	"os"
	"strconv"
)

// host is the "host:port" that the server is listed with among the servers of a
// cluster: the advertised one, else the first address that it listens on, with
// the machine's name if it listens on all addresses; "" if it listens on none.
func (s *Server) host() string {
	if s.config.AdvertiseHost != "" {
		return s.config.AdvertiseHost
	}
	for _, l := range s.listeners {
		a, err := netip.ParseAddrPort(l.Addr().String())
		if err != nil { // a socket in the file system
			continue
		}
		if !a.Addr().IsUnspecified() {
			return a.String()
		}
		name, err := os.Hostname()
		if err != nil {
			return ""
		}
		return net.JoinHostPort(name, strconv.Itoa(int(a.Port())))
	}
	return ""
}

// reachable is an address for clients on this machine: a listener on all interfaces has none that
// they could use.
func reachable(addr string) string {
	a, err := netip.ParseAddrPort(addr)
	if err != nil || !a.Addr().IsUnspecified() {
		return addr
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(int(a.Port())))
}
